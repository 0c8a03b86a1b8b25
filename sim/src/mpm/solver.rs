//! The step, and what repeats it.

use super::blocks::Active;
use super::check;
use super::g2p::grid_to_particles;
use super::grid_update::{NodeStep, update_grid};
use super::model::Model;
use super::occupied::base_nodes;
use super::order::Order;
use super::p2g::{Transfer, particles_to_grid};
use super::pack::{pack_friction, pack_material};
use super::params::Params;
use super::state::State;
use crate::error::{Error, Result};
use crate::material::with_law;
use diffkern::Schedule;
use diffkern::prelude::*;

/// A model with its parameters: takes a state to the next.
#[derive(Clone, Debug)]
pub struct Solver<D: Dimension, F: Float> {
    model: Model<D, F>,
    /// See `pack_material`.
    pub(crate) packed: Array<Vec4<F>>,
    /// See `pack_friction`.
    planes: Array<Vec4<F>>,
    pub(crate) gravity: Array<D::Vector<F>>,
    damping: Array<F>,
}

impl<D: Dimension, F: Float> Solver<D, F> {
    pub(crate) fn new(model: Model<D, F>, params: &Params<D, F>, particles: usize) -> Result<Self> {
        params.check(particles)?;
        let friction = model.friction(params.friction.as_ref())?;
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
        pack_friction(planes.len() / 2, &model.planes, &friction, &planes)?;
        let (gravity, damping) = (params.gravity.clone(), params.damping.clone());
        Ok(Solver { model, packed, planes, gravity, damping })
    }

    /// The model.
    pub fn model(&self) -> &Model<D, F> {
        &self.model
    }

    /// One explicit step of `dt`, state in, state out.
    ///
    /// # Errors
    /// When a launch fails, which a particle outside the grid causes; beyond [`Model::with_node_limit`].
    pub fn step(&self, state: &State<D, F>) -> diffkern::Result<State<D, F>> {
        let (device, n) = (self.model.device(), state.len());
        let active = self.active(state)?;
        if active.nodes() > self.model.node_limit() {
            return Err(self.too_many(active.nodes()));
        }

        let f = device.uninit::<D::Matrix<F>>(n)?;
        let momentum = device.zeros::<D::Homogeneous<F>>(active.nodes())?;
        self.particles_to_grid(state, &active, &f, &momentum)?;

        let velocity = device.uninit::<D::Vector<F>>(active.nodes())?;
        self.update_grid(&active, &momentum, &velocity)?;

        let (x, v, c) = (device.uninit(n)?, device.uninit(n)?, device.uninit(n)?);
        let next = State { x, v, c, f };
        let (grid, dt) = (self.model.shape(), self.model.real(self.model.dt()));
        grid_to_particles::<F, D>(n, &state.x, &velocity, &active.table, &next.x, &next.v, &next.c, grid, dt)?;
        Ok(next)
    }

