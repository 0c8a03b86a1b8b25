//! W7: rigid boxes that slide and rock on a plane by compliant contact, through the steps of `diffkern-sim`.

use anyhow::Result;
use diffkern::prelude::*;
use diffkern::{Schedule, reduce};
use diffkern_sim::Step as _;
use diffkern_sim::collision::Pose;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::rigid::{Body, Mass, Model, Params};
use diffkern_sim::shape::{Cuboid, Primitive};

use crate::harness::{Sizes, Workload};
use crate::springs::square_distance;

/// Length of a step \[s\], and what boxes are made of \[kg/m^3\].
const STEP: f64 = 1e-3;
const DENSITY: f64 = 500.0;
const CONTACT: Contact = Contact::HuntCrossley { stiffness: 2e3, damping: 0.5 };
const FRICTION: f64 = 0.4;
/// Friction per sliding speed \[N s/m\].
const GRIP: f64 = 100.0;
/// Where boxes should come to, from where they are \[m\].
const AWAY: [f64; 3] = [0.3, 0.05, -0.05];

pub struct Boxes {
    device: Device,
    model: Model<f32>,
    params: Params<f32>,
    mass: Array<f32>,
    start: Array<Pose<f32>>,
    targets: Array<Vec3<f32>>,
    steps: usize,
}

/// Half the sides of a box \[m\].
fn half_sides(b: usize) -> [f64; 3] {
    [0.10, 0.08, 0.06].map(|side| side * (1.0 + 0.05 * ((b % 5) as f64 - 2.0)))
}

/// Touched by its eight corners.
fn body(b: usize) -> Result<Body> {
    let cuboid = Cuboid { sides: half_sides(b).map(|half| 2.0 * half) };
    Ok(Body::new(Primitive::Cuboid(cuboid).surface(1.0)?))
}

/// Where a box begins, and how it moves.
fn pose(b: usize) -> Pose<f64> {
    let turn = |period: usize, middle: f64| (b % period) as f64 - middle;
    let height = 1.25 * half_sides(b)[2] + 0.02 * (1 + b % 3) as f64;
    let tilt = Vec3::new(0.10 + 0.02 * turn(7, 3.0), -0.08 + 0.02 * turn(4, 1.5), 0.3 * turn(11, 0.0));
    Pose {
        centre: Vec3::new(0.5 * (b % 32) as f64, 0.5 * (b / 32) as f64, height),
        rotation: Quat::from_rotation_vector(tilt),
        velocity: Vec3::new(0.8 - 0.1 * turn(3, 0.0), 0.2 * turn(4, 1.5), -0.3),
        spin: Vec3::new(0.2 * turn(3, 1.0), 0.3, 0.5 * turn(5, 2.0)),
    }
}

impl Boxes {
    pub fn new(device: &Device, sizes: Sizes) -> Result<Self> {
        let boxes = 0..sizes.particles;
        let bodies = boxes.clone().map(body).collect::<Result<Vec<_>>>()?;
        let plane = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], CONTACT).with_friction(FRICTION);
        let model = Model::new(device, &bodies, STEP, &[plane])?;
        let mass = |b: usize| (DENSITY * 8.0 * half_sides(b).iter().product::<f64>()) as f32;
        let mass = device.array(&boxes.clone().map(mass).collect::<Vec<_>>())?.requires_grad();
        let params = Params {
            mass: Mass::Total(mass.clone()),
            grip: device.array(&[GRIP as f32])?,
            ..model.params(DENSITY, [0.0, 0.0, -9.8])?
        };
        let poses: Vec<_> = boxes.map(pose).collect();
        let single = |v: Vec3<f64>| Vec3::new(v.x as f32, v.y as f32, v.z as f32);
        let placed = |pose: &Pose<f64>| Pose {
            centre: single(pose.centre),
            rotation: {
                let q = pose.rotation;
                Quat::new(q.w as f32, q.x as f32, q.y as f32, q.z as f32)
            },
            velocity: single(pose.velocity),
            spin: single(pose.spin),
        };
        let target = |pose: &Pose<f64>| single(pose.centre + Vec3::from_array(AWAY));
        Ok(Self {
            device: device.clone(),
            model,
            params,
            mass,
            start: device.array(&poses.iter().map(placed).collect::<Vec<_>>())?.requires_grad(),
            targets: device.array(&poses.iter().map(target).collect::<Vec<_>>())?,
            steps: sizes.steps,
        })
    }

    fn run(&self) -> Result<Array<f32>> {
        let start = self.model.start(&self.params, &self.start)?;
        let end = self.model.solver(&self.params, &start)?.advance(&start, 0, self.steps, Schedule::StoreAll)?;
        let squares = self.device.uninit::<f32>(end.x.len())?;
        square_distance(squares.len(), &end.x, &self.targets, &squares)?;
        Ok(reduce::mean(&squares)?)
    }
}

impl Workload for Boxes {
    fn forward(&self) -> Result<f64> {
        Ok(f64::from(self.run()?.to_vec()?[0]))
    }

    fn forward_backward(&self) -> Result<f64> {
        self.start.zero_grad();
        self.mass.zero_grad();
        let (tape, loss) = Tape::record_value(|| self.run())?;
        tape.backward(&loss)?;
        Ok(f64::from(loss.to_vec()?[0]))
    }

    fn gradients(&self) -> Result<[Vec<f64>; 2]> {
        let velocities = self.start.grad()?.to_vec()?.into_iter().map(|pose| pose.velocity);
        Ok([
            velocities.flat_map(|v| [v.x, v.y, v.z]).map(f64::from).collect(),
            self.mass.grad()?.to_vec()?.into_iter().map(f64::from).collect(),
        ])
    }
}
