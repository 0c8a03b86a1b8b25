//! Bodies with their parameters: takes a state to the next.

use super::between::BoundNeighbours;
use super::contact::Touching;
use super::impact::Bounced;
use super::joints::Jointed;
use super::kernels::{Wrench, accelerate, add_loads, motions, place_vertices, turn, turn_in_body_frame};
use super::loads::{Control, Loads};
use super::model::{Integrator, Model};
use super::properties::{MassProperties, Properties};
use super::springs::Sprung;
use super::state::State;
use crate::collision::Pose;
use crate::contact::BoundObstacles;
use crate::error::{Error, Result};
use crate::observe::Observe;
use crate::step::{Step, Tick};
use crate::vertices::kernels::drift;
use diffkern::prelude::*;

/// Rigid bodies with their parameters.
#[derive(Clone, Debug)]
pub struct Solver<F: Float> {
    pub(super) model: Model<F>,
    pub(super) properties: Properties<F>,
    pub(super) vertices: Array<Vec3<F>>,
    /// What touches, as kernels take it.
    pub(super) points: Array<Vec4<F>>,
    pub(super) gravity: Array<Vec3<F>>,
    pub(super) grip: Array<F>,
    pub(super) obstacles: Option<BoundObstacles<F>>,
    pub(super) pairs: Option<Array<F>>,
    pub(super) bounced: Option<Bounced<F>>,
    pub(super) jointed: Option<Jointed<F>>,
    pub(super) neighbours: Option<BoundNeighbours<F>>,
    pub(super) sprung: Option<Sprung<F>>,
}

impl<F: Float> Solver<F> {
    /// Mass, centre and inertia of each body.
    pub fn properties(&self) -> &Array<MassProperties<F>> {
        &self.properties.all
    }

    /// Where the centres of mass are, how bodies are turned, and how both move.
    ///
    /// # Errors
    /// When a launch fails.
    pub fn poses(&self, state: &State<F>) -> diffkern::Result<Array<Pose<F>>> {
        let (n, State { x, q, v, l }) = (state.len(), state);
        let poses = self.model.device.uninit(n)?;
        motions(n, x, q, v, l, &self.properties.inverse, &poses)?;
        Ok(poses)
    }

    /// For each round of impacts of a step, what its last sweeps changed an impulse by, at most, relative to the largest one: how far they are
    /// from settled.
    ///
    /// # Errors
    /// When a launch fails.
    pub fn residuals(&self, state: &State<F>, control: &Control<F>, tick: Tick) -> diffkern::Result<Vec<f64>> {
        let mut residuals = Vec::new();
        if let Some(bounced) = &self.bounced {
            let now = self.accelerated(state, &self.wrench(state, control, tick)?, tick)?;
            bounced.bounce(now, tick.dt, Some(&mut residuals))?;
        }
        Ok(residuals)
    }

    /// Force \[N\] and torque \[N m\] that each joint exerts on its child at the common point in a step, without friction; the opposite on its parent.
    ///
    /// # Errors
    /// When a launch fails.
    pub fn reactions(&self, state: &State<F>, control: &Control<F>, tick: Tick) -> diffkern::Result<Array<Wrench<F>>> {
        let Some(jointed) = &self.jointed else { return self.model.device.zeros(0) };
        let now = self.accelerated(state, &self.wrench(state, control, tick)?, tick)?;
        let reactions = self.model.device.zeros(jointed.count())?;
        jointed.at(&self.poses(state)?, &state.q)?.hold(now, tick.dt, Some(&reactions))?;
        Ok(reactions)
    }

    /// The state with the velocities and angular momenta after the forces of a step and the collisions of balls in it; these change positions
    /// too, see [`Pairs::collide`](super::impact::Pairs::collide).
    fn accelerated(&self, state: &State<F>, wrench: &Array<Wrench<F>>, tick: Tick) -> diffkern::Result<State<F>> {
        let (n, dev, properties) = (state.len(), &self.model.device, &self.properties);
        let (v, l) = (dev.uninit(n)?, dev.uninit(n)?);
        accelerate(n, &state.v, &state.l, wrench, &properties.mass, &self.gravity, &v, &l, F::from_f64(tick.dt))?;
        let now = State { v, l, ..state.clone() };
        match (&self.model.pairs, &self.pairs) {
            (Some(pairs), Some(restitution)) => pairs.collide(now, &properties.all, restitution, tick.dt),
            (Some(_), None) | (None, _) => Ok(now),
        }
    }

