//! What flows: where bodies are, how they are turned, how they move.

use crate::error::{Error, Result};
use diffkern::AnyArray;
use diffkern::prelude::*;

/// State of rigid bodies; all arrays have one element a body.
#[derive(Clone, Debug)]
pub struct State<F: Float> {
    /// Centre of mass \[m\].
    pub x: Array<Vec3<F>>,
    /// Orientation of the frame of the surface, a unit quaternion.
    pub q: Array<Quat<F>>,
    /// Velocity of the centre of mass \[m/s\].
    pub v: Array<Vec3<F>>,
    /// Angular momentum about the centre of mass, along the axes of the world \[kg m^2/s\].
    pub l: Array<Vec3<F>>,
}

impl<F: Float> State<F> {
    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are no bodies; there always are.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Whether all numbers are finite, and quaternions of length 1. Reads the state to the host.
    pub(super) fn check(&self, step: usize) -> Result<()> {
        let fault = |field, index, value| Err(Error::NotFinite { field, what: "body", index, step, value });
        for (field, array) in [("position", &self.x), ("velocity", &self.v), ("angular momentum", &self.l)] {
            for (index, v) in array.to_vec()?.into_iter().enumerate() {
                if let Some(value) = v.to_array().into_iter().map(Float::to_f64).find(|x| !x.is_finite()) {
                    return fault(field, index, value);
                }
            }
        }
        for (index, q) in self.q.to_vec()?.into_iter().enumerate() {
            let norm = q.norm().to_f64();
            if !norm.is_finite() {
                return fault("orientation", index, norm);
            }
            if (norm - 1.0).abs() > 1e-2 {
                let what = format!("length of the quaternion of body {index} after step {step}");
                return Err(Error::invalid(what, norm, "1, within a hundredth"));
            }
        }
        Ok(())
    }
}

impl<F: Float> diffkern::State for State<F> {
    fn arrays(&self) -> Vec<AnyArray> {
        (self.x.clone(), self.q.clone(), self.v.clone(), self.l.clone()).arrays()
    }

    fn with_arrays(&self, arrays: Vec<AnyArray>) -> Self {
        let now = (self.x.clone(), self.q.clone(), self.v.clone(), self.l.clone());
        let (x, q, v, l) = now.with_arrays(arrays);
        State { x, q, v, l }
    }
}
