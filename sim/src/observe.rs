//! What can be seen of a state.

use crate::error::Result;
use diffkern::{Array, Float, Vec3};

/// A surface that follows a state of type `S`: that of particles, of the vertices of a mesh, of a rigid body.
pub trait Observe<S, F: Float> {
    /// Triangles by their vertices, counter-clockwise seen from outside.
    fn triangles(&self) -> &[[u32; 3]];

    /// Positions of the vertices \[m\]; differentiable in the state.
    ///
    /// # Errors
    /// When the state is of another body, or the launch fails.
    fn vertices(&self, state: &S) -> Result<Array<Vec3<F>>>;
}
