//! A robot of rigid bodies on the ground: a small network changes the lengths of springs between them so that it walks.

use super::network::Network;
use super::scene::{Evaluated, Scene, Twin, check_step};
use crate::error::{Error, Result};
use diffkern::prelude::*;
use diffkern_sim::Step as _;
use diffkern_sim::collision::Pose;
use diffkern_sim::mesh::ClosedMesh;
use diffkern_sim::rigid::{Body, Control, Impacts, Impulse, Mass, Model, Params, Plane, Spring, State};
use serde::{Deserialize, Serialize};

/// Plates that move in a vertical plane, with springs and ties between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RigidRobot {
    /// The plates. The first is the one that is to come to the goal.
    pub plates: Vec<Plate>,
    /// Springs whose lengths change.
    pub springs: Vec<Actuator>,
    /// What holds plates together.
    pub ties: Vec<Tie>,
    /// Mass by area \[kg/m^2\].
    pub density: f64,
    /// Rate at which velocities decay \[1/s\].
    pub damping: f64,
    /// Acceleration upward \[m/s^2\].
    pub gravity: f64,
    /// Height of the ground \[m\].
    pub ground: f64,
    /// Coulomb's coefficient of the ground.
    pub friction: f64,
    /// Coefficient of restitution of the ground.
    pub restitution: f64,
    /// Length of a step \[s\].
    pub step: f64,
    /// Number of steps.
    pub steps: usize,
    /// The network.
    pub network: Network,
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plate {
    /// Where its middle begins \[m\]; the last number is the height.
    pub at: (f64, f64),
    /// Half of its sides \[m\].
    pub half: (f64, f64),
}

/// A spring whose length at rest changes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actuator {
    /// Numbers of the plates.
    pub plates: (usize, usize),
    /// Where it is held, from the middle of the first \[m\].
    pub first: (f64, f64),
    /// And of the second \[m\].
    pub second: (f64, f64),
    /// Length at rest \[m\].
    pub rest: f64,
    /// Stiffness \[N/m\].
    pub stiffness: f64,
    /// Part of its length by which it may be made longer or shorter.
    pub actuation: f64,
}

/// A spring that pulls two points to one place.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tie {
    /// Numbers of the plates.
    pub plates: (usize, usize),
    /// The point from the middle of the first \[m\].
    pub first: (f64, f64),
    /// And of the second \[m\].
    pub second: (f64, f64),
    /// Stiffness \[N/m\].
    pub stiffness: f64,
    /// Force by the relative velocity \[N s/m\].
    pub damping: f64,
}

/// What the network sees: `waves`, then for each body x and z of `s (place - that of the first)` and of `s velocity`, `s` times the height of its first axis of length 1 and times its spin about
/// -y, then `goal`.
#[diff_kernel]
pub fn sense_bodies<F: Float>(
    bodies: &Array<Pose<F>>,
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
        let b = k / 6;
        let c = k % 6;
        if b < bodies.len() {
            let body = bodies[b];
            let off = body.centre - bodies[0].centre;
            let axis = body.rotation.rotate(Vec3::new(1.0, 0.0, 0.0));
            value = off.x;
            if c == 1 {
                value = off.z;
            }
            if c == 2 {
                value = body.velocity.x;
            }
            if c == 3 {
                value = body.velocity.z;
            }
            if c == 4 {
                value = axis.z;
            }
            if c == 5 {
                value = -body.spin.y;
            }
            value = value * s;
        } else {
            value = goal[0].x;
            if c == 1 {
                value = goal[0].z;
            }
        }
    }
    inputs[i] = value;
}

/// Velocities and angular momenta that have decayed to a part of them.
#[diff_kernel]
pub fn decay<F: Float>(
    v: &Array<Vec3<F>>,
    l: &Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
    l_next: &mut Array<Vec3<F>>,
    part: F,
) {
    let b = ABSOLUTE_POS;
    v_next[b] = v[b] * part;
    l_next[b] = l[b] * part;
}

/// Distance of the first body from `goal` \[m\]; at the goal itself the derivative is zero.
#[diff_kernel]
pub fn distance<F: Float>(x: &Array<Vec3<F>>, goal: &Array<Vec3<F>>, loss: &mut Array<F>) {
    loss[0] = (x[0] - goal[0]).norm();
}

impl RigidRobot {
    /// Numbers that the network sees.
    fn inputs(&self) -> usize {
        self.network.waves + 6 * self.plates.len() + 2
    }

    /// Weights from which a search begins.
    pub(super) fn begin(&self, rng: &mut fastrand::Rng) -> Vec<f64> {
        self.network.begin(self.inputs(), self.springs.len(), rng)
    }

