//! Springs between vertices, and their step.

use super::kernels::spring_forces;
use super::params::Params;
use crate::contact::{BoundObstacles, Collider, Obstacles};
use crate::error::{Error, Result, positive};
use crate::step::{Step, Tick};
use crate::vertices::{Motion, VertexState, held, one_or};
use diffkern::prelude::*;

/// Part of the longest step that linear theory allows which is taken: contacts and large rotations need the rest.
const CAUTION: f64 = 0.5;

/// The constant part of a network of springs.
#[derive(Clone, Debug)]
pub struct Model<F: Float> {
    pub(super) device: Device,
    pub(super) vertices: usize,
    springs: Vec<[u32; 2]>,
    ends: Array<u32>,
    dt: f64,
    held: Array<u32>,
    unactuated: Array<F>,
    obstacles: Option<Obstacles<F>>,
}

/// What acts on a step from outside; nothing by default.
#[derive(Clone, Debug)]
pub struct Control<F: Float> {
    /// Relative change of the rest lengths, one element or one a spring.
    pub actuation: Option<Array<F>>,
    /// Forces on the vertices \[N\].
    pub force: Option<Array<Vec3<F>>>,
}

impl<F: Float> Default for Control<F> {
    fn default() -> Self {
        Control { actuation: None, force: None }
    }
}

/// Springs with their parameters: takes a state to the next.
#[derive(Clone, Debug)]
pub struct Solver<F: Float> {
    pub(super) model: Model<F>,
    stiffness: Array<F>,
    damping: Array<F>,
    rest: Array<F>,
    pub(super) motion: Motion<F>,
}

impl<F: Float> Model<F> {
    /// `springs` between `vertices` vertices, with steps of `dt` \[s\]. The vertices in `keep` keep the velocity with which they start.
    ///
    /// # Errors
    /// When an index is out of range, a spring begins and ends at one vertex, or a value of a collider is out of its range.
    pub fn new(
        device: &Device,
        vertices: usize,
        springs: &[[u32; 2]],
        dt: f64,
        keep: &[u32],
        colliders: &[Collider],
    ) -> Result<Model<F>> {
        positive("time step", dt)?;
        if springs.is_empty() {
            return Err(Error::invalid("number of springs", 0, "at least 1"));
        }
        for (k, ends) in springs.iter().enumerate() {
            if let Some(end) = ends.iter().find(|&&end| end as usize >= vertices) {
                return Err(Error::invalid(format!("end of spring {k}"), end, format!("an index below {vertices}")));
            }
            if ends[0] == ends[1] {
                return Err(Error::invalid(format!("ends of spring {k}"), format!("{ends:?}"), "two vertices"));
            }
        }
        Ok(Model {
            device: device.clone(),
            vertices,
            springs: springs.to_vec(),
            ends: device.array(springs.as_flattened())?,
            dt,
            held: held(device, vertices, keep)?,
            unactuated: device.zeros(1)?,
            obstacles: (!colliders.is_empty()).then(|| Obstacles::new(device, colliders)).transpose()?,
        })
    }

    /// The colliders on the device: from them come the default parameters of their contacts.
    pub fn obstacles(&self) -> Option<&Obstacles<F>> {
        self.obstacles.as_ref()
    }

    /// A solver with these parameters for states like `state`. Call it where the tape records, so that gradients reach them.
    ///
    /// # Errors
    /// When a parameter has the wrong length.
    pub fn solver(&self, params: &Params<F>, state: &VertexState<F>) -> Result<Solver<F>> {
        if state.len() != self.vertices {
            return Err(Error::invalid(
                "number of vertices",
                state.len(),
                format!("{}, as in the model", self.vertices),
            ));
        }
        let per_spring =
            [("stiffness", &params.stiffness), ("springs.damping", &params.spring_damping), ("rest", &params.rest)];
        for (what, array) in per_spring {
            one_or(what, array.len(), self.springs.len(), "spring")?;
        }
        let motion = Motion {
            mass: params.mass.clone(),
            held: self.held.clone(),
            gravity: params.gravity.clone(),
            damping: params.damping.clone(),
            obstacles: Obstacles::bind(self.obstacles.as_ref(), params.contact.as_ref(), &self.device)?,
        };
        Ok(Solver {
            model: self.clone(),
            stiffness: params.stiffness.clone(),
            damping: params.spring_damping.clone(),
            rest: params.rest.clone(),
            motion: motion.checked(self.vertices)?,
        })
    }
}

impl<F: Float> crate::step::Model for Model<F> {
    type State = VertexState<F>;
    type Params = Params<F>;
    type Control = Control<F>;
    type Step = Solver<F>;

    fn bind(&self, params: &Params<F>, state: &VertexState<F>) -> Result<Solver<F>> {
        self.solver(params, state)
    }

    /// `2 / w` halved, with `w^2 = max over vertices of 2 / m sum k` over its springs and contacts (Gershgorin), and `m / sum c` by the
    /// damping.
    fn max_dt(&self, params: &Params<F>, state: &VertexState<F>) -> Result<f64> {
        let solver = self.solver(params, state)?;
        let host = |array: &Array<F>| -> Result<Vec<f64>> { Ok(array.to_vec()?.into_iter().map(F::to_f64).collect()) };
        let (stiffness, damping, mass) = (host(&params.stiffness)?, host(&params.spring_damping)?, host(&params.mass)?);
        let contact = solver.motion.obstacles.as_ref().map_or(Ok(0.0), BoundObstacles::stiffness)?;
        let (mut k, mut c) = (vec![0.5 * contact; self.vertices], vec![0.0; self.vertices]);
        for (s, ends) in self.springs.iter().enumerate() {
            for &end in ends {
                k[end as usize] += stiffness[s.min(stiffness.len() - 1)];
                c[end as usize] += damping[s.min(damping.len() - 1)];
            }
        }
        let limits = (0..self.vertices).map(|i| {
            let m = mass[i.min(mass.len() - 1)];
            let (elastic, viscous) = (2.0 * (m / (2.0 * k[i])).sqrt(), m / c[i]);
            CAUTION * elastic.min(viscous)
        });
        positive("stable time step", limits.fold(f64::INFINITY, f64::min))
    }
}

impl<F: Float> Step for Solver<F> {
    type State = VertexState<F>;
    type Control = Control<F>;

    fn dt(&self) -> f64 {
        self.model.dt
    }

    fn step(&self, state: &VertexState<F>, control: &Control<F>, tick: Tick) -> diffkern::Result<VertexState<F>> {
        let force = self.model.device.zeros::<Vec3<F>>(state.len())?;
        if let Some(outer) = &control.force {
            force.copy_from(outer)?;
        }
        if let Some(actuation) = &control.actuation {
            one_or("actuation", actuation.len(), self.model.springs.len(), "spring")?;
        }
        let actuation = control.actuation.as_ref().unwrap_or(&self.model.unactuated);
        let (ends, stiffness, damping, rest) = (&self.model.ends, &self.stiffness, &self.damping, &self.rest);
        spring_forces(ends.len() / 2, &state.x, &state.v, ends, stiffness, damping, rest, actuation, &force)?;
        self.motion.step(state, &force, tick)
    }

    fn check(&self, state: &VertexState<F>, step: usize) -> Result<()> {
        state.check(step)
    }
}
