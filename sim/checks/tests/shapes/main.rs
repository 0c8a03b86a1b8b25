//! Bodies of any shape: their surfaces, the particles that fill them, the surfaces that particles carry.

mod carried;
#[path = "../common/mod.rs"]
mod common;
mod filling;
mod generators;
mod physics;
mod refusals;
mod surfaces;

use common::Random;
use diffkern_sim::mesh::Pose;
use diffkern_sim::shape::{Capsule, Cuboid, Cylinder, Ellipsoid, Primitive, Sphere, Torus};

/// One of each, of about one size \[m\].
const PRIMITIVES: [Primitive; 6] = [
    Primitive::Cuboid(Cuboid { sides: [1.0, 0.8, 0.7] }),
    Primitive::Sphere(Sphere { radius: 0.5 }),
    Primitive::Ellipsoid(Ellipsoid { radii: [0.6, 0.4, 0.5] }),
    Primitive::Capsule(Capsule { radius: 0.35, length: 0.6 }),
    Primitive::Cylinder(Cylinder { radius: 0.45, height: 0.8 }),
    Primitive::Torus(Torus { radius: 0.5, tube: 0.25 }),
];

fn pose(r: &mut Random) -> Pose {
    let mut vector = |size: f64| [0; 3].map(|_| r.between(-size, size));
    Pose { rotation: vector(2.0), translation: vector(0.3) }
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |m, x| m.max(x.abs()))
}
