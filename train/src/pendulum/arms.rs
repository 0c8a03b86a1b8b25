//! Many double pendulums at once, each by itself: from constants and starts to angles at each sample.

use crate::error::Result;
use diffkern::jvp;
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;
use diffkern_sim::rigid::{Body, Control, Joint, JointKind, JointParams, Mass, Model, Params, State};
use diffkern_sim::shape::{Cuboid, Primitive};
use diffkern_sim::{Step as _, Tick};
use serde::{Deserialize, Serialize};

/// What is held: masses of both arms \[kg\], from the lower joint to the centre of mass of the lower arm \[m\], gravity \[m/s^2\].
///
/// A motion shows ratios alone, of inertias and torques to each other: of masses and this length all may be held, see [`Constants`].
///
/// Source: Kaheman et al., arXiv 2205.06231, estimated parameters of the double pendulum.
pub(super) const MASSES: [f64; 2] = [0.0938439748, 0.137595970];
pub(super) const LOWER_CENTRE: f64 = 0.116779018;
pub(super) const GRAVITY: f64 = 9.80858023;
/// Angular velocity at which dry friction is `1 / sqrt(2)` of what it is at high ones \[rad/s\].
pub(super) const SLIP: f64 = 0.05;
/// Longest step \[s\].
pub(super) const STEP: f64 = 1e-3;
/// Iterations that close joints.
const ITERATIONS: usize = 3;

/// Numbers of [`Constants`], and of a start.
pub(super) const ALL: usize = 8;
pub(super) const START: usize = 4;

/// What is to be found. With the masses, the length and the gravity that are held these are all that the motion of a double pendulum depends on:
/// were the arms of other masses, other values would move alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Constants {
    /// From the upper to the lower joint \[m\].
    pub length: f64,
    /// From the upper joint to the centre of mass of the upper arm \[m\].
    pub centre: f64,
    /// Moments of inertia of both arms about their centres of mass \[kg m^2\].
    pub inertia: [f64; 2],
    /// Torque of the upper and of the lower joint by angular velocity \[N m s/rad\].
    pub viscous: [f64; 2],
    /// Their torque of dry friction \[N m\].
    pub dry: [f64; 2],
}

impl Constants {
    /// In the order of derivatives.
    pub fn to_array(self) -> [f64; ALL] {
        let Self { length, centre, inertia: [a, b], viscous: [c, d], dry: [e, f] } = self;
        [length, centre, a, b, c, d, e, f]
    }

    /// From the order of derivatives.
    pub fn from_array([length, centre, a, b, c, d, e, f]: [f64; ALL]) -> Self {
        Self { length, centre, inertia: [a, b], viscous: [c, d], dry: [e, f] }
    }
}

/// Both angles of each pendulum at each sample, sample by sample \[rad\].
pub(super) type Motion = Vec<Vec<[f64; 2]>>;

/// A motion with its derivatives by the constants that were asked for, then by the four numbers of each start.
pub(super) struct Linear {
    pub(super) motion: Motion,
    pub(super) derivatives: Vec<Motion>,
}

/// Arms of pendulums: bodies `2 s` and `2 s + 1` of pendulum `s`, the upper one first.
pub(super) struct Arms {
    device: Device,
    model: Model<f64>,
    count: usize,
    samples: usize,
    steps: usize,
    dt: f64,
}

/// What of the model depends on constants and starts.
struct Placed {
    poses: Array<Pose<f64>>,
    inertia: Array<Mat3<f64>>,
    parent: Array<Vec3<f64>>,
    child: Array<Vec3<f64>>,
    viscous: Array<f64>,
    dry: Array<f64>,
}

