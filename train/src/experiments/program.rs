//! The differentiable program of an instance: from the unknowns to what is observed.

use super::instance::Instance;
use super::protocol::{Floor, Frames, Protocol};
use super::quantity::{Quantity, Unknown};
use super::sight::{camera, centre_numbers, lighting, mean_of_channels, state_numbers};
use crate::error::{Error, Result};
use diffkern::jvp;
use diffkern::memory::collect;
use diffkern::prelude::*;
use diffkern_render::{CameraParams, Lighting, Mesh, Renderer};
use diffkern_sim::collision::Pose;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::rigid::{Control, Mass, Model, Params, Pushes, Solver, State};
use diffkern_sim::{Model as _, Observe as _, Span, Step as _};
use serde::{Deserialize, Serialize};

/// What of a motion is observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Supervision {
    /// Pictures.
    Image,
    /// Centres of mass and orientations.
    State,
    /// Centres of mass.
    Com,
}

impl Supervision {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::State => "state",
            Self::Com => "com",
        }
    }
}

/// What is observed at each frame.
pub type Seen = Vec<Vec<f64>>;

/// What is observed, with its derivative by the logarithm of each unknown.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    pub(super) seen: Seen,
    pub(super) derivatives: Vec<Seen>,
}

/// Everything of an instance that depends on no unknown.
pub struct Program {
    device: Device,
    model: Model<f64>,
    params: Params<f64>,
    poses: Array<Pose<f64>>,
    pushes: Option<Pushes<f64>>,
    renderer: Renderer<f64>,
    camera: CameraParams<f64>,
    /// None where silhouettes are compared.
    lighting: Option<Lighting<f64>>,
    unknowns: Vec<Unknown>,
    supervision: Supervision,
    volume: f64,
    steps: usize,
}

impl Program {
    /// Of an instance, with `finer` times as many steps as the protocol says. Pictures are those of smooth surfaces.
    ///
    /// # Errors
    /// When steps are too long to be stable for all values in the ranges, or memory is short.
    pub fn new(protocol: &Protocol, instance: &Instance, supervision: Supervision, finer: usize) -> Result<Self> {
        let device = Device::cpu();
        let Frames { rate, steps, .. } = protocol.frames;
        let steps = steps * finer;
        let colliders: Vec<Collider> = protocol.floor.iter().map(collider).collect();
        let model = Model::new(&device, std::slice::from_ref(&instance.body), 1.0 / (rate * steps as f64), &colliders)?;
        let volume = instance.body.mesh().moments().volume;
        let (x, y, z) = protocol.gravity;
        let mut params = model.params(protocol.mass.unwrap_or(1.0) / volume, [x, y, z])?;
        if let Some(floor) = &protocol.floor {
            params.grip = device.array(&[floor.kf])?;
        }
        let mesh = instance.body.mesh();
        let pushes = instance.push.as_ref().map(|push| Pushes::new(&device, 1, std::slice::from_ref(push)));
        let program = Self {
            renderer: Renderer::new(&device, &Mesh::smooth(mesh.triangles().to_vec(), mesh.vertices().len())?)?,
            lighting: lighting(&device, protocol.picture, mesh.vertices().len())?,
            camera: camera(&protocol.camera).params(&device)?,
            poses: device.array(&[instance.pose])?,
            pushes: pushes.transpose()?,
            unknowns: protocol.unknowns.clone(),
            device,
            model,
            params,
            supervision,
            volume,
            steps,
        };
        program.check_step(protocol, instance)?;
        Ok(program)
    }

    /// One array for each unknown: the density \[kg/m^3\] in place of the mass, the others as they are.
    ///
    /// # Errors
    /// When memory is short.
    pub fn inputs(&self, values: &[f64]) -> diffkern::Result<Vec<Array<f64>>> {
        let one = |(unknown, value): (&Unknown, &f64)| self.device.array(&[self.factor(unknown.quantity) * value]);
        self.unknowns.iter().zip(values).map(one).collect()
    }

    /// From a quantity to the number that the model has in its place.
    fn factor(&self, quantity: Quantity) -> f64 {
        if quantity == Quantity::Mass { 1.0 / self.volume } else { 1.0 }
    }

    /// What is observed at each of the first `frames` frames: launches alone, so that a tape may record them and tangents go along.
    ///
    /// # Errors
    /// When the motion goes wrong, or a launch fails.
    pub fn observe(&self, inputs: &[Array<f64>], frames: usize) -> Result<Vec<Array<f64>>> {
        let params = self.bound(inputs);
        let mut state = self.model.start(&params, &self.poses)?;
        let solver = self.model.solver(&params, &state)?;
        let mut seen = Vec::with_capacity(frames);
        for frame in 0..frames {
            let span = Span::steps(frame * self.steps, self.steps, solver.dt());
            let pushes = self.pushes.clone();
            let control = move |_: &State<f64>, tick| match &pushes {
                Some(pushes) => pushes.control(tick),
                None => Ok(Control::default()),
            };
            state = solver.advance_with(&state, span, control, Schedule::Auto)?;
            seen.push(self.see(&solver, &state)?);
        }
        Ok(seen)
    }

