//! Balls on a table without friction, of which one is shot so that the last of the others ends at a place.

use super::scene::{Evaluated, Scene, Twin};
use crate::error::Result;
use diffkern::prelude::*;
use diffkern_sim::Step as _;
use diffkern_sim::rigid::{Body, Impulse, Mass, Model, Params, State};
use serde::{Deserialize, Serialize};

/// Balls in a triangle, and one that is shot at them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Billiards {
    /// Rows of the triangle, of one ball, two, and so on.
    pub rows: usize,
    /// Radius of the balls \[m\].
    pub radius: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Where the ball of the first row is \[m\].
    pub first: (f64, f64),
    /// By what the first ball of a row is beside that of the row before: along the shot, and across it \[m\].
    pub next: (f64, f64),
    /// Where the ball that is shot is \[m\], unless that is sought: the search begins there.
    pub from: (f64, f64),
    /// Its velocity, likewise \[m/s\].
    pub velocity: (f64, f64),
    /// By how much both numbers of the place, then of the velocity, may be off at the beginning of a search.
    pub scatter: (f64, f64),
    /// Where the last ball is to be at the end \[m\].
    pub goal: (f64, f64),
    /// Length of a step \[s\].
    pub step: f64,
    /// Number of steps.
    pub steps: usize,
}

/// Places and velocities of all balls: the first begins as `shot` says, place \[m\] and velocity \[m/s\], the others at `rest`.
#[diff_kernel]
pub fn shoot<F: Float>(shot: &Array<F>, rest: &Array<Vec3<F>>, x: &mut Array<Vec3<F>>, v: &mut Array<Vec3<F>>) {
    let b = ABSOLUTE_POS;
    let zero = F::new(0.0);
    let mut place = rest[b];
    let mut velocity = Vec3::zero();
    if b == 0 {
        place = Vec3::new(shot[0], shot[1], zero);
        velocity = Vec3::new(shot[2], shot[3], zero);
    }
    x[b] = place;
    v[b] = velocity;
}

/// Squared distance of the last body from `goal` \[m^2\].
#[diff_kernel]
pub fn squared_miss<F: Float>(x: &Array<Vec3<F>>, goal: &Array<Vec3<F>>, loss: &mut Array<F>) {
    let off = x[x.len() - 1] - goal[0];
    loss[0] = off.dot(off);
}

/// A table, ready to be played on.
pub(super) struct Table {
    device: Device,
    model: Model<f64>,
    params: Params<f64>,
    rest: Array<Vec3<f64>>,
    goal: Array<Vec3<f64>>,
    steps: usize,
}

impl Billiards {
    /// Where all balls are, the one that is shot first.
    pub(super) fn places(&self) -> Vec<Vec3<f64>> {
        let Self { rows, radius, first, next, from, .. } = self;
        let ball = |row: usize, k: usize| {
            let across = first.1 + row as f64 * next.1 + 2.0 * radius * k as f64;
            Vec3::new(first.0 + row as f64 * next.0, across, 0.0)
        };
        let others = (0..*rows).flat_map(|row| (0..=row).map(move |k| ball(row, k)));
        std::iter::once(Vec3::new(from.0, from.1, 0.0)).chain(others).collect()
    }

    /// The shot from which a search begins: place \[m\], then velocity \[m/s\].
    pub(super) fn begin(&self, rng: &mut fastrand::Rng) -> Vec<f64> {
        let mut near = |x: f64, scatter: f64| x + scatter * (2.0 * rng.f64() - 1.0);
        let (place, speed) = self.scatter;
        vec![
            near(self.from.0, place),
            near(self.from.1, place),
            near(self.velocity.0, speed),
            near(self.velocity.1, speed),
        ]
    }

    /// What is wrong, by its field.
    pub(super) fn check(&self) -> std::result::Result<(), (&'static str, String)> {
        for (field, count, most) in [("rows", self.rows, 100), ("steps", self.steps, 100_000)] {
            if !(1..=most).contains(&count) {
                return Err((field, format!("{count}, expected 1 to {most}")));
            }
        }
        for (field, x) in [("radius", self.radius), ("step", self.step)] {
            if !(x > 0.0 && x.is_finite()) {
                return Err((field, format!("{x}, expected a positive number")));
            }
        }
        if !(0.0..=1.0).contains(&self.restitution) {
            return Err(("restitution", format!("{}, expected 0 to 1", self.restitution)));
        }
        Ok(())
    }
}

impl Table {
    /// With impulses at the time of impact, or for whole steps.
    pub(super) fn new(game: &Billiards, twin: Twin) -> Result<Self> {
        let impulse = match twin {
            Twin::TimeOfImpact => Impulse::TimeOfImpact,
            Twin::Naive => Impulse::Naive,
        };
        let (device, places) = (Device::cpu(), game.places());
        let bodies = vec![Body::ball(game.radius, game.radius)?; places.len()];
        let model = Model::new(&device, &bodies, game.step, &[])?.with_pairs(game.restitution, impulse)?;
        let params = Params { mass: Mass::Total(device.array(&[1.0])?), ..model.params(1.0, [0.0; 3])? };
        let (x, y) = game.goal;
        let (rest, goal) = (device.array(&places)?, device.array(&[Vec3::new(x, y, 0.0)])?);
        Ok(Self { device, model, params, rest, goal, steps: game.steps })
    }

    /// Where all balls are at the end: launches alone.
    pub(super) fn played(&self, shot: &Array<f64>) -> Result<State<f64>> {
        let (n, device) = (self.rest.len(), &self.device);
        let state = State {
            x: device.uninit(n)?,
            v: device.uninit(n)?,
            q: device.full(n, Quat::identity())?,
            l: device.zeros(n)?,
        };
        shoot(n, shot, &self.rest, &state.x, &state.v)?;
        let solver = self.model.solver(&self.params, &state)?;
        Ok(solver.advance(&state, 0, self.steps, Schedule::Auto)?)
    }
}

impl Scene for Table {
    fn evaluate(&self, controls: &[f64]) -> Result<Evaluated> {
        let shot = self.device.array(controls)?.requires_grad();
        let (tape, loss) = Tape::record_value(|| {
            let end = self.played(&shot)?;
            let loss = self.device.uninit(1)?;
            squared_miss(1, &end.x, &self.goal, &loss)?;
            Ok::<_, crate::error::Error>(loss)
        })?;
        tape.backward(&loss)?;
        let loss = loss.to_vec()?[0];
        Ok(Evaluated { loss, gradient: shot.grad()?.to_vec()?, outcome: loss.sqrt() })
    }
}
