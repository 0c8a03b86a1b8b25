//! A step of a phase.

use super::gather::gather_moved;
use super::nodes::{Kick, displaced, kick_nodes, kinetic_energy, node_places, node_velocity, scaled, sharpen};
use super::particles::{deformed, penalty_push, shifted, stress_slope};
use super::phase::Phase;
use super::scatter::scatter_affine;
use crate::contact::Vertices;
use crate::material::with_law;
use crate::mpm::blocks::Active;
use crate::mpm::g2p::grid_to_particles;
use crate::mpm::model::ON_SURFACE;
use crate::mpm::obstacle::{particle_masses, pushed};
use crate::mpm::occupied::base_nodes;
use crate::mpm::p2g::ParticleStep;
use crate::mpm::solver::{Solver, in_space};
use crate::mpm::state::State;
use crate::step::Tick;
use diffkern::prelude::*;

/// Terms of the series that inverts a transfer. With more, a field that lies between the nodes may gain energy: a block that hit a floor did
/// with six.
const TERMS: usize = 4;

/// What particles see of a field of the nodes.
struct Seen<D: Dimension, F: Float> {
    /// `x + sum w u`.
    moved: Array<D::Vector<F>>,
    /// `sum w u`.
    value: Array<D::Vector<F>>,
    /// `4/dx^2 sum w u (x_i - x_p)^T`.
    slope: Array<D::Matrix<F>>,
}

impl<D: Dimension, F: Float> Solver<D, F> {
    /// Velocity Verlet on the nodes of `phase`.
    pub(in crate::mpm) fn lagrangian_step(&self, phase: Phase<D, F>, tick: Tick) -> diffkern::Result<State<D, F>> {
        let end = Tick { time: tick.time + tick.dt, ..tick };
        let half = self.kick(&phase, &phase.u, tick)?;
        let d = self.drift(&phase.d, &half, tick.dt)?;
        let now = self.gather(&phase, &d)?;
        let forces = self.forces(&phase, [&phase.shift, &now.value], [&phase.h, &now.slope], end)?;
        let moved = Phase { shift: now.value, h: now.slope, d, forces, ..phase };
        let u = self.kick(&moved, &half, end)?;
        self.end(Phase { u, ..moved }, now.moved)
    }

