//! A robot of springs on the ground: a small network changes the lengths of its springs so that it walks.

use super::network::Network;
use super::scene::{Evaluated, Scene, Twin, check_step};
use crate::error::{Error, Result};
use diffkern::prelude::*;
use diffkern_sim::Step as _;
use diffkern_sim::springs::{Control, Model, Params};
use diffkern_sim::vertices::VertexState;
use serde::{Deserialize, Serialize};

/// Points of one mass with springs between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Robot {
    /// Where points begin \[m\]; the last number is the height. The first is the head.
    pub points: Vec<(f64, f64)>,
    /// Which points springs are between; at rest where the points begin.
    pub springs: Vec<(u32, u32)>,
    /// Stiffness of springs by the mass of a point \[1/s^2\].
    pub stiffness: f64,
    /// Part of its length by which a spring may be made longer or shorter.
    pub actuation: f64,
    /// Rate at which velocities decay \[1/s\].
    pub damping: f64,
    /// Acceleration upward \[m/s^2\].
    pub gravity: f64,
    /// Height of the ground \[m\]: what lands there stays until it is lifted.
    pub ground: f64,
    /// What comes to the ground slower than that stops without going on to it \[m/s\]: the derivative of where a point lands is its speed along the ground by that across.
    pub slow: f64,
    /// Length of a step \[s\].
    pub step: f64,
    /// Number of steps.
    pub steps: usize,
    /// The network.
    pub network: Network,
}

/// The middle of all points \[m\].
#[diff_kernel]
pub fn middle<F: Float>(x: &Array<Vec3<F>>, centre: &mut Array<Vec3<F>>) {
    let mut sum = Vec3::zero();
    for i in 0..x.len() {
        sum += x[i];
    }
    centre[0] = sum / F::cast_from(x.len() as u32);
}

/// What the network sees: `waves`, then for each point `s (place - centre)` and `s velocity`, then `goal - centre`; of vectors x and z.
#[diff_kernel]
pub fn sense<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    centre: &Array<Vec3<F>>,
    waves: &Array<F>,
    goal: &Array<Vec3<F>>,
    inputs: &mut Array<F>,
    s: F,
) {
    let i = ABSOLUTE_POS;
    let mut value = F::new(0.0);
    if i < waves.len() {
        value = waves[i];
    } else {
        let k = i - waves.len();
        let p = k / 4;
        let c = k % 4;
        let mut seen = goal[0] - centre[0];
        if p < x.len() {
            seen = (x[p] - centre[0]) * s;
            if c > 1 {
                seen = v[p] * s;
            }
        }
        value = seen.x;
        if c % 2 == 1 {
            value = seen.z;
        }
    }
    inputs[i] = value;
}

/// Points after a step of length `h` \[s\] with velocities `v`: what comes to the ground at `height` stops there. `at_time` is 1 where it goes on to the ground, if it is
/// faster than `slow` \[m/s\]; else it stops where it is, once it is in the ground, or would come there slowly.
#[diff_kernel]
pub fn land<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    x_next: &mut Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
    height: F,
    slow: F,
    h: F,
    at_time: u32,
) {
    let i = ABSOLUTE_POS;
    let mut place = x[i] + v[i] * h;
    let mut velocity = v[i];
    let above = x[i].z - height;
    if at_time == 1 {
        if place.z < height && v[i].z < 0.0 {
            place = x[i];
            velocity = Vec3::zero();
            if v[i].z < -slow {
                place = x[i] - v[i] * (above / v[i].z);
            }
        }
    } else {
        if above < 0.0 && v[i].z < 0.0 {
            place = x[i];
            velocity = Vec3::zero();
        }
    }
    x_next[i] = place;
    v_next[i] = velocity;
}

/// How far the head has not come: minus its x \[m\].
#[diff_kernel]
pub fn behind<F: Float>(x: &Array<Vec3<F>>, loss: &mut Array<F>) {
    loss[0] = -x[0].x;
}

impl Robot {
    /// Numbers that the network sees.
    fn inputs(&self) -> usize {
        self.network.waves + 4 * self.points.len() + 2
    }

    /// Weights from which a search begins.
    pub(super) fn begin(&self, rng: &mut fastrand::Rng) -> Vec<f64> {
        self.network.begin(self.inputs(), self.springs.len(), rng)
    }

