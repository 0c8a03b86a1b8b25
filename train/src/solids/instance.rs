//! What is drawn for one run: a body, how it begins, what acts on it, and what is to be found.

use super::field::Waves;
use super::protocol::{Family, Kind, Protocol, Range, middle};
use crate::experiments::{on_sphere, seeded};
use diffkern_sim::fem::lattice::{Body, Clamp};
use diffkern_sim::mesh::Pose;
use diffkern_sim::shape::{Cuboid, Primitive, Sphere};
use fastrand::Rng;
use std::f64::consts::PI;

/// One of the numbers that are drawn: a truth, or where a search starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Numbers {
    pub(super) density: f64,
    pub(super) mu: f64,
    pub(super) lambda: f64,
}

/// What acts, in the body's own frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Acting {
    /// Peaks of normal stresses along three axes \[Pa\].
    pub(super) stress: [f64; 3],
    /// Where these axes point, of a ball: a rotation.
    pub(super) axes: [f64; 3],
    /// Direction of bending, across x.
    pub(super) bend: [f64; 3],
    /// Angle of the twist \[rad\].
    pub(super) twist: f64,
    /// Acceleration by the push \[m/s^2\], in the world.
    pub(super) push: [f64; 3],
}

/// An instance.
#[derive(Debug, Clone)]
pub(super) struct Instance {
    pub(super) kind: Kind,
    /// The whole sides of the box about it \[m\].
    pub(super) sides: [f64; 3],
    pub(super) pose: Pose,
    pub(super) velocity: [f64; 3],
    pub(super) spin: [f64; 3],
    pub(super) acting: Acting,
    pub(super) truth: Numbers,
    pub(super) start: Numbers,
    pub(super) waves: Waves,
}

impl Instance {
    /// Number `number` of a protocol: the same for the same seed, whatever else is drawn.
    pub(super) fn draw(protocol: &Protocol, seed: u64, number: usize) -> Self {
        let mut rng = seeded(seed, number);
        let kind = protocol.kinds[number % protocol.kinds.len()].clone();
        let sides = match kind.shape {
            Family::Beam { length, side } => [length, side, side].map(|range| between(range, &mut rng)),
            Family::Ball { radius } => [2.0 * between(radius, &mut rng); 3],
        };
        let truth = numbers(protocol, &mut rng);
        let start = numbers(protocol, &mut rng);
        let turn = |rng: &mut Rng| {
            let angle = PI * rng.f64();
            on_sphere(rng).to_array().map(|x| angle * x)
        };
        let pose = Pose { rotation: turn(&mut rng), translation: [0.0; 3] };
        let mut each = |most: f64| [0; 3].map(|_| most * (2.0 * rng.f64() - 1.0));
        let (mut velocity, spin) = (each(kind.speed), each(kind.spin));
        if kind.clamped {
            velocity = [0.0; 3];
        } else {
            // At its end it is at the height of its beginning.
            let g = protocol.gravity;
            let half = 0.5 * kind.duration;
            velocity = [velocity[0] - half * g.0, velocity[1] - half * g.1, velocity[2] - half * g.2];
        }
        // Of at least half of the greatest, of either sign.
        let signed = |rng: &mut Rng, most: f64| most * (0.5 + 0.5 * rng.f64()) * if rng.bool() { 1.0 } else { -1.0 };
        // All of one sign, as by volume lambda shows, and by a change of form mu alone. Beams are pulled: a soft one folds long before
        // it bears as much along its axis (Euler: pi^2 E / 48 (h / L)^2 of a cantilever).
        let peak = signed(&mut rng, kind.stress * protocol.reference_modulus());
        let peak = if matches!(kind.shape, Family::Beam { .. }) { peak.abs() } else { peak };
        let stress = [0; 3].map(|_| peak * (0.5 + 0.5 * rng.f64()));
        let (sin, cos) = (2.0 * PI * rng.f64()).sin_cos();
        let (bend, twist) = (signed(&mut rng, kind.bend), signed(&mut rng, kind.twist));
        let acting = Acting {
            stress,
            axes: turn(&mut rng),
            bend: [0.0, bend * cos, bend * sin],
            twist,
            push: on_sphere(&mut rng).to_array().map(|x| kind.push * x),
        };
        let size = sides.iter().fold(0.0f64, |most, side| most.max(*side));
        let waves = Waves::draw(protocol.field, size, &mut rng);
        Self { kind, sides, pose, velocity, spin, acting, truth, start, waves }
    }

    /// Its shape in its own frame.
    pub(super) fn primitive(&self) -> Primitive {
        match self.kind.shape {
            Family::Beam { .. } => Primitive::Cuboid(Cuboid { sides: self.sides }),
            Family::Ball { .. } => Primitive::Sphere(Sphere { radius: 0.5 * self.sides[0] }),
        }
    }

    /// The body in cells, so many times as many along each axis as the search has.
    pub(super) fn body(&self, finer: usize) -> Body {
        let cell = self.thinnest() / (self.kind.cells * finer) as f64;
        let clamps = if self.kind.clamped { vec![Clamp::below(0, -0.5 * self.sides[0])] } else { Vec::new() };
        Body { pose: self.pose, clamps, ..Body::new(self.primitive(), cell) }
    }

    pub(super) fn thinnest(&self) -> f64 {
        self.sides.iter().fold(f64::INFINITY, |least, side| least.min(*side))
    }

    pub(super) fn longest(&self) -> f64 {
        self.sides.iter().fold(0.0f64, |most, side| most.max(*side))
    }
}

fn between((low, high): Range, rng: &mut Rng) -> f64 {
    low + rng.f64() * (high - low)
}

fn numbers(protocol: &Protocol, rng: &mut Rng) -> Numbers {
    let mut log = |(low, high): Range| low * (high / low).powf(rng.f64());
    Numbers { density: log(protocol.density), mu: log(protocol.mu), lambda: log(protocol.lambda) }
}

/// The middles of the ranges.
pub(super) fn middles(protocol: &Protocol) -> Numbers {
    Numbers { density: middle(protocol.density), mu: middle(protocol.mu), lambda: middle(protocol.lambda) }
}
