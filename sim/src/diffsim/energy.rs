//! Energies of a state, as arrays: a loss may have them.

use super::kernels::{ground_energies, vertex_energies};
use super::simulator::Simulator;
use super::substeps::{Bound, Pair};
use crate::error::Result;
use crate::fem::tets::kernels::elastic_energies;
use crate::material::QuadraticNeoHookean;
use diffkern::prelude::*;
use diffkern::reduce;

/// Energies of a body \[J\], one element each, differentiable as the states are.
#[derive(Clone, Debug)]
pub struct Energies<F: Float> {
    /// Of its motion.
    pub kinetic: Array<F>,
    /// Of its deformation.
    pub elastic: Array<F>,
    /// Of its height over `y = 0`.
    pub height: Array<F>,
    /// Of the barrier of the [ground](super::Ground); 0 without one.
    pub ground: Array<F>,
}

impl<F: Float> Simulator<F> {
    /// The energies of the body in a state. Where nothing is damped or rubs, explicit substeps keep their sum to first order in the
    /// substep, for any number of them; implicit substeps lose some of it.
    ///
    /// # Errors
    /// As [`Simulator::rollout`], without its checks of the motion.
    pub fn energies(&self, (x, v): &Pair<F>) -> Result<Energies<F>> {
        let bound = self.bound()?;
        bound.check_lengths(x, v)?;
        Ok(bound.energies(x, v)?)
    }
}

impl<F: Float> Bound<F> {
    fn energies(&self, x: &Array<Vec3<F>>, v: &Array<Vec3<F>>) -> diffkern::Result<Energies<F>> {
        let (n, elements, device) = (x.len(), self.q.len(), x.device());
        let (kinetic, height, elastic) = (device.uninit(n)?, device.uninit(n)?, device.uninit(elements)?);
        vertex_energies(n, x, v, &self.masses, &self.gravity, &kinetic, &height)?;
        elastic_energies::<F, QuadraticNeoHookean>(elements, x, &self.tets, &self.inverse, &self.q, &elastic)?;
        let pushed = device.zeros(n)?;
        if let Some(ground) = self.ground {
            ground_energies(n, x, &self.fixed, &pushed, ground.force())?;
        }
        Ok(Energies {
            kinetic: reduce::sum(&kinetic)?,
            elastic: reduce::sum(&elastic)?,
            height: reduce::sum(&height)?,
            ground: reduce::sum(&pushed)?,
        })
    }
}
