//! Bodies with their parameters: takes a state to the next.

use super::contact::Touching;
use super::impact::Bounced;
use super::kernels::{Wrench, accelerate, add_loads, motions, place_vertices, turn, turn_in_body_frame};
use super::loads::{Control, Loads};
use super::model::{Integrator, Model};
use super::properties::MassProperties;
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
    pub(super) properties: Array<MassProperties<F>>,
    pub(super) vertices: Array<Vec3<F>>,
    pub(super) gravity: Array<Vec3<F>>,
    pub(super) grip: Array<F>,
    pub(super) obstacles: Option<BoundObstacles<F>>,
    pub(super) pairs: Option<Array<F>>,
    pub(super) bounced: Option<Bounced<F>>,
}

impl<F: Float> Solver<F> {
    /// Mass, centre and inertia of each body.
    pub fn properties(&self) -> &Array<MassProperties<F>> {
        &self.properties
    }

    /// Where the centres of mass are, how bodies are turned, and how both move.
    ///
    /// # Errors
    /// When a launch fails.
    pub fn poses(&self, state: &State<F>) -> diffkern::Result<Array<Pose<F>>> {
        let (n, State { x, q, v, l }) = (state.len(), state);
        let poses = self.model.device.uninit(n)?;
        motions(n, x, q, v, l, &self.properties, &poses)?;
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
            let (v, l) = self.accelerated(state, &self.wrench(state, control, tick)?, tick)?;
            let ((x, v), q) = (self.paired(&state.x, v, tick.dt)?, state.q.clone());
            bounced.bounce(State { x, q, v, l }, tick.dt, Some(&mut residuals))?;
        }
        Ok(residuals)
    }

    /// Velocities and angular momenta after the forces of a step.
    fn accelerated(
        &self,
        state: &State<F>,
        wrench: &Array<Wrench<F>>,
        tick: Tick,
    ) -> diffkern::Result<(Array<Vec3<F>>, Array<Vec3<F>>)> {
        let (n, dev) = (state.len(), &self.model.device);
        let (v, l) = (dev.uninit(n)?, dev.uninit(n)?);
        let h = F::from_f64(tick.dt);
        accelerate(n, &state.v, &state.l, wrench, &self.properties, &self.gravity, &v, &l, h)?;
        Ok((v, l))
    }

    /// Positions and velocities as collisions of balls in a step leave them.
    fn paired(
        &self,
        x: &Array<Vec3<F>>,
        v: Array<Vec3<F>>,
        h: f64,
    ) -> diffkern::Result<(Array<Vec3<F>>, Array<Vec3<F>>)> {
        match (&self.model.pairs, &self.pairs) {
            (Some(pairs), Some(restitution)) => pairs.collide(x, &v, &self.properties, restitution, h),
            _ => Ok((x.clone(), v)),
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
            add_loads(owner.len(), &state.q, properties, owner, point, force, share, &wrench)?;
        }
        if let Some(obstacles) = self.obstacles.as_ref().filter(|o| o.act_by_forces()) {
            let (points, poses) = (&self.model.geometry.points, &self.poses(state)?);
            let touching = Touching { points, vertices: &self.vertices, properties, poses };
            touching.add_forces(obstacles, &self.grip, &wrench, tick)?;
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
        let (n, dev, h) = (state.len(), &self.model.device, F::from_f64(tick.dt));
        let wrench = self.wrench(state, control, tick)?;
        let properties = &self.properties;
        let (v, momentum) = self.accelerated(state, &wrench, tick)?;
        let (from, v) = self.paired(&state.x, v, tick.dt)?;
        if let Some(bounced) = &self.bounced {
            return bounced.bounce(State { x: from, q: state.q.clone(), v, l: momentum }, tick.dt, None);
        }
        let (x, q) = (dev.uninit(n)?, dev.uninit(n)?);
        drift(n, &from, &v, &x, h)?;
        let l = match self.model.integrator {
            Integrator::Midpoint => {
                turn(n, &state.q, &momentum, properties, &q, h)?;
                momentum
            }
            Integrator::BodyFrame => {
                let l = dev.uninit(n)?;
                turn_in_body_frame(n, &state.q, &state.l, &wrench, properties, &q, &l, h)?;
                l
            }
        };
        Ok(State { x, q, v, l })
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
        place_vertices(n, &state.x, &state.q, &self.properties, &self.vertices, owner, &placed)?;
        Ok(placed)
    }
}
