//! Two balls on a table as the camera sees them: from all unknowns to pixels.

use super::film::{Calibrated, Film};
use crate::error::Result;
use diffkern::jvp;
use diffkern::prelude::*;
use diffkern_sim::Step as _;
use diffkern_sim::collision::Pose;
use diffkern_sim::rigid::{Body, Control, Impacts, Impulse, Mass, Model, Plane, State};

/// Radius \[m\], mass \[kg\], and inertia by mass and squared radius of a tennis ball: a shell of rubber and felt a sixth of the radius thick.
const RADIUS: f64 = 0.06858 / 2.0;
const MASS: f64 = 0.0577;
const SHELL: f64 = 0.56;
const GRAVITY: f64 = 9.81;
/// Steps from frame to frame.
const STEPS: usize = 4;

/// Numbers of the motion: places and velocities along the table, spins about axes along the table times the radius, of both balls; then
/// restitution and friction. The camera: a turn, a shift \[m\], and the logarithm of a factor of the focal length.
pub(super) const MOTION: usize = 14;
/// All of them.
pub(super) const ALL: usize = 21;
/// Where restitution, friction and the camera are.
pub(super) const RESTITUTION: usize = 12;
pub(super) const FRICTION: usize = 13;

/// How the calibrated camera is changed: turned, shifted \[m\], and its focal length times `exp(zoom)`.
#[diff_struct]
pub struct Shot<F> {
    /// Rotation vector, of the frame of the camera.
    pub turn: Vec3<F>,
    /// Shift \[m\].
    pub shift: Vec3<F>,
    /// Logarithm of the factor.
    pub zoom: F,
}

/// The camera as it was calibrated, as kernels take it.
#[diff_struct]
pub struct Lens<F> {
    /// From the world to the camera.
    pub rotation: Mat3<F>,
    /// Origin of the world \[m\].
    pub translation: Vec3<F>,
    /// Focal length \[px\].
    pub focal: F,
    /// Middle of the picture \[px\].
    pub u: F,
    /// The same, down.
    pub v: F,
}

/// Where points \[m\] are in the picture \[px\], to the right and down.
#[diff_kernel]
pub fn pixels<F: Float>(x: &Array<Vec3<F>>, view: &Array<Shot<F>>, lens: &Array<Lens<F>>, seen: &mut Array<Vec2<F>>) {
    let i = ABSOLUTE_POS;
    let (camera, change) = (lens[0], view[0]);
    let turned = Quat::from_rotation_vector(change.turn).rotate(camera.rotation * x[i]);
    let y = turned + camera.translation + change.shift;
    let scale = camera.focal * change.zoom.exp() / y.z;
    seen[i] = Vec2::new(camera.u + scale * y.x, camera.v - scale * y.y);
}

/// What is seen of some unknowns, with derivatives by some of them.
pub(super) struct Seen {
    /// Of both balls at each frame, then of the points of the calibration \[px\].
    pub(super) pixels: Vec<[f64; 2]>,
    pub(super) derivatives: Vec<Vec<[f64; 2]>>,
}

/// Everything that depends on no unknown.
pub(super) struct Balls {
    device: Device,
    model: Model<f64>,
    lens: Array<Lens<f64>>,
    points: Array<Vec3<f64>>,
    frames: usize,
    dt: f64,
}

/// The unknowns as arrays.
struct Inputs {
    poses: Array<Pose<f64>>,
    motion: Array<f64>,
    restitution: Array<f64>,
    friction: Array<f64>,
    view: Array<Shot<f64>>,
}

impl Balls {
    /// Of a film.
    pub(super) fn new(film: &Film) -> Result<Self> {
        let (device, dt) = (Device::cpu(), film.dt);
        let table = Plane { normal: [0.0, 0.0, 1.0], offset: 0.0, restitution: 0.0, friction: 0.1 };
        let bodies = [Body::ball(RADIUS, RADIUS)?, Body::ball(RADIUS, RADIUS)?];
        // A ball touches the table at one point: nothing has to settle.
        let impacts = Impacts { most: 2, sweeps: 2, ..Impacts::new(vec![table]) };
        let model = Model::new(&device, &bodies, dt / STEPS as f64, &[])?
            .with_impacts(impacts)?
            .with_pairs(0.5, Impulse::TimeOfImpact)?;
        let Calibrated { rotation, translation, focal, middle: [u, v], points } = film.camera.clone();
        let points: Vec<Vec3<f64>> = points.iter().map(|(x, _)| *x).collect();
        let lens = device.array(&[Lens { rotation, translation, focal, u, v }])?;
        Ok(Self { points: device.array(&points)?, lens, model, device, frames: film.pixels.len(), dt })
    }

