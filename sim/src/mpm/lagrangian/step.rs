//! A step of a phase.

use super::nodes::{Kick, displaced, kick_nodes};
use super::particles::{deformed, penalty_push, shifted, stress_slope};
use super::phase::Phase;
use super::scatter::scatter_affine;
use crate::contact::Vertices;
use crate::material::with_law;
use crate::mpm::g2p::grid_to_particles;
use crate::mpm::obstacle::{particle_masses, pushed};
use crate::mpm::p2g::ParticleStep;
use crate::mpm::solver::{Solver, in_space};
use crate::mpm::state::State;
use crate::step::Tick;
use diffkern::prelude::*;

/// Nodes up to this distance above a surface belong to the solid, in cells: more than what places in single precision are off by.
const RIM: f64 = 1e-3;

/// What particles see of a field of the nodes.
pub(super) struct Seen<D: Dimension, F: Float> {
    /// `x + sum w u`.
    pub(super) moved: Array<D::Vector<F>>,
    /// `sum w u`.
    pub(super) value: Array<D::Vector<F>>,
    /// `4/dx^2 sum w u (x_i - x_p)^T`.
    pub(super) slope: Array<D::Matrix<F>>,
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

    pub(super) fn scatter(
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

    pub(super) fn gather(&self, phase: &Phase<D, F>, field: &Array<D::Vector<F>>) -> diffkern::Result<Seen<D, F>> {
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
    pub(super) fn forces(
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
        let (slope, push, bulk) = (phase.particles()?, phase.particles()?, model.real(model.bulk_viscosity()));
        let [h_before, h] = gradients;
        with_law!(model.law(), M => {
            stress_slope::<F, M, D>(n, h, h_before, &phase.f, packed, &slope, step, bulk)
        })?;
        let [before, shift] = shifts;
        penalty_push::<F, D>(n, &phase.x, shift, before, packed, &self.planes, &model.wider, &push, step)?;
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
            rim: model.real(RIM * model.grid().dx()),
            plane_count: model.half_spaces().len() as u32,
            touching: model.touching,
            clamps: model.clamps,
        };
        let (planes, kinds, next) = (&self.planes, &model.kinds, phase.nodes()?);
        let (forces, places, damping) = (&phase.forces, &phase.places, &self.damping);
        kick_nodes::<F, D>(u.len(), u, forces, &y, places, planes, kinds, &self.gravity, damping, &next, step)?;
        self.held_back(&y, next, tick)
    }

    /// The particles at `x`, as the nodes have them.
    fn end(&self, phase: Phase<D, F>, x: Array<D::Vector<F>>) -> diffkern::Result<State<D, F>> {
        let Seen { value: v, slope, .. } = self.gather(&phase, &phase.u)?;
        let (c, f) = (phase.particles()?, phase.particles()?);
        deformed::<F, D>(x.len(), &phase.h, &slope, &phase.f, &f, &c)?;
        Ok(State { x, v, c, f, phase: Some(phase) })
    }
}
