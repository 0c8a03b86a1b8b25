//! The step, and what repeats it.

use super::blocks::Active;
use super::check;
use super::g2p::grid_to_particles;
use super::grid_update::{NodeStep, update_grid};
use super::model::Model;
use super::obstacle::{node_positions, particle_masses, pushed};
use super::occupied::base_nodes;
use super::order::Order;
use super::p2g::{ParticleStep, particles_to_grid};
use super::pack::{pack_half_spaces, pack_material};
use super::params::Params;
use super::state::State;
use super::transfer::Transfer;
use crate::contact::{BoundObstacles, Obstacles, Vertices};
use crate::error::{Error, Result};
use crate::material::with_law;
use crate::step::{Span, Step, Tick};
use diffkern::Schedule;
use diffkern::prelude::*;

/// A model with its parameters: takes a state to the next.
#[derive(Clone, Debug)]
pub struct Solver<D: Dimension, F: Float> {
    model: Model<D, F>,
    /// See `pack_material`.
    pub(crate) packed: Array<Vec4<F>>,
    /// See `pack_half_spaces`.
    pub(super) planes: Array<Vec4<F>>,
    pub(crate) gravity: Array<D::Vector<F>>,
    pub(super) damping: Array<F>,
    obstacles: Option<BoundObstacles<F>>,
}

impl<D: Dimension, F: Float> Solver<D, F> {
    pub(crate) fn new(model: Model<D, F>, params: &Params<D, F>, particles: usize) -> Result<Self> {
        params.check(particles)?;
        let friction = model.friction(params.friction.as_ref())?;
        let stiffness = model.stiffness(params.stiffness.as_ref())?;
        for (what, len) in [("damping", params.damping.len()), ("gravity", params.gravity.len())] {
            if len != 1 {
                return Err(Error::invalid(format!("length of {what}"), len, "1"));
            }
        }
        let packed = model.device().zeros::<Vec4<F>>(particles)?;
        pack_material(
            particles,
            &params.mu,
            &params.lambda,
            &params.viscosity,
            &params.density,
            &params.volume,
            &packed,
        )?;
        let planes = model.device().uninit(model.planes.len())?;
        pack_half_spaces(planes.len() / 2, &model.planes, &friction, &stiffness, &planes)?;
        let (gravity, damping) = (params.gravity.clone(), params.damping.clone());
        let obstacles = Obstacles::bind(model.obstacles(), params.contact.as_ref(), model.device())?;
        Ok(Solver { model, packed, planes, gravity, damping, obstacles })
    }

    pub(super) fn obstacles(&self) -> Option<&BoundObstacles<F>> {
        self.obstacles.as_ref()
    }

    /// The model.
    pub fn model(&self) -> &Model<D, F> {
        &self.model
    }

    /// Adds the particles to the cleared `nodes` and writes the new deformation gradients `f_next`.
    fn particles_to_grid(
        &self,
        state: &State<D, F>,
        active: &Active,
        f_next: &Array<D::Matrix<F>>,
        nodes: &Array<D::Homogeneous<F>>,
        dt: f64,
    ) -> diffkern::Result<()> {
        let (model, State { x, v, c, f, .. }) = (&self.model, state);
        let (grid, dt) = (model.shape(), model.real(dt));
        let touching = model.touching;
        let step = ParticleStep { grid, dt, touching, touching_end: u32::BITS - touching.leading_zeros() };
        let (n, packed, planes, table) = (state.len(), &self.packed, &self.planes, &active.table);
        with_law!(model.law(), M => {
            particles_to_grid::<F, M, D>(n, x, v, c, f, packed, planes, table, f_next, nodes, step)
        })
    }

    /// Writes the nodes' velocities.
    fn update_grid(
        &self,
        active: &Active,
        nodes: &Array<D::Homogeneous<F>>,
        velocity: &Array<D::Vector<F>>,
        dt: f64,
    ) -> diffkern::Result<()> {
        let (model, gravity, damping) = (&self.model, &self.gravity, &self.damping);
        let (masks, kinds, list, planes) = (&model.masks, &model.kinds, &active.list, &self.planes);
        let plane_count = model.half_spaces().len() as u32;
        let step = NodeStep { dt: model.real(dt), cutoff: model.real(model.mass_cutoff()), plane_count };
        update_grid::<F, D>(nodes.len(), nodes, masks, list, planes, kinds, gravity, damping, velocity, step)
    }

