//! Rigid bodies: mass properties, free motion, contact, and the gradients of all of them.

#[path = "../common/mod.rs"]
mod common;
mod between;
mod contact;
mod gradients;
mod impact;
mod joints;
mod motion;
mod pairs;
mod properties;
mod springs;

use diffkern::prelude::*;
use diffkern_sim::Result;
use diffkern_sim::collision::Pose;
use diffkern_sim::mesh::ClosedMesh;
use diffkern_sim::rigid::{MassProperties, Model, Params, State};
use diffkern_sim::shape::{Cuboid, Primitive};

fn device() -> Device {
    Device::cpu()
}

/// A box by its corners.
fn cuboid(sides: [f64; 3]) -> Result<ClosedMesh> {
    Primitive::Cuboid(Cuboid { sides }).surface(1e3)
}

/// At a place, turned by a rotation vector, with velocity and angular velocity.
fn pose(centre: [f64; 3], turn: [f64; 3], velocity: [f64; 3], spin: [f64; 3]) -> Pose<f64> {
    let rotation = Quat::from_rotation_vector(Vec3::from_array(turn));
    let [centre, velocity, spin] = [centre, velocity, spin].map(Vec3::from_array);
    Pose { centre, rotation, velocity, spin }
}

fn start(model: &Model<f64>, params: &Params<f64>, poses: &[Pose<f64>]) -> Result<State<f64>> {
    model.start(params, &device().array(poses)?)
}

/// Kinetic energy of a body \[J\].
fn kinetic(body: &MassProperties<f64>, q: Quat<f64>, v: Vec3<f64>, l: Vec3<f64>) -> f64 {
    let own = q.conjugate().rotate(l);
    0.5 * body.mass * v.dot(v) + 0.5 * own.dot(body.inverse * own)
}