/// Bodies and joints of pendulum `s`, about the y axis through the origin, z up: from `constants`, as [`Constants::to_array`] has them, and
/// `starts[4 s..]`: angles from the upright \[rad\], then their rates \[rad/s\]. `lower` is from the lower joint to the centre of the lower arm \[m\].
///
/// With the frames of bodies at their centres of mass, upright when an arm hangs, an arm at angle `a` is turned by `a - pi` about y, and its joint is along z.
#[diff_kernel]
pub fn place_arms<F: Float>(
    constants: &Array<F>,
    starts: &Array<F>,
    poses: &mut Array<Pose<F>>,
    inertia: &mut Array<Mat3<F>>,
    parent: &mut Array<Vec3<F>>,
    child: &mut Array<Vec3<F>>,
    viscous: &mut Array<F>,
    dry: &mut Array<F>,
    lower: F,
) {
    let s = ABSOLUTE_POS;
    let zero = F::new(0.0);
    let (length, centre) = (constants[0], constants[1]);
    let (a, b, u, w) = (starts[4 * s], starts[4 * s + 1], starts[4 * s + 2], starts[4 * s + 3]);
    // Along an arm, away from its upper joint, and where that goes as the angle grows.
    let (out_a, turn_a) = (Vec3::new(a.sin(), zero, a.cos()), Vec3::new(a.cos(), zero, -a.sin()));
    let (out_b, turn_b) = (Vec3::new(b.sin(), zero, b.cos()), Vec3::new(b.cos(), zero, -b.sin()));
    // Turned by `angle - pi`: `cos((a - pi) / 2) = sin(a / 2)`, `sin((a - pi) / 2) = -cos(a / 2)`.
    let (half_a, half_b) = (a * 0.5, b * 0.5);
    poses[2 * s] = Pose {
        centre: out_a * centre,
        rotation: Quat::new(half_a.sin(), zero, -half_a.cos(), zero),
        velocity: turn_a * (centre * u),
        spin: Vec3::new(zero, u, zero),
    };
    poses[2 * s + 1] = Pose {
        centre: out_a * length + out_b * lower,
        rotation: Quat::new(half_b.sin(), zero, -half_b.cos(), zero),
        velocity: turn_a * (length * u) + turn_b * (lower * w),
        spin: Vec3::new(zero, w, zero),
    };
    inertia[2 * s] = Mat3::from_diagonal(Vec3::splat(constants[2]));
    inertia[2 * s + 1] = Mat3::from_diagonal(Vec3::splat(constants[3]));
    parent[2 * s] = Vec3::zero();
    child[2 * s] = Vec3::new(zero, zero, centre);
    parent[2 * s + 1] = Vec3::new(zero, zero, centre - length);
    child[2 * s + 1] = Vec3::new(zero, zero, lower);
    viscous[2 * s] = constants[4];
    viscous[2 * s + 1] = constants[5];
    dry[2 * s] = constants[6];
    dry[2 * s + 1] = constants[7];
}

/// Angle from the upright \[rad\], between `-2 pi` and `2 pi`, of an arm that is turned by `q` about y from hanging.
#[diff_kernel]
pub fn arm_angles<F: Float>(q: &Array<Quat<F>>, angles: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    angles[i] = q[i].w.atan2(-q[i].y) * 2.0;
}

impl Arms {
    /// So many pendulums over so many samples, `dt` \[s\] apart, with `finer` times as many steps as are needed.
    pub(super) fn new(count: usize, samples: usize, dt: f64, finer: usize) -> Result<Self> {
        let device = Device::cpu();
        let steps = (dt / STEP - 1e-6).ceil().max(1.0) as usize * finer;
        let body = Body::new(Primitive::Cuboid(Cuboid { sides: [0.02, 0.02, 0.2] }).surface(1.0)?);
        let axis = [0.0, 1.0, 0.0];
        let joint = |k: usize| Joint {
            parent: (k % 2 == 1).then(|| k - 1),
            child: Some(k),
            parent_point: [0.0; 3],
            child_point: [0.0; 3],
            kind: JointKind::Hinge { parent_axis: axis, child_axis: axis },
            friction: 0.0,
            dry: 0.0,
            slip: SLIP,
        };
        let joints: Vec<Joint> = (0..2 * count).map(joint).collect();
        let model = Model::new(&device, &vec![body; 2 * count], dt / steps as f64, &[])?;
        Ok(Self { model: model.with_joints(&joints, ITERATIONS)?, device, count, samples, steps, dt })
    }

    fn place(&self, constants: &Array<f64>, starts: &Array<f64>) -> Result<Placed> {
        let (device, n) = (&self.device, 2 * self.count);
        let placed = Placed {
            poses: device.uninit(n)?,
            inertia: device.uninit(n)?,
            parent: device.uninit(n)?,
            child: device.uninit(n)?,
            viscous: device.uninit(n)?,
            dry: device.uninit(n)?,
        };
        let Placed { poses, inertia, parent, child, viscous, dry } = &placed;
        place_arms(self.count, constants, starts, poses, inertia, parent, child, viscous, dry, LOWER_CENTRE)?;
        Ok(placed)
    }

