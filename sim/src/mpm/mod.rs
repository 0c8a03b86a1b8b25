//! Material point method: MLS-MPM with quadratic B-splines in two and three dimensions.
//!
//! With the APIC [`Transfer`] one step is three launches over two fused arrays of the grid: particles to grid (with the deformation gradient and
//! the stress), grid update, grid to particles. The grid is stored in blocks; where it is large, only those that particles
//! reach are there ([`Blocks`]), and a rollout of particles in no order sorts them by block first ([`Sorting`]). Gradients:
//! Lamé parameters, viscosity, density, rest volume, damping, gravity, friction and stiffness of half-spaces, and the initial state.
//!
//! APIC loses energy in every step. [`Transfer::Lagrangian`] is for bodies that swing or bounce: velocities stay on
//! nodes that move with the body, so that nothing is lost.
//!
//! Source: Hu, Fang, Ge, Qu, Zhu, Pradhana, Jiang: A moving least squares material point method, 2018.

pub mod blocks;
mod check;
mod distance;
#[doc(hidden)]
pub mod g2p;
#[doc(hidden)]
pub mod grid_update;
mod half_space;
#[doc(hidden)]
pub mod lagrangian;
mod lattice;
mod model;
mod observe;
#[doc(hidden)]
pub mod obstacle;
#[doc(hidden)]
pub mod occupied;
mod order;
#[doc(hidden)]
pub mod p2g;
#[doc(hidden)]
pub mod pack;
mod params;
#[doc(hidden)]
pub mod penalty;
#[doc(hidden)]
pub mod reorder;
mod solver;
mod stability;
mod state;
#[doc(hidden)]
pub mod stencil;
mod transfer;
#[doc(hidden)]
pub mod weights;
mod window;

pub use crate::contact::Contact;
pub use crate::material::Law;
pub use blocks::Blocks;
pub use diffkern::{Dim2, Dim3, Dimension};
pub use distance::{mean_square_distance, square_distance_2d, square_distance_3d};
pub use half_space::HalfSpace;
pub use lagrangian::Phase;
pub use lattice::Grid;
pub use model::Model;
pub use order::Sorting;
pub use params::Params;
pub use solver::Solver;
pub use stability::Stability;
pub use state::State;
pub use transfer::Transfer;