    /// The particles after the forces of colliders.
    fn pushed(&self, state: &State<D, F>, tick: Tick) -> diffkern::Result<State<D, F>> {
        let Some(obstacles) = self.obstacles.as_ref().filter(|o| o.act_by_forces()) else {
            return Ok(state.clone());
        };
        let (device, n) = (self.model.device(), state.len());
        let (x, v) = (in_space(&state.x)?, in_space(&state.v)?);
        let (mass, force, next) = (device.uninit(n)?, device.zeros(n)?, device.uninit(n)?);
        particle_masses(n, &self.packed, &mass)?;
        obstacles.add_forces(&Vertices { x: &x, v: &v, mass: &mass }, &force, tick)?;
        pushed(n, &v, &force, &mass, &next, self.model.real(tick.dt))?;
        Ok(State { v: Array::try_from(next.as_any().clone())?, ..state.clone() })
    }

    /// The velocities of nodes at `x` as colliders leave them.
    pub(super) fn held_back(
        &self,
        x: &Array<D::Vector<F>>,
        velocity: Array<D::Vector<F>>,
        tick: Tick,
    ) -> diffkern::Result<Array<D::Vector<F>>> {
        let Some(obstacles) = self.obstacles.as_ref().filter(|o| o.act_on_velocities()) else {
            return Ok(velocity);
        };
        let free = self.model.device().zeros(velocity.len())?;
        let left = obstacles.project(&in_space(x)?, in_space(&velocity)?, &free, tick)?;
        Array::try_from(left.as_any().clone())
    }

    /// The same at the nodes of `active`.
    fn held_back_on_grid(
        &self,
        active: &Active,
        velocity: Array<D::Vector<F>>,
        tick: Tick,
    ) -> diffkern::Result<Array<D::Vector<F>>> {
        if !self.obstacles.as_ref().is_some_and(BoundObstacles::act_on_velocities) {
            return Ok(velocity);
        }
        let x = self.model.device().uninit(velocity.len())?;
        node_positions(x.len(), &active.list, &x, self.model.shape())?;
        self.held_back(&Array::try_from(x.as_any().clone())?, velocity, tick)
    }

    /// Number of grid nodes that a step from `state` works on.
    ///
    /// # Errors
    /// When a launch fails.
    pub fn active_nodes(&self, state: &State<D, F>) -> diffkern::Result<usize> {
        Ok(self.active(state)?.nodes())
    }

    /// The blocks to work on.
    fn active(&self, state: &State<D, F>) -> diffkern::Result<Active> {
        let model = &self.model;
        if !model.blocks().sparse(model.device(), model.grid().len(), state.len()) {
            return Ok(model.all.clone());
        }
        let bases = model.device().uninit(state.len())?;
        base_nodes::<F, D>(state.len(), &state.x, &bases, model.shape())?;
        Active::around(model.grid(), &bases)
    }

    /// The same with other particles, as many.
    pub(super) fn with_packed(self, packed: Array<Vec4<F>>) -> Self {
        Solver { packed, ..self }
    }

    /// The same parameters with another model.
    pub(super) fn on(&self, model: Model<D, F>) -> Self {
        Solver { model, ..self.clone() }
    }

    /// All steps one after the other, on the particles in another order where that is faster.
    fn in_order(self, state: &State<D, F>, span: Span, schedule: Schedule) -> diffkern::Result<State<D, F>> {
        let Some(order) = Order::of(&self, state, span.len())? else {
            return diffkern::rollout(span.len(), schedule, state.clone(), move |s, k| self.step(s, &(), span.tick(k)));
        };
        let solver = order.solver(self)?;
        let sorted = order.apply(state)?;
        let end = diffkern::rollout(span.len(), schedule, sorted, move |s, k| solver.step(s, &(), span.tick(k)))?;
        order.undo(&end)
    }

    /// All steps of a [`Transfer::Lagrangian`]: a rollout for each phase, as states of a rollout are made of the same arrays. On the whole grid
    /// and in the order given, as nodes keep their numbers and particles their nodes.
    fn in_phases(self, state: &State<D, F>, span: Span, schedule: Schedule) -> diffkern::Result<State<D, F>> {
        let (mut now, mut first) = (state.clone(), 0);
        while first < span.len() {
            let phase = self.kept_phase(&now, span.tick(first))?;
            let due = |k: &usize| self.model.transfer().is_due(span.tick(*k).index);
            let end = (first + 1..span.len()).find(due).unwrap_or(span.len());
            let (solver, start) = (self.clone(), State { phase: Some(phase), ..now });
            let step = move |s: &State<D, F>, k: usize| solver.phase_step(s, span.tick(first + k));
            now = diffkern::rollout(end - first, schedule, start, step)?;
            first = end;
        }
        Ok(now)
    }

