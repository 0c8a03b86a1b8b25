//! Where one phase ends and the next begins: the transfers.

use super::gather::gather_moved;
use super::nodes::{kinetic_energy, node_places, node_velocity, scaled, sharpen};
use super::phase::Phase;
use crate::mpm::blocks::Active;
use crate::mpm::occupied::base_nodes;
use crate::mpm::solver::Solver;
use crate::mpm::state::State;
use crate::step::Tick;
use diffkern::prelude::*;

/// Terms of the series that inverts a transfer. With more, a field that lies between the nodes may gain energy: a block that hit a floor did
/// with six.
const TERMS: usize = 4;

impl<D: Dimension, F: Float> Solver<D, F> {
    /// The phase of `state`, or one that begins.
    pub(in crate::mpm) fn kept_phase(&self, state: &State<D, F>, tick: Tick) -> diffkern::Result<Phase<D, F>> {
        match &state.phase {
            Some(phase) if !self.model().transfer().is_due(tick.index) => Ok(phase.clone()),
            Some(_) | None => self.begin(state, tick),
        }
    }

    /// A state with the phase that it begins, for a rollout of [`Step::step`](crate::Step::step): all its states have the same arrays then. Not for a
    /// [`Transfer`](crate::mpm::Transfer) by which phases end, which only [`Step::advance`](crate::Step::advance) goes through.
    ///
    /// # Errors
    /// When a launch fails, memory is short, or there are more nodes than [`Model::node_limit`](crate::mpm::Model::node_limit).
    pub fn begun(&self, state: &State<D, F>) -> diffkern::Result<State<D, F>> {
        let start = Tick { index: 0, time: 0.0, dt: self.model().dt() };
        Ok(State { phase: Some(self.begin(state, start)?), ..state.clone() })
    }

    /// The phase that begins with `state`.
    fn begin(&self, state: &State<D, F>, tick: Tick) -> diffkern::Result<Phase<D, F>> {
        let (model, n) = (self.model(), state.len());
        let bases = model.device().uninit(n)?;
        base_nodes::<F, D>(n, &state.x, &bases, model.shape())?;
        let active = Active::around(model.grid(), &bases)?;
        if active.nodes() > model.node_limit() {
            return Err(self.too_many(active.nodes()));
        }
        let places = model.device().uninit(active.nodes())?;
        node_places::<F, D>(active.nodes(), &active.list, &places, model.shape())?;
        let phase = Phase {
            x: state.x.clone(),
            f: state.f.clone(),
            shift: model.device().zeros(n)?,
            h: model.device().zeros(n)?,
            u: model.device().zeros(active.nodes())?,
            d: model.device().zeros(active.nodes())?,
            forces: model.device().zeros(active.nodes())?,
            places,
            table: active.table,
        };
        let u = self.sharp_velocity(&phase, state)?;
        // A step ago, as the rates of friction and viscosity have it.
        let past = phase.nodes()?;
        scaled::<F, D>(past.len(), &u, &past, model.real(-tick.dt))?;
        let (before, now) = (self.gather(&phase, &past)?, self.gather(&phase, &phase.d)?);
        let forces = self.forces(&phase, [&before.value, &now.value], [&before.slope, &now.slope], tick)?;
        Ok(Phase { u, forces, ..phase })
    }

    /// Velocities of the nodes that particles would have from nodes with these.
    fn sharp_velocity(&self, phase: &Phase<D, F>, state: &State<D, F>) -> diffkern::Result<Array<D::Vector<F>>> {
        let (count, cutoff) = (phase.u.len(), self.model().real(self.model().mass_cutoff()));
        let State { v, c, .. } = self.transferred(state)?;
        let momentum = self.scatter(phase, &v, &c)?;
        let mut rest = phase.nodes()?;
        node_velocity::<F, D>(count, &momentum, &rest, cutoff)?;
        let mut sum = rest.clone();
        for _ in 1..TERMS {
            let seen = self.gather(phase, &rest)?;
            let momentum = self.scatter(phase, &seen.value, &seen.slope)?;
            let (rest_next, sum_next) = (phase.nodes()?, phase.nodes()?);
            sharpen::<F, D>(count, &momentum, &rest, &sum, &rest_next, &sum_next, cutoff)?;
            (rest, sum) = (rest_next, sum_next);
        }
        Ok(sum)
    }

    /// The state with its phase ended: particles alone, with the momentum and angular momentum of the nodes. What the next phase would begin with.
    ///
    /// # Errors
    /// When a launch fails, or memory is short.
    pub fn transferred(&self, state: &State<D, F>) -> diffkern::Result<State<D, F>> {
        let Some(phase) = &state.phase else { return Ok(state.clone()) };
        let (v, c) = (phase.particles()?, phase.particles()?);
        let Phase { x, u, d, shift, h, table, .. } = phase;
        gather_moved::<F, D>(x.len(), x, u, d, shift, h, table, &v, &c, self.model().shape())?;
        Ok(State { v, c, phase: None, ..state.clone() })
    }

    /// Kinetic energy \[J\]: that of the nodes where `state` is in a [phase](crate::mpm::Transfer::Lagrangian) or begins one. Particles show less of it,
    /// as what they see of a field is smoother than the field.
    ///
    /// # Errors
    /// When a launch fails, or memory is short.
    pub fn nodal_kinetic_energy(&self, state: &State<D, F>) -> diffkern::Result<f64> {
        let start = Tick { index: 0, time: 0.0, dt: self.model().dt() };
        let phase = state.phase.clone().map_or_else(|| self.begin(state, start), Ok)?;
        let energy = phase.nodes()?;
        kinetic_energy::<F, D>(energy.len(), &phase.forces, &phase.u, &energy)?;
        Ok(energy.to_vec()?.into_iter().map(F::to_f64).sum())
    }
}
