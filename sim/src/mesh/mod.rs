//! Surfaces: what encloses a body, its files, and surfaces that particles carry; a gear of tetrahedra with its surface.

mod vector;
mod pose;
mod moments;
mod tree;
mod topology;
mod crossing;
mod nesting;
mod closed;
mod flats;
mod inscribed;
mod signed;
mod weld;
mod read;
mod block;
pub(crate) mod kuhn;
mod gear;
mod pieces;
mod stencil;
mod surface;

pub use crate::fault::MeshFault;
pub use block::BlockLattice;
pub use closed::ClosedMesh;
pub use gear::Gear;
pub use moments::Moments;
pub use pose::Pose;
pub(crate) use read::bytes;
pub use read::{MOST_BYTES, read};
pub use surface::{Carried, Surface, interpolate_3d};

pub(crate) use block::{indices, quads};
pub(crate) use flats::{flat_axes, flat_ends};
pub(crate) use inscribed::Inscribed;
pub(crate) use pieces::{centres, divisions};
pub(crate) use signed::{Samples, signed_distances};
pub(crate) use vector::{Point, add, bounds, cross, norm, per_axis, scale, sub};