    fn phase_step(&self, state: &State<D, F>, tick: Tick) -> diffkern::Result<State<D, F>> {
        match &state.phase {
            Some(phase) => self.lagrangian_step(phase.clone(), tick),
            None => self.step(state, &(), tick),
        }
    }

    fn expect_particles(&self, state: &State<D, F>) -> Result<()> {
        match self.packed.len() {
            n if n == state.len() => Ok(()),
            n => Err(Error::invalid("number of particles", state.len(), format!("{n}, as the solver was made for"))),
        }
    }

    pub(super) fn too_many(&self, nodes: usize) -> diffkern::Error {
        let bytes = nodes * (size_of::<D::Homogeneous<F>>() + size_of::<D::Vector<F>>());
        let reason = format!("particles reach {nodes} nodes, the limit is {}", self.model.node_limit());
        diffkern::Error::Memory { device: self.model.device().name().to_owned(), bytes, reason }
    }
}

/// An array of a model with colliders, which is one in space.
pub(super) fn in_space<T: Element, F: Float>(array: &Array<T>) -> diffkern::Result<Array<Vec3<F>>> {
    Array::try_from(array.as_any().clone())
}

impl<D: Dimension, F: Float> Step for Solver<D, F> {
    type State = State<D, F>;
    type Control = ();

    fn dt(&self) -> f64 {
        self.model.dt()
    }

    /// One explicit step. It fails where a particle is outside the grid, and beyond [`Model::with_node_limit`].
    fn step(&self, state: &State<D, F>, (): &(), tick: Tick) -> diffkern::Result<State<D, F>> {
        if self.model.transfer() != Transfer::Apic {
            return self.lagrangian_step(self.kept_phase(state, tick)?, tick);
        }
        let (device, n) = (self.model.device(), state.len());
        let active = self.active(state)?;
        if active.nodes() > self.model.node_limit() {
            return Err(self.too_many(active.nodes()));
        }

        let state = &self.pushed(state, tick)?;
        let f = device.uninit::<D::Matrix<F>>(n)?;
        let momentum = device.zeros::<D::Homogeneous<F>>(active.nodes())?;
        self.particles_to_grid(state, &active, &f, &momentum, tick.dt)?;

        let velocity = device.uninit::<D::Vector<F>>(active.nodes())?;
        self.update_grid(&active, &momentum, &velocity, tick.dt)?;
        let velocity = self.held_back_on_grid(&active, velocity, tick)?;

        let (x, v, c) = (device.uninit(n)?, device.uninit(n)?, device.uninit(n)?);
        let next = State { x, v, c, f, phase: None };
        let (grid, dt) = (self.model.shape(), self.model.real(tick.dt));
        grid_to_particles::<F, D>(n, &state.x, &velocity, &active.table, &next.x, &next.v, &next.c, grid, dt)?;
        Ok(next)
    }

    /// Whether every particle is finite, uninverted (`det F > 0`), slower than one cell a step, and on the grid where a later step needs it.
    fn check(&self, state: &State<D, F>, step: usize) -> Result<()> {
        check::state(&self.model, state, step)
    }

    fn obstacle(&self, state: &State<D, F>, step: usize) -> diffkern::Result<Option<Error>> {
        if self.model.transfer().lasts() {
            return Ok(None);
        }
        let (nodes, limit) = (self.active_nodes(state)?, self.model.node_limit());
        Ok((nodes > limit).then_some(Error::Scattered { step, nodes, limit }))
    }

    /// On the part of the grid around the particles, which may be sorted meanwhile ([`Sorting`](super::Sorting)); the result is in
    /// the order of `state`.
    fn roll<C>(self, state: &State<D, F>, span: Span, _: C, schedule: Schedule) -> diffkern::Result<State<D, F>>
    where
        C: Fn(&State<D, F>, Tick) -> diffkern::Result<()> + Clone + 'static,
    {
        self.expect_particles(state)?;
        if self.model.transfer() != Transfer::Apic {
            return self.in_phases(state, span, schedule);
        }
        let near = self.near(state, span.duration())?;
        match near.clone().in_order(state, span, schedule) {
            // A GPU does not report a particle that has left the part of the grid that was predicted: it stays outside.
            Ok(end) if check::on_grid(near.model(), &end)? => Ok(end),
            Ok(_) | Err(diffkern::Error::Index { .. }) => self.in_order(state, span, schedule),
            Err(error) => Err(error),
        }
    }
}