    /// What acts on the bodies in a step.
    fn wrench(&self, state: &State<F>, control: &Control<F>, tick: Tick) -> diffkern::Result<Array<Wrench<F>>> {
        let (n, properties) = (state.len(), &self.properties);
        let wrench = self.model.device.zeros(n)?;
        if let Some(outer) = &control.wrench {
            wrench.copy_from(outer)?;
        }
        if let Some(Loads { owner, point, force, share }) = &control.loads {
            add_loads(owner.len(), &state.q, &properties.all, owner, point, force, share, &wrench)?;
        }
        let obstacles = self.obstacles.as_ref().filter(|o| o.act_by_forces());
        if obstacles.is_some() || self.neighbours.is_some() {
            let points = &self.model.geometry.points;
            let touching = Touching { points, packed: &self.points, state };
            let apart = obstacles.is_some_and(|o| o.are_more_than_planes()) || self.neighbours.is_some();
            let placed = if apart { touching.placed()? } else { self.model.device.zeros(0)? };
            let bodies = self.poses(state)?;
            if let Some(obstacles) = obstacles {
                touching.add_forces(&placed, &bodies, obstacles, &self.grip, &wrench, tick)?;
            }
            if let Some(neighbours) = &self.neighbours {
                neighbours.add_forces(points, &placed, (&bodies, &properties.all), &self.grip, &wrench)?;
            }
        }
        if let Some(sprung) = &self.sprung {
            sprung.pull(&self.poses(state)?, &properties.all, control.actuation.as_ref(), &wrench)?;
        } else if control.actuation.is_some() {
            return Err(Error::invalid("actuation", "given", "none: the model has no springs").into());
        }
        if let Some(jointed) = &self.jointed {
            jointed.at(&self.poses(state)?, &state.q)?.rub(&state.l, &wrench)?;
        }
        Ok(wrench)
    }
}

impl<F: Float> Step for Solver<F> {
    type State = State<F>;
    type Control = Control<F>;

    fn dt(&self) -> f64 {
        self.model.dt
    }

    fn step(&self, state: &State<F>, control: &Control<F>, tick: Tick) -> diffkern::Result<State<F>> {
        let (n, dev, h, properties) = (state.len(), &self.model.device, F::from_f64(tick.dt), &self.properties);
        let wrench = self.wrench(state, control, tick)?;
        let mut now = self.accelerated(state, &wrench, tick)?;
        if let Some(jointed) = &self.jointed {
            now = jointed.at(&self.poses(state)?, &state.q)?.hold(now, tick.dt, None)?;
        }
        if let Some(bounced) = &self.bounced {
            return bounced.bounce(now, tick.dt, None);
        }
        let (x, q) = (dev.uninit(n)?, dev.uninit(n)?);
        drift(n, &now.x, &now.v, &x, h)?;
        let l = match self.model.integrator {
            Integrator::Midpoint => {
                turn(n, &now.q, &now.l, &properties.inverse, &q, h)?;
                now.l
            }
            Integrator::BodyFrame => {
                let l = dev.uninit(n)?;
                turn_in_body_frame(n, &state.q, &state.l, &wrench, &properties.all, &q, &l, h)?;
                l
            }
        };
        Ok(State { x, q, v: now.v, l })
    }

    fn check(&self, state: &State<F>, step: usize) -> Result<()> {
        state.check(step)
    }
}

/// The surfaces of all bodies, one after the other.
impl<F: Float> Observe<State<F>, F> for Solver<F> {
    fn triangles(&self) -> &[[u32; 3]] {
        &self.model.geometry.triangles
    }

    fn vertices(&self, state: &State<F>) -> Result<Array<Vec3<F>>> {
        let bodies = self.model.geometry.bodies.len();
        if state.len() != bodies {
            return Err(Error::invalid("number of bodies", state.len(), format!("{bodies}, as in the model")));
        }
        let (n, owner) = (self.vertices.len(), &self.model.geometry.owner);
        let placed = self.model.device.uninit(n)?;
        place_vertices(n, &state.x, &state.q, &self.properties.all, &self.vertices, owner, &placed)?;
        Ok(placed)
    }
}