    /// What is wrong, by its field.
    pub(super) fn check(&self) -> std::result::Result<(), (&'static str, String)> {
        let plates = self.plates.len();
        let ends =
            self.springs.iter().map(|s| ("springs", s.plates)).chain(self.ties.iter().map(|t| ("ties", t.plates)));
        for (field, (a, b)) in ends {
            if a >= plates || b >= plates || a == b {
                return Err((field, format!("({a}, {b}), expected two of the {plates} plates")));
            }
        }
        let counts = [("springs", self.springs.len()), ("steps", self.steps)];
        let mut counts = counts.into_iter().chain(self.network.counts());
        if let Some((field, count)) = counts.find(|c| !(1..=100_000).contains(&c.1)) {
            return Err((field, format!("{count}, expected 1 to 100000")));
        }
        let sizes = self.plates.iter().flat_map(|p| [("plates", p.half.0), ("plates", p.half.1)]);
        let sizes = sizes.chain([("density", self.density), ("step", self.step)]);
        if let Some((field, x)) = sizes.into_iter().find(|s| !(s.1 > 0.0 && s.1.is_finite())) {
            return Err((field, format!("{x}, expected a positive number")));
        }
        let mut positive = self
            .springs
            .iter()
            .map(|s| ("springs", s.stiffness))
            .chain(self.ties.iter().map(|t| ("ties", t.stiffness)));
        if let Some((field, x)) = positive.find(|s| !(s.1 > 0.0 && s.1.is_finite())) {
            return Err((field, format!("stiffness of {x} N/m, expected a positive number")));
        }
        let least = [("damping", self.damping), ("friction", self.friction)].into_iter();
        let mut least = least
            .chain(self.springs.iter().map(|s| ("springs", s.rest)))
            .chain(self.ties.iter().map(|t| ("ties", t.damping)));
        if let Some((field, x)) = least.find(|s| !(s.1 >= 0.0 && s.1.is_finite())) {
            return Err((field, format!("{x}, expected at least 0")));
        }
        if !(0.0..=1.0).contains(&self.restitution) {
            return Err(("restitution", format!("{}, expected 0 to 1", self.restitution)));
        }
        let Network { frequency, sensing, goal, weights, .. } = self.network;
        let network = [frequency, sensing, goal.0, goal.1, weights.0, weights.1].map(|x| ("network", x));
        let others = network.into_iter().chain([("gravity", self.gravity), ("ground", self.ground)]);
        let at = self.plates.iter().flat_map(|p| [("plates", p.at.0), ("plates", p.at.1)]);
        if let Some((field, x)) = others.chain(at).find(|s| !s.1.is_finite()) {
            return Err((field, format!("{x}, expected a finite number")));
        }
        if let Some(spring) = self.springs.iter().find(|s| !(0.0..1.0).contains(&s.actuation)) {
            return Err(("springs", format!("actuation of {}, expected 0 to below 1", spring.actuation)));
        }
        Ok(())
    }

    /// Springs first, ties after them.
    fn links(&self) -> Vec<Spring> {
        let point = |(x, z): (f64, f64)| [x, 0.0, z];
        let ends = |(a, b): (usize, usize)| [Some(a), Some(b)];
        let springs = self.springs.iter().map(|s| Spring {
            bodies: ends(s.plates),
            points: [point(s.first), point(s.second)],
            stiffness: s.stiffness,
            damping: 0.0,
            rest: Some(s.rest),
        });
        let ties = self.ties.iter().map(|t| Spring {
            bodies: ends(t.plates),
            points: [point(t.first), point(t.second)],
            stiffness: t.stiffness,
            damping: t.damping,
            rest: None,
        });
        springs.chain(ties).collect()
    }
}

impl Plate {
    /// A body whose corners are in the plane: two more points beside it, which touch nothing, make it a solid.
    fn body(self) -> Result<Body> {
        let (x, z) = self.half;
        let thick = 0.5 * x.min(z);
        let corners = [[x, 0.0, z], [-x, 0.0, z], [-x, 0.0, -z], [x, 0.0, -z], [0.0, thick, 0.0], [0.0, -thick, 0.0]];
        let sides = (0..4u32).flat_map(|k| [[(k + 1) % 4, k, 4], [k, (k + 1) % 4, 5]]);
        Ok(Body::new(ClosedMesh::new(corners.to_vec(), sides.collect())?))
    }

    fn mass(self, density: f64) -> f64 {
        4.0 * self.half.0 * self.half.1 * density
    }

    /// About the axis across the plane that of a plate; nothing turns about others.
    fn inertia(self, density: f64) -> Mat3<f64> {
        let (x, z) = (self.half.0 * self.half.0, self.half.1 * self.half.1);
        Mat3::from_diagonal(Vec3::splat(self.mass(density) * (x + z) / 3.0))
    }
}