    /// Angles at each sample: launches alone.
    fn observe(&self, constants: &Array<f64>, starts: &Array<f64>) -> Result<Vec<Array<f64>>> {
        let placed = self.place(constants, starts)?;
        let params = Params {
            mass: Mass::Total(self.device.array(&MASSES.repeat(self.count))?),
            inertia: Some(placed.inertia),
            joints: Some(JointParams {
                parent_point: placed.parent,
                child_point: placed.child,
                friction: placed.viscous,
                dry: placed.dry,
                slip: self.device.array(&[SLIP])?,
            }),
            ..self.model.params(1.0, [0.0, 0.0, -GRAVITY])?
        };
        let begin = self.model.start(&params, &placed.poses)?;
        let solver = self.model.solver(&params, &begin)?;
        // Velocities are to lie half a step before positions.
        let back = Tick { index: 0, time: 0.0, dt: -0.5 * self.dt / self.steps as f64 };
        let State { v, l, .. } = solver.step(&begin, &Control::default(), back)?;
        let mut state = State { v, l, ..begin };
        let mut seen = vec![self.angles(&state)?];
        for step in 0..(self.samples - 1) * self.steps {
            state = solver.step(&state, &Control::default(), solver.tick(step))?;
            if (step + 1) % self.steps == 0 {
                seen.push(self.angles(&state)?);
            }
        }
        Ok(seen)
    }

    fn angles(&self, state: &State<f64>) -> Result<Array<f64>> {
        let angles = self.device.uninit(state.q.len())?;
        arm_angles(angles.len(), &state.q, &angles)?;
        Ok(angles)
    }

    fn inputs(&self, constants: &[f64; ALL], starts: &[[f64; START]]) -> Result<[Array<f64>; 2]> {
        Ok([self.device.array(constants)?, self.device.array(&starts.concat())?])
    }

    /// The motion from these starts.
    pub(super) fn motion(&self, constants: Constants, starts: &[[f64; START]]) -> Result<Motion> {
        let [constants, starts] = self.inputs(&constants.to_array(), starts)?;
        motion(&self.observe(&constants, &starts)?)
    }

    /// The same with its derivatives by the constants of these numbers, then by the starts: a pendulum depends on no other's, so four directions
    /// are those of all.
    pub(super) fn linearise(&self, at: Constants, starts: &[[f64; START]], by: &[usize]) -> Result<Linear> {
        let [constants, begins] = self.inputs(&at.to_array(), starts)?;
        let unit = |k: usize, n: usize| -> Vec<f64> { (0..n).map(|j| if j == k { 1.0 } else { 0.0 }).collect() };
        let of_constants = by.iter().map(|&k| self.device.array(&unit(k, ALL)));
        let of_starts = (0..START).map(|k| self.device.array(&unit(k, START).repeat(starts.len())));
        let seeds: Vec<Array<f64>> = of_constants.chain(of_starts).collect::<diffkern::Result<_>>()?;
        let pair = |(k, seed): (usize, &Array<f64>)| {
            let input = if k < by.len() { &constants } else { &begins };
            [(input.as_any().clone(), seed.as_any().clone())]
        };
        let pairs: Vec<_> = seeds.iter().enumerate().map(pair).collect();
        let borrowed: Vec<Vec<_>> = pairs.iter().map(|p| p.iter().map(|(a, b)| (a, b)).collect()).collect();
        let directions: Vec<diffkern::Direction<'_>> = borrowed.iter().map(Vec::as_slice).collect();
        let (seen, tangents) = jvp(&directions, || self.observe(&constants, &begins))?;
        let along = |k: usize| -> Result<Motion> {
            let slopes = seen.iter().map(|angles| tangents.get(k, angles)).collect::<diffkern::Result<Vec<_>>>()?;
            motion(&slopes)
        };
        let derivatives = (0..seeds.len()).map(along).collect::<Result<_>>()?;
        Ok(Linear { motion: motion(&seen)?, derivatives })
    }
}

fn motion(seen: &[Array<f64>]) -> Result<Motion> {
    let pairs = |angles: &Array<f64>| -> Result<Vec<[f64; 2]>> {
        Ok(angles.to_vec()?.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect())
    };
    seen.iter().map(pairs).collect()
}