    fn inputs(&self, x: &[f64; ALL], unit: bool) -> Result<Inputs> {
        let (one, height) = if unit { (0.0, 0.0) } else { (1.0, RADIUS) };
        let still = Vec3::zero();
        let pose = |b: usize| Pose {
            centre: Vec3::new(x[2 * b], x[2 * b + 1], height),
            rotation: Quat::new(one, 0.0, 0.0, 0.0),
            velocity: still,
            spin: still,
        };
        // A ball that rolls along x turns about y.
        let moves = |b: usize| {
            let (v, roll) = ([x[4 + 2 * b], x[5 + 2 * b]], [x[8 + 2 * b], x[9 + 2 * b]]);
            [v[0], v[1], 0.0, -roll[1] / RADIUS, roll[0] / RADIUS, 0.0]
        };
        let view = Shot { turn: Vec3::new(x[14], x[15], x[16]), shift: Vec3::new(x[17], x[18], x[19]), zoom: x[20] };
        let device = &self.device;
        Ok(Inputs {
            poses: device.array(&[pose(0), pose(1)])?,
            motion: device.array(&[moves(0), moves(1)].concat())?,
            restitution: device.array(&[x[RESTITUTION]])?,
            friction: device.array(&[x[FRICTION]])?,
            view: device.array(&[view])?,
        })
    }

    /// Launches alone.
    fn observe(&self, inputs: &Inputs) -> Result<Vec<Array<Vec2<f64>>>> {
        let mut params = self.model.params(1.0, [0.0, 0.0, -GRAVITY])?;
        let inertia = SHELL * MASS * RADIUS * RADIUS;
        params.mass = Mass::Total(self.device.array(&[MASS])?);
        params.inertia = Some(self.device.array(&[Mat3::from_diagonal(Vec3::splat(inertia)); 2])?);
        params.pairs = Some(inputs.restitution.clone());
        if let Some(impact) = params.impact.as_mut() {
            impact.friction = inputs.friction.clone();
        }
        let mut state: State<f64> =
            self.model.launch(&params, &inputs.poses, &inputs.motion, -0.5 * self.dt / STEPS as f64)?;
        let solver = self.model.solver(&params, &state)?;
        let mut seen = vec![self.see(&state.x, inputs)?];
        for step in 0..(self.frames - 1) * STEPS {
            state = solver.step(&state, &Control::default(), solver.tick(step))?;
            if (step + 1) % STEPS == 0 {
                seen.push(self.see(&state.x, inputs)?);
            }
        }
        seen.push(self.see(&self.points, inputs)?);
        Ok(seen)
    }

    fn see(&self, x: &Array<Vec3<f64>>, inputs: &Inputs) -> Result<Array<Vec2<f64>>> {
        let seen = self.device.uninit(x.len())?;
        pixels(x.len(), x, &inputs.view, &self.lens, &seen)?;
        Ok(seen)
    }

    /// What is seen, with derivatives by the unknowns named by their places.
    pub(super) fn seen(&self, x: &[f64; ALL], by: &[usize]) -> Result<Seen> {
        let inputs = self.inputs(x, false)?;
        let unit = |k: usize| self.inputs(&std::array::from_fn(|j| if j == k { 1.0 } else { 0.0 }), true);
        let units: Vec<Inputs> = by.iter().map(|&k| unit(k)).collect::<Result<_>>()?;
        let pairs: Vec<_> = units
            .iter()
            .map(|seed| {
                [
                    (inputs.poses.as_any(), seed.poses.as_any()),
                    (inputs.motion.as_any(), seed.motion.as_any()),
                    (inputs.restitution.as_any(), seed.restitution.as_any()),
                    (inputs.friction.as_any(), seed.friction.as_any()),
                    (inputs.view.as_any(), seed.view.as_any()),
                ]
            })
            .collect();
        let directions: Vec<diffkern::Direction<'_>> = pairs.iter().map(|pair| pair.as_slice()).collect();
        let (arrays, tangents) = jvp(&directions, || self.observe(&inputs))?;
        let host = |array: &Array<Vec2<f64>>| -> Result<Vec<[f64; 2]>> {
            Ok(array.to_vec()?.into_iter().map(|p| [p.x, p.y]).collect())
        };
        let all = |arrays: &mut dyn Iterator<Item = Result<Vec<[f64; 2]>>>| -> Result<Vec<[f64; 2]>> {
            Ok(arrays.collect::<Result<Vec<_>>>()?.concat())
        };
        let along = |k: usize| all(&mut arrays.iter().map(|array| host(&tangents.get(k, array)?)));
        Ok(Seen {
            derivatives: (0..by.len()).map(along).collect::<Result<_>>()?,
            pixels: all(&mut arrays.iter().map(host))?,
        })
    }
}