/// A robot, ready to walk.
pub(super) struct March {
    robot: RigidRobot,
    device: Device,
    model: Model<f64>,
    params: Params<f64>,
    poses: Array<Pose<f64>>,
    goal: Array<Vec3<f64>>,
    /// What a unit of each output of the network is: none of ties.
    scale: Array<f64>,
}

/// What springs are told by the outputs of the network: a part of each of the first ones, nothing to the others.
#[diff_kernel]
pub fn actuate<F: Float>(outputs: &Array<F>, scale: &Array<F>, actuation: &mut Array<F>) {
    let s = ABSOLUTE_POS;
    let mut part = F::new(0.0);
    if s < outputs.len() {
        part = outputs[s] * scale[s];
    }
    actuation[s] = part;
}

impl March {
    /// With impulses at the time of impact, or for whole steps.
    pub(super) fn new(robot: &RigidRobot, twin: Twin) -> Result<Self> {
        let impulse = match twin {
            Twin::TimeOfImpact => Impulse::TimeOfImpact,
            Twin::Naive => Impulse::Naive,
        };
        let (device, plates) = (Device::cpu(), &robot.plates);
        let bodies = plates.iter().map(|plate| plate.body()).collect::<Result<Vec<_>>>()?;
        let RigidRobot { ground, friction, restitution, .. } = *robot;
        let plane = Plane { normal: [0.0, 0.0, 1.0], offset: ground, restitution, friction };
        let model = Model::new(&device, &bodies, robot.step, &[])?
            .with_impacts(Impacts { impulse, ..Impacts::new(vec![plane]) })?
            .with_springs(&robot.links())?;
        let each = |of: &dyn Fn(&Plate) -> f64| device.array(&plates.iter().map(of).collect::<Vec<_>>());
        let inertia: Vec<_> = plates.iter().map(|plate| plate.inertia(robot.density)).collect();
        let params = Params {
            mass: Mass::Total(each(&|plate| plate.mass(robot.density))?),
            inertia: Some(device.array(&inertia)?),
            ..model.params(1.0, [0.0, 0.0, robot.gravity])?
        };
        let pose = |plate: &Plate| Pose {
            centre: Vec3::new(plate.at.0, 0.0, plate.at.1),
            rotation: Quat::identity(),
            velocity: Vec3::zero(),
            spin: Vec3::zero(),
        };
        let poses = device.array(&plates.iter().map(pose).collect::<Vec<_>>())?;
        check_step(&model, &params, &model.start(&params, &poses)?, robot.step)?;
        let (x, z) = robot.network.goal;
        let goal = device.array(&[Vec3::new(x, 0.0, z)])?;
        let scale = device.array(&robot.springs.iter().map(|s| s.actuation).collect::<Vec<_>>())?;
        Ok(Self { robot: robot.clone(), device, model, params, poses, goal, scale })
    }

    /// Where bodies are at the end: launches alone.
    pub(super) fn marched(&self, weights: &Array<f64>) -> Result<State<f64>> {
        let (robot, device, n) = (&self.robot, &self.device, self.poses.len());
        let mut state = self.model.start(&self.params, &self.poses)?;
        let solver = self.model.solver(&self.params, &state)?;
        let part = (-robot.damping * robot.step).exp();
        for step in 0..robot.steps {
            let tick = solver.tick(step);
            let (inputs, waves) = (device.uninit(robot.inputs())?, robot.network.waves(device, tick.time)?);
            let bodies = solver.poses(&state)?;
            sense_bodies(inputs.len(), &bodies, &waves, &self.goal, &inputs, robot.network.sensing)?;
            let outputs = robot.network.outputs(weights, &inputs, robot.springs.len(), 1.0)?;
            let actuation = device.uninit(robot.springs.len() + robot.ties.len())?;
            actuate(actuation.len(), &outputs, &self.scale, &actuation)?;
            let (v, l) = (device.uninit(n)?, device.uninit(n)?);
            decay(n, &state.v, &state.l, &v, &l, part)?;
            let control = Control { actuation: Some(actuation), ..Control::default() };
            state = solver.step(&State { v, l, ..state }, &control, tick)?;
        }
        Ok(state)
    }
}

impl Scene for March {
    fn evaluate(&self, controls: &[f64]) -> Result<Evaluated> {
        let weights = self.device.array(controls)?.requires_grad();
        let (tape, loss) = Tape::record_value(|| {
            let end = self.marched(&weights)?;
            let loss = self.device.uninit(1)?;
            distance(1, &end.x, &self.goal, &loss)?;
            Ok::<_, Error>(loss)
        })?;
        tape.backward(&loss)?;
        let loss = loss.to_vec()?[0];
        Ok(Evaluated { loss, gradient: weights.grad()?.to_vec()?, outcome: loss })
    }
}
