//! Many cubes at once, tossed onto a table: from friction, restitution and length scale to their poses at each frame.

use crate::error::Result;
use diffkern::jvp;
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;
use diffkern_sim::rigid::{Body, Control, ImpactParams, Impacts, Mass, Model, Params, Plane, State};
use diffkern_sim::shape::{Cuboid, Primitive};
use diffkern_sim::{Step as _, Tick};
use serde::{Deserialize, Serialize};

/// Half a side \[m\], mass \[kg\] and moment of inertia \[kg m^2\] of the cube.
///
/// Source: DAIR Lab, contact-nets, `experiment.json`.
pub(super) const HALF: f64 = 0.0524;
pub(super) const MASS: f64 = 0.37;
pub(super) const INERTIA: f64 = 0.00081;
/// Acceleration of gravity \[m/s^2\].
pub(super) const GRAVITY: f64 = 9.81;
/// Steps from frame to frame.
pub(super) const STEPS: usize = 4;

/// Coulomb's coefficient, restitution, and what lengths of the data are to be multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Constants {
    /// Coefficient of friction.
    pub mu: f64,
    /// Coefficient of restitution.
    pub e: f64,
    /// True lengths by those of the data.
    pub s: f64,
}

impl Constants {
    /// In the order of derivatives.
    pub fn to_array(self) -> [f64; 3] {
        [self.mu, self.e, self.s]
    }

    /// From the order of derivatives.
    pub fn from_array([mu, e, s]: [f64; 3]) -> Self {
        Self { mu, e, s }
    }
}

/// Where a cube is and how it is turned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placed {
    pub(super) x: Vec3<f64>,
    pub(super) q: Quat<f64>,
}

/// Poses of all cubes at each frame, frame by frame.
pub(super) type Motion = Vec<Vec<Placed>>;

/// Poses with their derivatives by each of the constants.
pub(super) struct Linear {
    pub(super) motion: Motion,
    pub(super) derivatives: [Motion; 3],
}

/// Cubes that are tossed, each by itself.
pub(super) struct Cubes {
    device: Device,
    model: Model<f64>,
    poses: Array<Pose<f64>>,
    motions: Array<f64>,
    corners: Vec<Vec3<f64>>,
    dt: f64,
}

/// What of the model depends on the constants; or the derivative of that by one.
struct Inputs {
    vertices: Array<Vec3<f64>>,
    gravity: Array<Vec3<f64>>,
    inertia: Array<Mat3<f64>>,
    friction: Array<f64>,
    restitution: Array<f64>,
}

impl Cubes {
    /// From these poses and velocities, in the lengths of the data; frames are `dt` \[s\] apart.
    pub(super) fn new(starts: &[Pose<f64>], dt: f64) -> Result<Self> {
        let device = Device::cpu();
        let surface = Primitive::Cuboid(Cuboid { sides: [2.0 * HALF; 3] }).surface(4.0 * HALF)?;
        let body = Body::new(surface);
        let corners = body.mesh().vertices().iter().map(|v| Vec3::from_array(*v)).collect();
        let table = Plane { normal: [0.0, 0.0, 1.0], offset: 0.0, restitution: 0.0, friction: 0.0 };
        let bodies = vec![body; starts.len()];
        let model = Model::new(&device, &bodies, dt / STEPS as f64, &[])?.with_impacts(Impacts::new(vec![table]))?;
        let of = |start: &Pose<f64>| [start.velocity.to_array(), start.spin.to_array()].concat();
        let motions: Vec<f64> = starts.iter().flat_map(of).collect();
        let (poses, motions) = (device.array(starts)?, device.array(&motions)?);
        Ok(Self { device, model, poses, motions, corners, dt })
    }

    /// Lengths are as in the data: those of the cube and of gravity by `s`.
    fn inputs(&self, [mu, e, s]: [f64; 3]) -> Result<Inputs> {
        self.arrays([mu, e], 1.0 / s, -GRAVITY / s, INERTIA / (s * s))
    }

