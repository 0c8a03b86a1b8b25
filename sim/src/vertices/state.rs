//! What flows: position and velocity of each vertex.

use crate::error::{Error, Result};
use diffkern::AnyArray;
use diffkern::prelude::*;

/// State of bodies made of vertices; both arrays have one element a vertex.
#[derive(Clone, Debug)]
pub struct VertexState<F: Float> {
    /// Position \[m\].
    pub x: Array<Vec3<F>>,
    /// Velocity \[m/s\].
    pub v: Array<Vec3<F>>,
}

impl<F: Float> VertexState<F> {
    /// Vertices at `positions` \[m\] with `velocities` \[m/s\].
    ///
    /// # Errors
    /// When there are none, the lengths differ, or memory is short.
    pub fn new(device: &Device, positions: &[[f64; 3]], velocities: &[[f64; 3]]) -> Result<VertexState<F>> {
        let n = positions.len();
        if n == 0 {
            return Err(Error::invalid("number of vertices", 0, "at least 1"));
        }
        if velocities.len() != n {
            return Err(Error::invalid("number of velocities", velocities.len(), format!("{n}, one a vertex")));
        }
        let array = |rows: &[[f64; 3]]| {
            let rows: Vec<Vec3<F>> =
                diffkern::memory::collect(rows.iter().map(|r| Vec3::from_array(r.map(F::from_f64))))?;
            device.array(&rows)
        };
        Ok(VertexState { x: array(positions)?, v: array(velocities)? })
    }

    /// Number of vertices.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are no vertices; there always are.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Whether all numbers are finite. Reads the state to the host.
    pub(crate) fn check(&self, step: usize) -> Result<()> {
        for (field, array) in [("position", &self.x), ("velocity", &self.v)] {
            for (index, v) in array.to_vec()?.into_iter().enumerate() {
                if let Some(value) = v.to_array().into_iter().map(Float::to_f64).find(|x| !x.is_finite()) {
                    return Err(Error::NotFinite { field, what: "vertex", index, step, value });
                }
            }
        }
        Ok(())
    }
}

impl<F: Float> diffkern::State for VertexState<F> {
    fn arrays(&self) -> Vec<AnyArray> {
        (self.x.clone(), self.v.clone()).arrays()
    }

    fn with_arrays(&self, arrays: Vec<AnyArray>) -> Self {
        let (x, v) = (self.x.clone(), self.v.clone()).with_arrays(arrays);
        VertexState { x, v }
    }
}
