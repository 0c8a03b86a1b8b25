//! The energy of a state, on the host: what a run keeps or loses is a number to be tested.

use super::model::{Remembered, Solver};
use super::stability::Linear;
use super::state::State;
use crate::error::Result;
use crate::material::{Law, Material as _, with_law};
use diffkern::prelude::*;

/// Energy of a body \[J\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Energy {
    /// Of its motion, by the mass of the steps.
    pub kinetic: f64,
    /// Of its deformation, that of the Maxwell branch included.
    pub elastic: f64,
}

impl Energy {
    /// The sum.
    pub fn total(&self) -> f64 {
        self.kinetic + self.elastic
    }
}

impl<F: Float> Solver<F> {
    /// The energy of `state`, without that of its height and of contacts. Reads the state to the host; it has no gradient.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn energy(&self, state: &State<F>) -> Result<Energy> {
        let q: Vec<[f64; 4]> = self.q.to_vec()?.iter().map(|q| q.to_array().map(F::to_f64)).collect();
        let deformations = self.deformations(&state.x)?.to_vec()?;
        let stored = |(f, q): (&Mat3<F>, &[f64; 4])| stored(self.law(), real(f), q);
        let elastic: f64 = deformations.iter().zip(&q).map(stored).sum();
        let elastic = elastic + self.stored_by_branch(&deformations, state)?;
        let bodies = self.bodies();
        let reals =
            |array: &Array<F>| Ok::<_, diffkern::Error>(array.to_vec()?.into_iter().map(F::to_f64).collect::<Vec<_>>());
        let (mass, lumped) = (reals(&self.mass)?, reals(&self.lumped)?);
        let v: Vec<_> = state.v.to_vec()?.iter().map(|v| v.to_array().map(F::to_f64)).collect();
        let loads = self.loads_on_host()?;
        let kinetic = |(k, body)| {
            let (cells, nodes) = (bodies.cells(k), bodies.nodes(k));
            let q = &q[8 * cells.start..8 * cells.end];
            let linear = Linear::new(body, q, &mass[cells], &lumped[nodes.clone()], 0.0);
            linear.with(&loads[k]).corrected(self.corrections()).kinetic(&v[nodes])
        };
        Ok(Energy { kinetic: bodies.bodies().iter().enumerate().map(kinetic).sum(), elastic })
    }

    /// Energy of the Maxwell branch.
    fn stored_by_branch(&self, deformations: &[Mat3<F>], state: &State<F>) -> Result<f64> {
        let Some(Remembered { branch, memory }) = self.remembered(state)? else {
            return Ok(0.0);
        };
        let (branch, memory) = (branch.to_vec()?, memory.to_vec()?);
        let of = |((f, a), branch): ((&Mat3<F>, &Mat3<F>), &Vec2<F>)| {
            let f = real(f);
            let strained = f.transpose() * f * (real(a) + Mat3::identity());
            0.5 * branch.x.to_f64() * (strained.trace() - 3.0 - strained.determinant().ln())
        };
        Ok(deformations.iter().zip(&memory).zip(&branch).map(of).sum())
    }
}

fn real<F: Float>(m: &Mat3<F>) -> Mat3<f64> {
    Mat3::from_array(m.to_array().map(F::to_f64))
}

/// Of one stress point.
fn stored(law: Law, f: Mat3<f64>, q: &[f64; 4]) -> f64 {
    with_law!(law, M => M::energy_3d(f, q[0], q[1]))
}
