//! Three masses joined by three springs: rest lengths for which their triangle has a given area at the end.

use super::scene::{Evaluated, Scene, check_step};
use crate::error::{Error, Result};
use diffkern::prelude::*;
use diffkern_sim::Step as _;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::springs::{Model, Params};
use diffkern_sim::vertices::VertexState;
use serde::{Deserialize, Serialize};

/// Points between which springs are.
const SPRINGS: [[u32; 2]; 3] = [[0, 1], [1, 2], [2, 0]];
/// What their rest lengths are called.
const NAMES: [&str; 3] = ["rest_0", "rest_1", "rest_2"];

/// Three points of one mass with a spring between any two, beside a wall on which a point may lean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Triangle {
    /// Where points begin, at rest \[m\]; the second number is the height.
    pub points: [(f64, f64); 3],
    /// Stiffness of springs by the mass of a point \[1/s^2\].
    pub stiffness: f64,
    /// Rate at which velocities decay \[1/s\].
    pub damping: f64,
    /// Where along x a wall is \[m\]: a point beyond it goes no farther, and may slide and leave.
    pub wall: f64,
    /// Coulomb's coefficient of the wall.
    pub friction: f64,
    /// Length of a step \[s\].
    pub step: f64,
    /// Number of steps.
    pub steps: usize,
    /// By how much each rest length may be off the length of its spring at the beginning of a search \[m\].
    pub scatter: f64,
    /// Area of the triangle at the end \[m^2\].
    pub goal: f64,
}

/// Squared difference of the area of a triangle, in the plane of x and z, from `goal` \[m^4\]. The area is an absolute value: turned inside out a triangle has the same.
/// The gradient jumps where its points come to lie in a line, and is 0 there, the derivative of `abs` at 0.
#[diff_kernel]
pub fn area_miss<F: Float>(x: &Array<Vec3<F>>, loss: &mut Array<F>, goal: F) {
    let (a, b) = (x[1] - x[0], x[2] - x[0]);
    let area = 0.5 * (a.x * b.z - a.z * b.x).abs();
    let miss = area - goal;
    loss[0] = miss * miss;
}

impl Triangle {
    /// Lengths of the springs where the points begin \[m\].
    fn lengths(&self) -> [f64; 3] {
        SPRINGS.map(|[a, b]| {
            let (a, b) = (self.points[a as usize], self.points[b as usize]);
            (a.0 - b.0).hypot(a.1 - b.1)
        })
    }

    /// Rest lengths from which a search begins \[m\].
    pub(super) fn begin(&self, rng: &mut fastrand::Rng) -> Vec<f64> {
        self.lengths().map(|length| length + self.scatter * (2.0 * rng.f64() - 1.0)).to_vec()
    }

    /// Names, units and ranges of the rest lengths. Where searches begin the loss hardly changes, so the middle is elsewhere: 3/2 of the sides of the even triangle of
    /// the goal's area, as springs are still on the way at the end.
    pub(super) fn named(&self) -> Vec<(&'static str, &'static str, (f64, f64))> {
        let even = (4.0 * self.goal / 3f64.sqrt()).sqrt();
        NAMES.map(|name| (name, "m", (0.0, 3.0 * even))).to_vec()
    }

    /// What is wrong, by its field.
    pub(super) fn check(&self) -> std::result::Result<(), (&'static str, String)> {
        if !(1..=100_000).contains(&self.steps) {
            return Err(("steps", format!("{}, expected 1 to 100000", self.steps)));
        }
        let sizes = [("stiffness", self.stiffness), ("step", self.step), ("goal", self.goal)];
        if let Some((field, x)) = sizes.into_iter().find(|s| !(s.1 > 0.0 && s.1.is_finite())) {
            return Err((field, format!("{x}, expected a positive number")));
        }
        let others = [("damping", self.damping), ("friction", self.friction)];
        if let Some((field, x)) = others.into_iter().find(|s| !(s.1 >= 0.0 && s.1.is_finite())) {
            return Err((field, format!("{x}, expected a number of at least 0")));
        }
        let [p, q, r] = self.points;
        let twice = ((q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0)).abs();
        if !(twice > 0.0 && twice.is_finite()) {
            return Err(("points", format!("{:?}, expected three that are not in a line", self.points)));
        }
        if !(self.wall.is_finite() && self.points.iter().all(|point| point.0 <= self.wall)) {
            return Err(("wall", format!("{}, expected a place beyond which no point begins", self.wall)));
        }
        let shortest = self.lengths().into_iter().fold(f64::INFINITY, f64::min);
        if !(0.0..shortest).contains(&self.scatter) {
            let expected = format!("0 to below {shortest}, the length of the shortest spring");
            return Err(("scatter", format!("{}, expected {expected}", self.scatter)));
        }
        Ok(())
    }
}

/// A triangle, ready to grow.
pub(super) struct Growth {
    triangle: Triangle,
    device: Device,
    model: Model<f64>,
    params: Params<f64>,
    start: VertexState<f64>,
}

impl Growth {
    /// One for both twins: the point at the wall leans on it from the beginning, and no other comes to it.
    pub(super) fn new(triangle: &Triangle) -> Result<Self> {
        let device = Device::cpu();
        let wall = Collider::plane([triangle.wall, 0.0, 0.0], [-1.0, 0.0, 0.0], Contact::Separating)
            .with_friction(triangle.friction);
        let x = triangle.points.map(|point| [point.0, 0.0, point.1]);
        let model = Model::new(&device, x.len(), &SPRINGS, triangle.step, &[], &[wall])?;
        let mut params = Params::uniform(&device, triangle.stiffness, 1.0, 1.0, [0.0; 3])?;
        params.damping = device.array(&[triangle.damping])?;
        let start = VertexState::new(&device, &x, &[[0.0; 3]; 3])?;
        check_step(&model, &params, &start, triangle.step)?;
        Ok(Self { triangle: triangle.clone(), device, model, params, start })
    }

    /// Where points are at the end: launches alone.
    pub(super) fn grown(&self, rest: &Array<f64>) -> Result<VertexState<f64>> {
        let params = Params { rest: rest.clone(), ..self.params.clone() };
        let solver = self.model.solver(&params, &self.start)?;
        Ok(solver.advance(&self.start, 0, self.triangle.steps, Schedule::Auto)?)
    }
}

impl Scene for Growth {
    /// Its outcome is the error of the area relative to the goal \[%\].
    fn evaluate(&self, controls: &[f64]) -> Result<Evaluated> {
        let goal = self.triangle.goal;
        let rest = self.device.array(controls)?.requires_grad();
        let (tape, loss) = Tape::record_value(|| {
            let end = self.grown(&rest)?;
            let loss = self.device.uninit(1)?;
            area_miss(1, &end.x, &loss, goal)?;
            Ok::<_, Error>(loss)
        })?;
        tape.backward(&loss)?;
        let loss = loss.to_vec()?[0];
        Ok(Evaluated { loss, gradient: rest.grad()?.to_vec()?, outcome: 100.0 * loss.sqrt() / goal })
    }
}
