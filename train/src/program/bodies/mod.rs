//! The bodies of a take in one of the simulators. The program of a take sees no more of it than this.

mod place;
mod particles;
mod elements;
mod shapes;
mod stepping;
mod pushes;
mod rigid;
mod plan;

pub(crate) use plan::Plan;
pub(super) use rigid::Runaway;

use super::inputs::{Inputs, of_four, vector_of};
use super::material::Properties;
use super::setup::GridOptions;
use crate::error::Result;
use crate::job::{Simulator, Values};
use crate::scene::{Part, Scene};
use diffkern::prelude::*;
use diffkern_render::Mesh;
use diffkern_sim::fem::lattice::{self, Skin};
use diffkern_sim::mesh::Surface;
use diffkern_sim::mpm::{self, Dim3, Transfer};
use diffkern_sim::{Observe as _, Step as _};
use elements::{Course, Elements};
use particles::Particles;
use rigid::{Moved, Rigid};

/// Bodies as particles on a grid, as cells of a lattice, or rigid.
pub(crate) enum Bodies<F: Float> {
    Mpm(Box<Particles<F>>),
    Fem(Box<Elements<F>>),
    Rigid(Box<Rigid<F>>),
}

/// A simulator with the numbers of a run, and its steps from one frame to the next.
pub(crate) enum Solver<F: Float> {
    Mpm(Box<mpm::Solver<Dim3, F>>, usize),
    Fem(Box<Course<F>>),
    Rigid(Box<rigid::Course<F>>),
}

/// What flows.
#[derive(Clone)]
pub(crate) enum State<F: Float> {
    Mpm(mpm::State<Dim3, F>),
    Fem(lattice::State<F>),
    Rigid(Moved<F>),
}

/// Points that follow the bodies.
pub(crate) enum Points<F: Float> {
    Mpm(Surface<F>),
    Fem(Skin<F>),
    /// Four vertices each, and their weights.
    Rigid(Array<u32>, Array<F>),
}

/// A point that is a sum over the sites of a state by their weights.
pub(crate) struct Mean {
    pub(crate) weights: Vec<f64>,
    /// Of what does not move \[m\].
    pub(crate) offset: [f64; 3],
}

/// Where properties are known, at rest: particles, centres of cells, or of rigid bodies.
pub(crate) struct Sites {
    pub(crate) at: Vec<[f64; 3]>,
    pub(crate) body_of: Vec<u32>,
}

/// What the bodies of a run depend on, on a device.
pub(super) struct Numbers<'a, F: Float> {
    pub(super) properties: Properties<F>,
    pub(super) gravity: Array<Vec3<F>>,
    pub(super) damping: &'a Array<F>,
    /// Shear moduli and relaxation times.
    pub(super) branches: [&'a Array<F>; 2],
    pub(super) load: &'a Array<F>,
    pub(super) motion: &'a Array<F>,
    pub(super) place: &'a Array<F>,
    pub(super) collider_motion: &'a Array<F>,
    pub(super) friction: &'a Array<F>,
    pub(super) restitution: &'a Array<F>,
}

impl<'a, F: Float> Numbers<'a, F> {
    pub(super) fn new(properties: Properties<F>, inputs: &'a Inputs<F>) -> diffkern::Result<Self> {
        let gravity = inputs[Part::Gravity].device().uninit(1)?;
        vector_of(1, &inputs[Part::Gravity], &gravity, 0)?;
        let [motion, place, collider_motion] =
            [Part::Motion, Part::Place, Part::ColliderMotion].map(|part| &inputs[part]);
        let [friction, restitution] = [Part::Friction, Part::Restitution].map(|part| &inputs[part]);
        let [damping, load] = [Part::Damping, Part::Load].map(|part| &inputs[part]);
        let branches = [Part::BranchModulus, Part::BranchTime].map(|part| &inputs[part]);
        Ok(Self { properties, gravity, damping, branches, load, motion, place, collider_motion, friction, restitution })
    }
}

