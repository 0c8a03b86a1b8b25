//! How deep points are in a body.

use super::triangles::Triangles;
use crate::error::Result;
use diffkern_sim::mesh::{self, Pose};
use diffkern_sim::scene::BodyShape;
use diffkern_sim::shape::{Primitive, Shape};

/// What tells how deep a point is in a body that is somewhere.
pub(super) enum Inside {
    Formula(Primitive, Pose),
    Surface(Triangles, Pose),
}

impl Inside {
    /// Of a body that is `moved` \[m\] from where its shape is.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(super) fn of(shape: &BodyShape, moved: [f64; 3]) -> Result<Self> {
        let (shape, pose) = shape.placed();
        let translation = [0, 1, 2].map(|a| pose.translation[a] + moved[a]);
        let pose = Pose { translation, ..pose };
        match shape {
            Shape::Primitive(primitive) => Ok(Self::Formula(primitive, pose)),
            Shape::Mesh(mesh) => Ok(Self::Surface(Triangles::of(&mesh), pose)),
            Shape::File { path, scale } => Ok(Self::Surface(Triangles::of(&mesh::read(&path, scale)?), pose)),
            // Shapes of a later version of the simulator.
            other => Err(diffkern_sim::Error::Invalid {
                what: "shape of a body".into(),
                value: format!("{other:?}"),
                expected: "a primitive or a mesh".into(),
            }
            .into()),
        }
    }

    /// How deep `x` is in it \[m\], negative outside; at most the distance from its surface.
    pub(super) fn depth(&self, x: [f64; 3]) -> f64 {
        match self {
            Self::Formula(primitive, pose) => -primitive.level(pose.apply_inverse(x)),
            Self::Surface(triangles, pose) => triangles.depth(pose.apply_inverse(x)),
        }
    }
}