    /// What is observed with these values.
    ///
    /// # Errors
    /// As [`Program::observe`].
    pub fn seen(&self, values: &[f64], frames: usize) -> Result<Seen> {
        self.observe(&self.inputs(values)?, frames)?.iter().map(host).collect()
    }

    /// The same with its derivatives.
    pub(super) fn linearise(&self, values: &[f64], frames: usize) -> Result<Linear> {
        let inputs = self.inputs(values)?;
        // The derivative of a number by its logarithm is the number.
        let seeds = self.inputs(values)?;
        let pairs: Vec<_> = inputs.iter().zip(&seeds).map(|(input, seed)| [(input.as_any(), seed.as_any())]).collect();
        let directions: Vec<diffkern::Direction<'_>> = pairs.iter().map(|pair| pair.as_slice()).collect();
        let (arrays, tangents) = jvp(&directions, || self.observe(&inputs, frames))?;
        let along = |k: usize| arrays.iter().map(|array| host(&tangents.get(k, array)?)).collect::<Result<Seen>>();
        let derivatives = (0..inputs.len()).map(along).collect::<Result<_>>()?;
        Ok(Linear { seen: arrays.iter().map(host).collect::<Result<_>>()?, derivatives })
    }

    fn bound(&self, inputs: &[Array<f64>]) -> Params<f64> {
        let mut params = self.params.clone();
        for (unknown, input) in self.unknowns.iter().zip(inputs) {
            let (input, contact) = (input.clone(), params.contact.as_mut());
            match (unknown.quantity, contact) {
                (Quantity::Mass, _) => params.mass = Mass::Density(input),
                (Quantity::Kf, _) => params.grip = input,
                (Quantity::Kd, Some(contact)) => contact.damping = input,
                (Quantity::Ke, Some(contact)) => contact.stiffness = input,
                (Quantity::Mu, Some(contact)) => contact.friction = input,
                // A protocol with such an unknown has a floor: it was checked.
                (Quantity::Kd | Quantity::Ke | Quantity::Mu, None) => {}
            }
        }
        params
    }

    fn see(&self, solver: &Solver<f64>, state: &State<f64>) -> Result<Array<f64>> {
        match self.supervision {
            Supervision::Image => {
                let vertices = solver.vertices(state)?;
                let Some(lighting) = &self.lighting else {
                    return Ok(self.renderer.silhouette(&vertices, &self.camera)?.coverage);
                };
                let color = self.renderer.shaded(&vertices, &self.camera, lighting)?.color;
                let brightness = self.device.uninit(color.len())?;
                mean_of_channels(color.len(), &color, &brightness)?;
                Ok(brightness)
            }
            Supervision::State => {
                let numbers = self.device.uninit(7)?;
                state_numbers(1, &state.x, &state.q, &numbers)?;
                Ok(numbers)
            }
            Supervision::Com => {
                let numbers = self.device.uninit(3)?;
                centre_numbers(1, &state.x, &numbers)?;
                Ok(numbers)
            }
        }
    }

    /// Refuses steps that are unstable for the lightest, stiffest and roughest values, or while the body turns as fast as its push makes it.
    fn check_step(&self, protocol: &Protocol, instance: &Instance) -> Result<()> {
        let worst: Vec<f64> =
            self.unknowns.iter().map(|u| if u.quantity == Quantity::Mass { u.range.0 } else { u.range.1 }).collect();
        let mut params = self.bound(&self.inputs(&worst)?);
        if let Some(contact) = &params.contact {
            // To the step both are dashpots.
            let grip = params.grip.to_vec()?[0].max(contact.damping.to_vec()?[0]);
            params.grip = self.device.array(&[grip])?;
        }
        let mut state = self.model.start(&params, &self.poses)?;
        if let Some(push) = &instance.push {
            let [begin, end] = push.interval;
            let arm = protocol.reach * Vec3::from_array(push.force).norm() * (end - begin);
            let l = state.l.to_vec()?[0];
            let along = if l.norm() > 0.0 { l / l.norm() } else { Vec3::new(1.0, 0.0, 0.0) };
            state.l = self.device.array(&[l + along * arm])?;
        }
        let (dt, most) = (self.model.bind(&params, &state)?.dt(), self.model.max_dt(&params, &state)?);
        if dt <= most {
            return Ok(());
        }
        let least = (self.steps as f64 * dt / most).ceil();
        let problem = format!(
            "{} from frame to frame, which makes steps of {dt:.2e} s; expected at least {least}, as steps longer than {most:.2e} s \
             are unstable for some values in the ranges",
            self.steps
        );
        Err(Error::argument("frames.steps", problem))
    }
}

fn collider(floor: &Floor) -> Collider {
    let (x, y, z) = floor.normal;
    let contact = Contact::KelvinVoigt { stiffness: floor.ke, damping: floor.kd };
    Collider::plane([0.0; 3], [x, y, z], contact).with_friction(floor.mu)
}

fn host(array: &Array<f64>) -> Result<Vec<f64>> {
    Ok(collect(array.to_vec()?.into_iter())?)
}
