//! What flows: one value a particle of position, velocity, velocity gradient and deformation gradient.

use super::lagrangian::Phase;
use crate::error::{Error, Result};
use diffkern::AnyArray;
use diffkern::prelude::*;

/// State of the particles; all arrays have one element a particle.
#[derive(Clone, Debug)]
pub struct State<D: Dimension, F: Float> {
    /// Position \[m\].
    pub x: Array<D::Vector<F>>,
    /// Velocity \[m/s\].
    pub v: Array<D::Vector<F>>,
    /// Gradient of the velocity field around the particle (APIC) \[1/s\].
    pub c: Array<D::Matrix<F>>,
    /// Deformation gradient.
    pub f: Array<D::Matrix<F>>,
    /// The nodes that carry the velocities from step to step, where the transfer is
    /// [`Lagrangian`](super::Transfer::Lagrangian). Drop it where other fields are changed: they are read when a phase begins.
    pub phase: Option<Phase<D, F>>,
}

impl<D: Dimension, F: Float> State<D, F> {
    /// Undeformed particles in pure translation each: `C = 0`, `F = I`.
    ///
    /// # Errors
    /// When there are no particles, the lengths differ, or memory is short.
    pub fn undeformed(device: &Device, positions: &[D::Vector<F>], velocities: &[D::Vector<F>]) -> Result<Self> {
        let n = positions.len();
        if n == 0 {
            return Err(Error::invalid("number of particles", 0, "at least 1"));
        }
        if velocities.len() != n {
            return Err(Error::invalid("number of velocities", velocities.len(), format!("{n}, one a particle")));
        }
        Ok(State {
            x: device.array(positions)?,
            v: device.array(velocities)?,
            c: device.zeros::<D::Matrix<F>>(n)?,
            f: device.full(n, D::identity::<F>())?,
            phase: None,
        })
    }

    /// Number of particles.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are no particles; there always are.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }
}

impl<D: Dimension, F: Float> diffkern::State for State<D, F> {
    fn arrays(&self) -> Vec<AnyArray> {
        let own = [self.x.as_any(), self.v.as_any(), self.c.as_any(), self.f.as_any()].map(AnyArray::clone);
        own.into_iter().chain(self.phase.iter().flat_map(Phase::arrays)).collect()
    }

    fn with_arrays(&self, arrays: Vec<AnyArray>) -> Self {
        let mut arrays = arrays.into_iter();
        State {
            x: typed(arrays.next(), &self.x),
            v: typed(arrays.next(), &self.v),
            c: typed(arrays.next(), &self.c),
            f: typed(arrays.next(), &self.f),
            phase: Phase::of(arrays),
        }
    }
}

/// The array with the element type of `like`, which it has by the contract of `State`.
fn typed<T: Element>(any: Option<AnyArray>, like: &Array<T>) -> Array<T> {
    any.and_then(|a| Array::try_from(a).ok()).unwrap_or_else(|| like.clone())
}