    /// Adds the particles to the cleared `nodes` and writes the new deformation gradients `f_next`.
    fn particles_to_grid(
        &self,
        state: &State<D, F>,
        active: &Active,
        f_next: &Array<D::Matrix<F>>,
        nodes: &Array<D::Homogeneous<F>>,
    ) -> diffkern::Result<()> {
        let (model, State { x, v, c, f }) = (&self.model, state);
        let (grid, dt) = (model.shape(), model.real(model.dt()));
        let touching = model.touching;
        let step = Transfer { grid, dt, touching, touching_end: u32::BITS - touching.leading_zeros() };
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
    ) -> diffkern::Result<()> {
        let (model, gravity, damping) = (&self.model, &self.gravity, &self.damping);
        let (masks, kinds, list, planes) = (&model.masks, &model.kinds, &active.list, &self.planes);
        let plane_count = model.half_spaces().len() as u32;
        let step = NodeStep { dt: model.real(model.dt()), cutoff: model.real(model.mass_cutoff()), plane_count };
        update_grid::<F, D>(nodes.len(), nodes, masks, list, planes, kinds, gravity, damping, velocity, step)
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

    /// `steps` steps as one rollout on the part of the grid around the particles, which a recording tape replays by
    /// `schedule`; then the checks of [`Solver::check`]. `first_step` is where the error messages start to count. Particles
    /// may be sorted meanwhile ([`Sorting`](super::Sorting)); the result is in the order of `state`.
    ///
    /// # Errors
    /// When a launch or a check fails; the message names the first step and particle at which it does.
    pub fn advance(
        &self,
        state: &State<D, F>,
        first_step: usize,
        steps: usize,
        schedule: Schedule,
    ) -> Result<State<D, F>> {
        self.expect_particles(state)?;
        let near = self.near(state, steps)?;
        let end = match near.clone().roll(state, steps, schedule) {
            // A GPU does not report a particle that has left the part of the grid that was predicted: it stays outside.
            Ok(end) if check::on_grid(near.model(), &end)? => Ok(end),
            Ok(_) | Err(diffkern::Error::Index { .. }) => self.clone().roll(state, steps, schedule),
            Err(error) => Err(error),
        };
        let checked = match end {
            Ok(end) => self.check(&end, first_step + steps).map(|()| end),
            Err(error @ (diffkern::Error::Index { .. } | diffkern::Error::Memory { .. })) => Err(error.into()),
            // No particle is to blame: a budget that is too small, a device that fails.
            Err(error) => return Err(error.into()),
        };
        checked.map_err(|error| self.first_fault(state, first_step, steps).unwrap_or(error))
    }

    fn roll(self, state: &State<D, F>, steps: usize, schedule: Schedule) -> diffkern::Result<State<D, F>> {
        let Some(order) = Order::of(&self, state, steps)? else {
            return diffkern::rollout(steps, schedule, state.clone(), move |s, _| self.step(s));
        };
        let solver = order.solver(self)?;
        let end = diffkern::rollout(steps, schedule, order.apply(state)?, move |s, _| solver.step(s))?;
        order.undo(&end)
    }

    /// The same with other particles, as many.
    pub(super) fn with_packed(self, packed: Array<Vec4<F>>) -> Self {
        Solver { packed, ..self }
    }

    /// The same parameters with another model.
    pub(super) fn on(&self, model: Model<D, F>) -> Self {
        Solver { model, ..self.clone() }
    }

    /// `frames` frames of `steps` steps each; `see` gets every frame, number 0 being `state` itself.
    ///
    /// # Errors
    /// As [`Solver::advance`], and what `see` returns.
    pub fn frames(
        &self,
        state: &State<D, F>,
        frames: usize,
        steps: usize,
        schedule: Schedule,
        mut see: impl FnMut(usize, &State<D, F>) -> Result<()>,
    ) -> Result<State<D, F>> {
        let mut now = state.clone();
        for frame in 0..frames {
            if frame > 0 {
                now = self.advance(&now, (frame - 1) * steps, steps, schedule)?;
            }
            see(frame, &now)?;
        }
        Ok(now)
    }

    /// Whether every particle is finite, uninverted (`det F > 0`), on the grid, and slower than one cell a step. Reads
    /// the state to the host.
    ///
    /// # Errors
    /// On the first particle that is not, with its values; `step` is the number of steps taken.
    pub fn check(&self, state: &State<D, F>, step: usize) -> Result<()> {
        check::state(&self.model, state, step)
    }

    fn expect_particles(&self, state: &State<D, F>) -> Result<()> {
        match self.packed.len() {
            n if n == state.len() => Ok(()),
            n => Err(Error::invalid("number of particles", state.len(), format!("{n}, as the solver was made for"))),
        }
    }

    fn too_many(&self, nodes: usize) -> diffkern::Error {
        let bytes = nodes * (size_of::<D::Homogeneous<F>>() + size_of::<D::Vector<F>>());
        let reason = format!("particles reach {nodes} nodes, the limit is {}", self.model.node_limit());
        diffkern::Error::Memory { device: self.model.device().name().to_owned(), bytes, reason }
    }

    /// Goes through the steps again, checking each, to find where it went wrong.
    fn first_fault(&self, state: &State<D, F>, first_step: usize, steps: usize) -> Option<Error> {
        let mut now = state.clone();
        for step in first_step..=first_step + steps {
            if let Err(error) = self.check(&now, step) {
                return Some(error);
            }
            let (nodes, limit) = (self.active_nodes(&now).ok()?, self.model.node_limit());
            if nodes > limit {
                return Some(Error::Scattered { step, nodes, limit });
            }
            now = self.step(&now).ok()?;
        }
        None
    }
}
