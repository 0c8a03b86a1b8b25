//! Steps on nodes that move with the material, from one transfer to the grid to the next.
//!
//! While a phase lasts, the weights of particles stay those of its beginning, and nodes carry velocities `u` and displacements `d`.
//! The deformation gradient of a particle is `(I + H) F` with `H = 4/dx^2 sum w d (x_i - x_p)^T`, and the force on a node minus the
//! derivative of the energy by `d`: a system of masses and springs, advanced by velocity Verlet. So nothing is lost within a
//! phase, and momentum and angular momentum are kept to rounding.
//!
//! A transfer to the grid smooths: `u = M^-1 B^T m B u` for what nodes gave to particles by `B`, `M` the lumped masses. The series
//! `u = sum_k (I - M^-1 B^T m B)^k M^-1 B^T m z` undoes it where it can be undone; a few terms are taken.
//!
//! Sources: Sulsky, Chen, Schreyer: A particle method for history-dependent materials, 1994, for the phases; Hammerquist, Nairn: A new
//! method for material point method particle updates that reduces noise and enhances stability, 2017, for the series, which is taken here
//! with the affine velocities of APIC.

#[doc(hidden)]
pub mod scatter;
#[doc(hidden)]
pub mod gather;
#[doc(hidden)]
pub mod particles;
#[doc(hidden)]
pub mod nodes;
mod phase;
mod begin;
mod step;

pub use phase::Phase;