impl<F: Float> Bodies<F> {
    /// Of a take.
    pub(super) fn new(
        scene: &Scene,
        take: usize,
        known: &Values,
        options: &GridOptions,
        device: &Device,
    ) -> Result<Self> {
        match options.simulator {
            Simulator::Mpm | Simulator::Tlmpm => {
                Ok(Self::Mpm(Box::new(Particles::new(scene, take, known, options, device)?)))
            }
            Simulator::Fem => Ok(Self::Fem(Box::new(Elements::new(scene, take, known, options, device)?))),
            Simulator::Rigid => Ok(Self::Rigid(Box::new(Rigid::new(scene, take, known, options, device)?))),
        }
    }

    /// Time step \[s\], of finite elements that of the hardest material.
    pub(crate) fn dt(&self) -> f64 {
        match self {
            Self::Mpm(bodies) => bodies.scene.model.dt(),
            Self::Fem(bodies) => bodies.scene.model.dt(),
            Self::Rigid(bodies) => bodies.dt(),
        }
    }

    /// Grid spacing, or edge of a cell \[m\].
    pub(crate) fn spacing(&self) -> f64 {
        match self {
            Self::Mpm(bodies) => bodies.scene.model.grid().dx(),
            Self::Fem(bodies) => bodies.spacing(),
            Self::Rigid(bodies) => bodies.thinnest(),
        }
    }

    /// Whether the grid may tear them.
    pub(super) fn may_tear(&self) -> bool {
        matches!(self, Self::Mpm(bodies) if bodies.scene.model.transfer() == Transfer::Apic)
    }

    /// Number of particles or cells.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Mpm(bodies) => bodies.scene.state.len(),
            Self::Fem(bodies) => bodies.count(),
            Self::Rigid(bodies) => bodies.points(),
        }
    }

    /// Steps from one frame to the next, at most.
    pub(crate) fn steps_per_frame(&self) -> usize {
        match self {
            Self::Mpm(bodies) => bodies.scene.steps_per_frame,
            Self::Fem(bodies) => bodies.scene.steps_per_frame,
            Self::Rigid(bodies) => bodies.steps_per_frame(),
        }
    }

    /// Where properties are known.
    pub(super) fn sites(&self) -> Result<Sites> {
        match self {
            Self::Mpm(bodies) => bodies.sites(),
            Self::Fem(bodies) => bodies.sites(),
            Self::Rigid(bodies) => Ok(bodies.sites()),
        }
    }

    /// What is drawn.
    pub(super) fn mesh(&self) -> Result<Mesh> {
        match self {
            Self::Mpm(bodies) => bodies.mesh(),
            Self::Fem(bodies) => bodies.mesh(),
            Self::Rigid(bodies) => bodies.mesh(),
        }
    }

    /// The body of each vertex of what is drawn.
    pub(crate) fn body_of_vertex(&self) -> Vec<u32> {
        match self {
            Self::Mpm(bodies) => bodies.scene.body_of_vertex.clone(),
            Self::Fem(bodies) => bodies.body_of_vertex(),
            Self::Rigid(bodies) => bodies.body_of_vertex(),
        }
    }

    /// Points of a body at the start \[m\].
    ///
    /// # Errors
    /// When a point is not on it.
    pub(super) fn points(&self, body: usize, points: &[[f64; 3]], device: &Device) -> diffkern_sim::Result<Points<F>> {
        match self {
            Self::Mpm(bodies) => Ok(Points::Mpm(bodies.scene.points(device, body, points)?)),
            Self::Fem(bodies) => Ok(Points::Fem(Skin::of_points_on(device, &bodies.scene.bodies, body, points)?)),
            Self::Rigid(bodies) => bodies.follow(body, points),
        }
    }

    /// The body that an error of the simulator is about, where it is about one.
    pub(super) fn blamed(&self, error: &diffkern_sim::Error) -> Option<usize> {
        match self {
            Self::Mpm(bodies) => bodies.blamed(error),
            Self::Fem(bodies) => bodies.blamed(error),
            Self::Rigid(_) => rigid::blamed(error),
        }
    }

    /// Vertices of what is drawn at the start \[m\]; none where the simulator has a surface of its own for each resolution.
    pub(super) fn drawn_at_start(&self) -> Option<Vec<[f64; 3]>> {
        match self {
            Self::Mpm(_) | Self::Rigid(_) => None,
            Self::Fem(bodies) => Some(bodies.scene.bodies.surface().copied().collect()),
        }
    }

    /// The centre of volume of a body: that of mass where its density is everywhere the same.
    pub(super) fn centre(&self, body: usize) -> Result<Mean> {
        match self {
            Self::Mpm(bodies) => bodies.centre(body),
            Self::Fem(bodies) => bodies.centre(body),
            Self::Rigid(bodies) => bodies.centre(body),
        }
    }

    /// Solver and state at time 0, by launches only.
    pub(super) fn bind(&self, numbers: Numbers<'_, F>) -> Result<(Solver<F>, State<F>)> {
        match self {
            Self::Mpm(bodies) => bodies.bind(numbers),
            Self::Fem(bodies) => bodies.bind(numbers),
            Self::Rigid(bodies) => bodies.bind(numbers),
        }
    }

    /// Vertices of what is drawn.
    pub(super) fn vertices(&self, state: &State<F>) -> diffkern_sim::Result<Array<Vec3<F>>> {
        match (self, state) {
            (Self::Mpm(bodies), State::Mpm(state)) => Ok(bodies.scene.surface.vertices(&state.x)?),
            (Self::Fem(bodies), State::Fem(state)) => bodies.scene.skin.vertices(state),
            (Self::Rigid(_), State::Rigid(moved)) => Ok(moved.vertices.clone()),
            (Self::Mpm(_), State::Fem(_) | State::Rigid(_)) => Err(mixed()),
            (Self::Fem(_), State::Mpm(_) | State::Rigid(_)) => Err(mixed()),
            (Self::Rigid(_), State::Mpm(_) | State::Fem(_)) => Err(mixed()),
        }
    }
}

