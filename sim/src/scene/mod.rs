//! Scenes ready to run: elastic bodies of any shape with floors, walls, clamps and colliders that move, by MPM ([`BodiesSpec`]) or, one body, by
//! finite elements ([`ElasticSpec`]).
//!
//! Grid and time step follow from the stiff, fast and light ends of the ranges. They depend on nothing that is
//! identified, so a fit never changes them and its loss has no jumps from them.

mod body;
mod extent;
mod thrown;
mod plan;
mod bodies;
mod block;
mod impact;
mod elastic;

pub use block::{BlockScene, BlockSpec};
pub use bodies::{BodiesScene, BodiesSpec};
pub use body::{BodyShape, BodySpec, RelaxationSpec, Solid};
pub use elastic::{ElasticPlan, ElasticScene, ElasticSpec};
pub use plan::Plan;
