//! Shapes of solids that stand still or move steadily, and how far points are from them.
//!
//! A shape is a type that implements [`Shape`], its signed distance in a frame of its own; or samples of it, an [`SdfGrid`]. A new
//! shape is one file, one row of [`Solid`] and its row below.
//!
//! | shape | size | gradient |
//! |---|---|---|
//! | [`HalfSpace`] | none | smooth |
//! | [`Sphere`] | radius | smooth but for the centre |
//! | [`Capsule`] | radius, half length | smooth but for the segment |
//! | [`Cuboid`] | half sides | outside continuous, its derivative jumps beside edges; inside it jumps where two faces are as near |
//! | [`Torus`] | radius, radius of the tube | smooth but for the circle in the tube and the axis |
//! | [`SdfGrid`] | | jumps from cell to cell |

mod capsule;
mod cuboid;
mod half_space;
mod pose;
#[doc(hidden)]
pub mod sdf_grid;
mod solid;
mod sphere;
mod torus;

pub use capsule::Capsule;
pub use cuboid::Cuboid;
pub use half_space::HalfSpace;
pub use pose::{Pose, move_poses, surface_velocity, to_world};
pub use sdf_grid::SdfGrid;
pub use solid::{Solid, shape_gaps};
pub(crate) use solid::{Solids, instances};
pub use sphere::Sphere;
pub use torus::Torus;

use diffkern::prelude::*;

/// A solid by its signed distance.
#[diff_trait]
pub trait Shape {
    /// `(outward normal, signed distance [m])` of `x` in the frame of the shape, negative inside; `size` \[m\] as the shape has it.
    fn distance<F: Float>(x: Vec3<F>, size: Vec3<F>) -> Vec4<F>;
}