impl<F: Float> Points<F> {
    /// Where they are \[m\] when the sites are at `x`.
    pub(crate) fn places(&self, x: &Array<Vec3<F>>) -> diffkern_sim::Result<Array<Vec3<F>>> {
        match self {
            Self::Mpm(points) => Ok(points.vertices(x)?),
            Self::Fem(points) => points.carried(x),
            Self::Rigid(index, weights) => {
                let places = x.device().uninit(index.len() / 4)?;
                of_four(places.len(), x, index, weights, &places)?;
                Ok(places)
            }
        }
    }
}

impl<F: Float> State<F> {
    /// Positions of particles, control points or, of rigid bodies, of vertices \[m\].
    pub(crate) fn x(&self) -> &Array<Vec3<F>> {
        match self {
            Self::Mpm(state) => &state.x,
            Self::Fem(state) => &state.x,
            Self::Rigid(moved) => &moved.vertices,
        }
    }
}

impl<F: Float> Solver<F> {
    /// The state at `frame`, from that at the frame before.
    pub(super) fn to_frame(&self, state: &State<F>, frame: usize) -> diffkern_sim::Result<State<F>> {
        match (self, state) {
            (Self::Mpm(solver, steps), State::Mpm(state)) => {
                Ok(State::Mpm(solver.advance(state, (frame - 1) * steps, *steps, Schedule::Auto)?))
            }
            (Self::Fem(course), State::Fem(state)) => Ok(State::Fem(course.to_frame(state, frame)?)),
            (Self::Rigid(course), State::Rigid(moved)) => Ok(State::Rigid(course.to_frame(moved, frame)?)),
            (Self::Mpm(..), State::Fem(_) | State::Rigid(_)) => Err(mixed()),
            (Self::Fem(..), State::Mpm(_) | State::Rigid(_)) => Err(mixed()),
            (Self::Rigid(_), State::Mpm(_) | State::Fem(_)) => Err(mixed()),
        }
    }

    /// The rigid body that runs away on the way from the state at the frame before `frame`, if one does. The other simulators say so themselves.
    pub(super) fn runaway(
        &self,
        from: &State<F>,
        to: &State<F>,
        frame: usize,
    ) -> diffkern_sim::Result<Option<Runaway>> {
        match (self, from, to) {
            (Self::Rigid(course), State::Rigid(from), State::Rigid(to)) => course.runaway(from, to, frame),
            (Self::Mpm(..) | Self::Fem(..) | Self::Rigid(_), _, _) => Ok(None),
        }
    }
}

/// Of a state that is given to the other simulator.
fn mixed() -> diffkern_sim::Error {
    diffkern_sim::Error::Invalid {
        what: "state".into(),
        value: "one of another simulator".into(),
        expected: "one of this".into(),
    }
}
