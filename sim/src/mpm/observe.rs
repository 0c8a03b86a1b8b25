//! The surface that particles carry, as that of any body.

use super::state::State;
use crate::error::Result;
use crate::mesh::Surface;
use crate::observe::Observe;
use diffkern::{Array, Dim3, Float, Vec3};

impl<F: Float> Observe<State<Dim3, F>, F> for Surface<F> {
    fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    fn vertices(&self, state: &State<Dim3, F>) -> Result<Array<Vec3<F>>> {
        Surface::vertices(self, &state.x)
    }
}
