//! The surface of a body made of vertices.

use super::state::VertexState;
use crate::error::{Error, Result};
use crate::observe::Observe;
use diffkern::{Array, Float, Vec3};

/// Triangles over the vertices of the body themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Skin {
    triangles: Vec<[u32; 3]>,
    vertices: usize,
}

impl Skin {
    /// Of a body with so many vertices.
    ///
    /// # Errors
    /// When an index is out of range.
    pub fn new(triangles: Vec<[u32; 3]>, vertices: usize) -> Result<Skin> {
        let beyond = |t: &[u32; 3]| t.iter().any(|&i| i as usize >= vertices);
        match triangles.iter().position(beyond) {
            Some(k) => Err(Error::invalid(
                format!("triangle {k}"),
                format!("{:?}", triangles[k]),
                format!("indices below {vertices}"),
            )),
            None => Ok(Skin { triangles, vertices }),
        }
    }
}

impl<F: Float> Observe<VertexState<F>, F> for Skin {
    fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    fn vertices(&self, state: &VertexState<F>) -> Result<Array<Vec3<F>>> {
        match state.len() == self.vertices {
            true => Ok(state.x.clone()),
            false => {
                Err(Error::invalid("number of vertices", state.len(), format!("{}, as in the body", self.vertices)))
            }
        }
    }
}
