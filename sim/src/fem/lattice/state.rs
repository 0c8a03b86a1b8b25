//! What flows: the control points, and what the material remembers.

use crate::error::Result;
use crate::vertices::VertexState;
use diffkern::AnyArray;
use diffkern::prelude::*;

/// State of bodies cut from lattices.
#[derive(Clone, Debug)]
pub struct State<F: Float> {
    /// Position of each control point \[m\].
    pub x: Array<Vec3<F>>,
    /// Velocity of each control point \[m/s\].
    pub v: Array<Vec3<F>>,
    /// At each stress point of bodies that [relax](super::Relaxation) `A - I`, `A` the inverse of the right Cauchy-Green tensor at which the Maxwell branch is
    /// free of stress; see [`Model::settled`](super::Model::settled). Others have none.
    pub memory: Option<Array<Mat3<F>>>,
}

impl<F: Float> State<F> {
    /// Control points at `positions` \[m\] with `velocities` \[m/s\], of a material without memory.
    ///
    /// # Errors
    /// As [`VertexState::new`].
    pub fn new(device: &Device, positions: &[[f64; 3]], velocities: &[[f64; 3]]) -> Result<State<F>> {
        let VertexState { x, v } = VertexState::new(device, positions, velocities)?;
        Ok(State { x, v, memory: None })
    }

    /// Number of control points.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are no control points; there always are.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Whether positions and velocities are finite. Reads them to the host.
    pub(super) fn check(&self, step: usize) -> Result<()> {
        VertexState { x: self.x.clone(), v: self.v.clone() }.check(step)
    }
}

impl<F: Float> diffkern::State for State<F> {
    fn arrays(&self) -> Vec<AnyArray> {
        (self.x.clone(), self.v.clone(), self.memory.clone()).arrays()
    }

    fn with_arrays(&self, arrays: Vec<AnyArray>) -> Self {
        let (x, v, memory) = (self.x.clone(), self.v.clone(), self.memory.clone()).with_arrays(arrays);
        State { x, v, memory }
    }
}
