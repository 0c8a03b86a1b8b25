//! What is drawn for one run of an experiment.

use super::protocol::{Between, Direction, Protocol};
use super::quantity::{Drawn, Unknown};
use super::shape;
use crate::error::Result;
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;
use diffkern_sim::rigid::{Body, Push};
use fastrand::Rng;
use std::f64::consts::TAU;

/// A body, how it begins and what pushes it, what made its motion, and where the search starts.
#[derive(Debug, Clone)]
pub struct Instance {
    /// Its number.
    pub number: usize,
    /// The name of its shape.
    pub shape: String,
    /// The body.
    pub body: Body,
    /// How it begins.
    pub pose: Pose<f64>,
    /// What pushes it.
    pub push: Option<Push>,
    /// The values that made the motion, one for each unknown.
    pub truth: Vec<f64>,
    /// Those that the search starts from.
    pub start: Vec<f64>,
    rng: Rng,
}

impl Instance {
    /// Number `number` of a protocol: the same for the same seed, whatever else is drawn.
    ///
    /// # Errors
    /// When a shape has a wrong dimension.
    pub fn draw(protocol: &Protocol, seed: u64, number: usize) -> Result<Self> {
        let mut rng = seeded(seed, number);
        let shape = &protocol.shapes[number % protocol.shapes.len()];
        let body = shape::body(shape, protocol.reach)?;
        let truth = values(&protocol.unknowns, &mut rng);
        let start = values(&protocol.unknowns, &mut rng);
        let begin = &protocol.start;
        let pose = Pose {
            centre: between(begin.position, &mut rng),
            rotation: rotation(&mut rng),
            velocity: between(begin.velocity, &mut rng),
            spin: between(begin.spin, &mut rng),
        };
        let push = protocol.push.as_ref().map(|push| {
            let vertices = body.mesh().vertices();
            let point = vertices[rng.usize(..vertices.len())];
            let towards = match push.direction {
                Direction::Any => on_sphere(&mut rng),
                Direction::Horizontal => {
                    let (sin, cos) = (TAU * rng.f64()).sin_cos();
                    Vec3::new(cos, sin, 0.0)
                }
            };
            let (begin, end) = push.interval;
            Push { body: 0, point, force: (towards * push.force).to_array(), interval: [begin, end] }
        });
        Ok(Self { number, shape: shape.name.clone(), body, pose, push, truth, start, rng })
    }

    /// Where else a search may start.
    pub(super) fn other_start(&mut self, unknowns: &[Unknown]) -> Vec<f64> {
        values(unknowns, &mut self.rng)
    }
}

fn values(unknowns: &[Unknown], rng: &mut Rng) -> Vec<f64> {
    let value = |unknown: &Unknown| {
        let ((low, high), part) = (unknown.range, rng.f64());
        match unknown.drawn {
            Drawn::Uniform => low + part * (high - low),
            Drawn::Log => low * (high / low).powf(part),
        }
    };
    unknowns.iter().map(value).collect()
}

fn between((low, high): Between, rng: &mut Rng) -> Vec3<f64> {
    let mut one = |low: f64, high: f64| low + rng.f64() * (high - low);
    Vec3::new(one(low.0, high.0), one(low.1, high.1), one(low.2, high.2))
}

/// Numbers for instance `number` of a seed: neighbouring seeds and numbers are far apart (the constants of Knuth and of Weyl's sequence).
pub(crate) fn seeded(seed: u64, number: usize) -> Rng {
    let mixed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Rng::with_seed(mixed)
}

/// Normal, of variance 1 (Box and Muller 1958).
pub(crate) fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (TAU * rng.f64()).cos()
}

/// Uniform on the unit sphere.
pub(crate) fn on_sphere(rng: &mut Rng) -> Vec3<f64> {
    let (z, (sin, cos)) = (2.0 * rng.f64() - 1.0, (TAU * rng.f64()).sin_cos());
    let r = (1.0 - z * z).sqrt();
    Vec3::new(r * cos, r * sin, z)
}

/// Uniform among rotations (Shoemake 1992).
fn rotation(rng: &mut Rng) -> Quat<f64> {
    let (u, a, b) = (rng.f64(), TAU * rng.f64(), TAU * rng.f64());
    let (low, high) = ((1.0 - u).sqrt(), u.sqrt());
    Quat::new(low * a.sin(), low * a.cos(), high * b.sin(), high * b.cos())
}