    /// The phase of `state`, or one that begins.
    pub(in crate::mpm) fn kept_phase(&self, state: &State<D, F>, tick: Tick) -> diffkern::Result<Phase<D, F>> {
        match &state.phase {
            Some(phase) if !self.model().transfer().is_due(tick.index) => Ok(phase.clone()),
            Some(_) | None => self.begin(state, tick),
        }
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

    fn scatter(
        &self,
        phase: &Phase<D, F>,
        value: &Array<D::Vector<F>>,
        slope: &Array<D::Matrix<F>>,
    ) -> diffkern::Result<Array<D::Homogeneous<F>>> {
        let Phase { x, table, .. } = phase;
        let nodes = x.device().zeros(phase.u.len())?;
        scatter_affine::<F, D>(x.len(), x, value, slope, &self.packed, table, &nodes, self.model().shape())?;
        Ok(nodes)
    }

    fn gather(&self, phase: &Phase<D, F>, field: &Array<D::Vector<F>>) -> diffkern::Result<Seen<D, F>> {
        let Phase { x, table, .. } = phase;
        let seen = Seen { moved: phase.particles()?, value: phase.particles()?, slope: phase.particles()? };
        let Seen { moved, value, slope } = &seen;
        let (grid, one) = (self.model().shape(), self.model().real(1.0));
        grid_to_particles::<F, D>(x.len(), x, field, table, moved, value, slope, grid, one)?;
        Ok(seen)
    }

    fn drift(
        &self,
        d: &Array<D::Vector<F>>,
        u: &Array<D::Vector<F>>,
        dt: f64,
    ) -> diffkern::Result<Array<D::Vector<F>>> {
        let next = d.device().uninit(d.len())?;
        displaced::<F, D>(u.len(), d, u, &next, self.model().real(dt))?;
        Ok(next)
    }

    /// Force and mass of the nodes; shifts and gradients are those of a step ago and of now.
    fn forces(
        &self,
        phase: &Phase<D, F>,
        shifts: [&Array<D::Vector<F>>; 2],
        gradients: [&Array<D::Matrix<F>>; 2],
        tick: Tick,
    ) -> diffkern::Result<Array<D::Homogeneous<F>>> {
        let (model, n, packed) = (self.model(), phase.x.len(), &self.packed);
        let touching = model.touching;
        let touching_end = u32::BITS - touching.leading_zeros();
        let step = ParticleStep { grid: model.shape(), dt: model.real(tick.dt), touching, touching_end };
        let (slope, push) = (phase.particles()?, phase.particles()?);
        let [h_before, h] = gradients;
        with_law!(model.law(), M => {
            stress_slope::<F, M, D>(n, h, h_before, &phase.f, packed, &slope, step)
        })?;
        let [before, shift] = shifts;
        penalty_push::<F, D>(n, &phase.x, shift, before, packed, &self.planes, &push, step)?;
        let push = self.pushed_by_colliders(phase, push, shifts, tick)?;
        self.scatter(phase, &push, &slope)
    }

    /// Accelerations with those by the forces of colliders.
    fn pushed_by_colliders(
        &self,
        phase: &Phase<D, F>,
        push: Array<D::Vector<F>>,
        [before, shift]: [&Array<D::Vector<F>>; 2],
        tick: Tick,
    ) -> diffkern::Result<Array<D::Vector<F>>> {
        let Some(obstacles) = self.obstacles().filter(|o| o.act_by_forces()) else {
            return Ok(push);
        };
        let (model, n) = (self.model(), phase.x.len());
        let (y, v) = (phase.particles()?, phase.particles()?);
        shifted::<F, D>(n, &phase.x, shift, before, &y, &v, model.real(tick.dt))?;
        let device = model.device();
        let (mass, force, next) = (device.uninit(n)?, device.zeros(n)?, device.uninit(n)?);
        particle_masses(n, &self.packed, &mass)?;
        let (y, v, push) = (in_space(&y)?, in_space(&v)?, in_space(&push)?);
        obstacles.add_forces(&Vertices { x: &y, v: &v, mass: &mass }, &force, tick)?;
        pushed(n, &push, &force, &mass, &next, model.real(1.0))?;
        Array::try_from(next.as_any().clone())
    }

    /// Velocities after half a step of forces, gravity and damping, and contact.
    fn kick(&self, phase: &Phase<D, F>, u: &Array<D::Vector<F>>, tick: Tick) -> diffkern::Result<Array<D::Vector<F>>> {
        let model = self.model();
        let y = self.drift(&phase.places, &phase.d, 1.0)?;
        let step = Kick {
            dt: model.real(0.5 * tick.dt),
            cutoff: model.real(model.mass_cutoff()),
            rim: model.real(ON_SURFACE * model.grid().dx()),
            plane_count: model.half_spaces().len() as u32,
            touching: model.touching,
        };
        let (planes, kinds, next) = (&self.planes, &model.kinds, phase.nodes()?);
        kick_nodes::<F, D>(u.len(), u, &phase.forces, &y, planes, kinds, &self.gravity, &self.damping, &next, step)?;
        self.held_back(&y, next, tick)
    }

    /// The particles at `x`, as the nodes have them.
    fn end(&self, phase: Phase<D, F>, x: Array<D::Vector<F>>) -> diffkern::Result<State<D, F>> {
        let Seen { value: v, slope, .. } = self.gather(&phase, &phase.u)?;
        let (c, f) = (phase.particles()?, phase.particles()?);
        deformed::<F, D>(x.len(), &phase.h, &slope, &phase.f, &f, &c)?;
        Ok(State { x, v, c, f, phase: Some(phase) })
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

impl<D: Dimension, F: Float> Phase<D, F> {
    fn particles<T: Element>(&self) -> diffkern::Result<Array<T>> {
        self.x.device().uninit(self.x.len())
    }

    fn nodes<T: Element>(&self) -> diffkern::Result<Array<T>> {
        self.u.device().uninit(self.u.len())
    }
}