    /// What is wrong, by its field.
    pub(super) fn check(&self) -> std::result::Result<(), (&'static str, String)> {
        let points = self.points.len();
        if let Some(ends) = self.springs.iter().find(|s| s.0 as usize >= points || s.1 as usize >= points || s.0 == s.1)
        {
            return Err(("springs", format!("{ends:?}, expected two of the {points} points")));
        }
        let counts = [("springs", self.springs.len()), ("steps", self.steps)];
        let mut counts = counts.into_iter().chain(self.network.counts());
        if let Some((field, count)) = counts.find(|c| !(1..=100_000).contains(&c.1)) {
            return Err((field, format!("{count}, expected 1 to 100000")));
        }
        let sizes = [("stiffness", self.stiffness), ("step", self.step)];
        if let Some((field, x)) = sizes.into_iter().find(|s| !(s.1 > 0.0 && s.1.is_finite())) {
            return Err((field, format!("{x}, expected a positive number")));
        }
        if !(self.damping >= 0.0 && (0.0..1.0).contains(&self.actuation)) {
            let numbers = format!(
                "{} and {}, expected one of at least 0, and one from 0 to below 1",
                self.damping, self.actuation
            );
            return Err(("damping and actuation", numbers));
        }
        Ok(())
    }
}

/// A robot, ready to walk.
pub(super) struct Walk {
    robot: Robot,
    device: Device,
    model: Model<f64>,
    params: Params<f64>,
    start: VertexState<f64>,
    goal: Array<Vec3<f64>>,
    twin: Twin,
}

impl Walk {
    /// Landing at its time, or for whole steps.
    pub(super) fn new(robot: &Robot, twin: Twin) -> Result<Self> {
        let (device, springs) = (Device::cpu(), robot.springs.iter().map(|s| [s.0, s.1]).collect::<Vec<_>>());
        let model = Model::new(&device, robot.points.len(), &springs, robot.step, &[], &[])?;
        let mut params = Params::uniform(&device, robot.stiffness, 1.0, 1.0, [0.0, 0.0, robot.gravity])?;
        let length = |s: &(u32, u32)| {
            let (a, b) = (robot.points[s.0 as usize], robot.points[s.1 as usize]);
            (a.0 - b.0).hypot(a.1 - b.1)
        };
        params.rest = device.array(&robot.springs.iter().map(length).collect::<Vec<_>>())?;
        params.damping = device.array(&[robot.damping])?;
        let x: Vec<[f64; 3]> = robot.points.iter().map(|p| [p.0, 0.0, p.1]).collect();
        let start = VertexState::new(&device, &x, &vec![[0.0; 3]; x.len()])?;
        check_step(&model, &params, &start, robot.step)?;
        let goal = device.array(&[Vec3::new(robot.network.goal.0, 0.0, robot.network.goal.1)])?;
        Ok(Self { robot: robot.clone(), device, model, params, start, goal, twin })
    }

    /// Where points are at the end: launches alone.
    pub(super) fn walked(&self, weights: &Array<f64>) -> Result<VertexState<f64>> {
        let (robot, device, n) = (&self.robot, &self.device, self.start.len());
        let solver = self.model.solver(&self.params, &self.start)?;
        let mut state = self.start.clone();
        for step in 0..robot.steps {
            let tick = solver.tick(step);
            let control = Control { actuation: Some(self.actuation(weights, &state, tick.time)?), force: None };
            let free = solver.step(&state, &control, tick)?;
            let next = VertexState { x: device.uninit(n)?, v: device.uninit(n)? };
            let at_time = u32::from(self.twin == Twin::TimeOfImpact);
            land(n, &state.x, &free.v, &next.x, &next.v, robot.ground, robot.slow, tick.dt, at_time)?;
            state = next;
        }
        Ok(state)
    }

    /// Relative change of each spring.
    fn actuation(&self, weights: &Array<f64>, state: &VertexState<f64>, time: f64) -> Result<Array<f64>> {
        let (robot, device, network) = (&self.robot, &self.device, &self.robot.network);
        let (centre, inputs) = (device.uninit(1)?, device.uninit(robot.inputs())?);
        let waves = network.waves(device, time)?;
        middle(1, &state.x, &centre)?;
        sense(inputs.len(), &state.x, &state.v, &centre, &waves, &self.goal, &inputs, network.sensing)?;
        network.outputs(weights, &inputs, robot.springs.len(), robot.actuation)
    }
}

impl Scene for Walk {
    fn evaluate(&self, controls: &[f64]) -> Result<Evaluated> {
        let weights = self.device.array(controls)?.requires_grad();
        let (tape, loss) = Tape::record_value(|| {
            let end = self.walked(&weights)?;
            let loss = self.device.uninit(1)?;
            behind(1, &end.x, &loss)?;
            Ok::<_, Error>(loss)
        })?;
        tape.backward(&loss)?;
        let loss = loss.to_vec()?[0];
        Ok(Evaluated { loss, gradient: weights.grad()?.to_vec()?, outcome: -loss - self.robot.points[0].0 })
    }
}
