//! Scenes ready to run: an elastic block with floors, walls and clamps.
//!
//! Grid and time step follow from the stiff, fast and light ends of the ranges. They depend on nothing that is
//! identified, so a fit never changes them and its loss has no jumps from them.

mod block;
mod extent;
mod plan;

pub use block::{BlockScene, BlockSpec};
pub use plan::Plan;
