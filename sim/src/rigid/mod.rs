//! Rigid bodies: any number of them, of any closed surface, under forces and impulses at their points, in contact with
//! [colliders](crate::contact::Collider).
//!
//! A state has for each body the position of its centre of mass, its orientation, its velocity and its angular momentum. Mass, centre and
//! inertia are functions of vertices and density, so gradients reach these.

#[doc(hidden)]
pub mod properties;
#[doc(hidden)]
pub mod kernels;
mod state;
mod geometry;
mod loads;
#[doc(hidden)]
pub mod impact;
mod params;
#[doc(hidden)]
pub mod contact;
mod model;
mod solver;

pub use geometry::Body;
pub use impact::{ImpactParams, Impacts, Impulse, Plane};
pub use kernels::Wrench;
pub use loads::{Control, Loads, Push, Pushes};
pub use model::{Integrator, Model};
pub use params::{Mass, Params};
pub use properties::MassProperties;
pub use solver::Solver;
pub use state::State;
