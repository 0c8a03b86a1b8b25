//! Surfaces that particles carry.

mod block;
mod surface;

pub use block::BlockLattice;
pub use surface::{Surface, interpolate_3d};