    /// The derivatives of these, by each of the constants.
    fn slopes(&self, s: f64) -> Result<Inputs> {
        let square = s * s;
        self.arrays([1.0; 2], -1.0 / square, GRAVITY / square, -2.0 * INERTIA / (square * s))
    }

    fn arrays(&self, [mu, e]: [f64; 2], size: f64, fall: f64, inertia: f64) -> Result<Inputs> {
        let (n, device) = (self.model.bodies().len(), &self.device);
        let vertices: Vec<Vec3<f64>> = (0..n).flat_map(|_| self.corners.iter().map(|c| *c * size)).collect();
        Ok(Inputs {
            vertices: device.array(&vertices)?,
            gravity: device.array(&[Vec3::new(0.0, 0.0, fall)])?,
            inertia: device.array(&vec![Mat3::from_diagonal(Vec3::splat(inertia)); n])?,
            friction: device.array(&[mu])?,
            restitution: device.array(&[e])?,
        })
    }

    fn params(&self, inputs: &Inputs) -> Result<Params<f64>> {
        let mut params = self.model.params(1.0, [0.0; 3])?;
        params.mass = Mass::Total(self.device.array(&[MASS])?);
        params.vertices = inputs.vertices.clone();
        params.gravity = inputs.gravity.clone();
        params.inertia = Some(inputs.inertia.clone());
        params.impact = Some(ImpactParams {
            restitution: inputs.restitution.clone(),
            friction: inputs.friction.clone(),
            planes: self.device.array(&[Vec4::new(0.0, 0.0, 1.0, 0.0)])?,
        });
        Ok(params)
    }

    /// The states at frames `0..frames`: launches alone.
    fn states(&self, inputs: &Inputs, frames: usize) -> Result<Vec<State<f64>>> {
        let h = self.dt / STEPS as f64;
        let params = self.params(inputs)?;
        let mut state = self.model.launch(&params, &self.poses, &self.motions, -0.5 * h)?;
        let solver = self.model.solver(&params, &state)?;
        let mut states = vec![state.clone()];
        for step in 0..frames.saturating_sub(1) * STEPS {
            let tick: Tick = solver.tick(step);
            state = solver.step(&state, &Control::default(), tick)?;
            if (step + 1) % STEPS == 0 {
                states.push(state.clone());
            }
        }
        Ok(states)
    }

    /// The motion with these constants.
    pub(super) fn motion(&self, constants: Constants, frames: usize) -> Result<Motion> {
        let states = self.states(&self.inputs(constants.to_array())?, frames)?;
        states.iter().map(|state| placed(&state.x, &state.q)).collect()
    }

    /// The same with its derivatives.
    pub(super) fn linearise(&self, constants: Constants, frames: usize) -> Result<Linear> {
        let (inputs, by) = (self.inputs(constants.to_array())?, self.slopes(constants.s)?);
        let by_mu = [(inputs.friction.as_any(), by.friction.as_any())];
        let by_e = [(inputs.restitution.as_any(), by.restitution.as_any())];
        let by_s = [
            (inputs.vertices.as_any(), by.vertices.as_any()),
            (inputs.gravity.as_any(), by.gravity.as_any()),
            (inputs.inertia.as_any(), by.inertia.as_any()),
        ];
        let (states, tangents) = jvp(&[&by_mu, &by_e, &by_s], || self.states(&inputs, frames))?;
        let along = |k: usize| -> Result<Motion> {
            states.iter().map(|state| placed(&tangents.get(k, &state.x)?, &tangents.get(k, &state.q)?)).collect()
        };
        let derivatives = [along(0)?, along(1)?, along(2)?];
        Ok(Linear { motion: states.iter().map(|s| placed(&s.x, &s.q)).collect::<Result<_>>()?, derivatives })
    }
}

fn placed(x: &Array<Vec3<f64>>, q: &Array<Quat<f64>>) -> Result<Vec<Placed>> {
    Ok(x.to_vec()?.into_iter().zip(q.to_vec()?).map(|(x, q)| Placed { x, q }).collect())
}
