//! The last state of a motion that does not come to its end.

use super::bodies::Bodies;
use crate::error::Result;
use crate::job::Surface;
use diffkern::prelude::*;

/// What was drawn last.
pub(crate) struct Last<F: Float> {
    pub(super) frame: usize,
    pub(super) vertices: Array<Vec3<F>>,
    pub(super) triangles: Vec<[u32; 3]>,
}

impl<F: Float> Last<F> {
    /// As it is drawn in this frame.
    pub(super) fn new(frame: usize, vertices: Array<Vec3<F>>, bodies: &Bodies<F>) -> Result<Self> {
        Ok(Self { frame, vertices, triangles: bodies.mesh()?.triangles().to_vec() })
    }

    /// Its numbers here.
    pub(crate) fn surface(self) -> Result<Surface> {
        let vertices = self.vertices.to_vec()?;
        let vertices = vertices.iter().map(|x| [x.x, x.y, x.z].map(Float::to_f64)).collect();
        Ok(Surface { frame: self.frame, vertices, triangles: self.triangles })
    }
}
