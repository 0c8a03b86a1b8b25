//! Ways to throw a body.

use crate::scene::Scene;
use crate::scene::document::{Body, Document, Pose, Start, Take, Up};
use nalgebra::{Rotation3, Vector3};
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_4;

/// A way to throw.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Throw {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) take: Take,
}

/// Of a scene with one elastic body that nothing holds: other velocities, spins and poses. None of any other.
pub(super) fn of(document: &Document, scene: &Scene) -> Vec<Throw> {
    let (Some((name, body)), [only]) = (document.bodies.first_key_value(), &scene.bodies[..]) else {
        return Vec::new();
    };
    let gravity = Vector3::from(document.gravity);
    let free = scene.clamp.is_none() && !scene.is_rigid() && only.load.is_none() && gravity.norm() > 0.0;
    if !free {
        return Vec::new();
    }
    let length = only.starts.first().map_or(0.0, |start| start.shape.sides().iter().product::<f64>().cbrt());
    let units = document.units;
    // As in the file: lengths, times and angles in its units.
    let metre = 1.0 / units.length.metres();
    let (second, radian) = (1.0 / units.time.seconds(), 1.0 / units.angle.radians());
    let weight = scene.gravity.iter().map(|g| g * g).sum::<f64>().sqrt();
    let speed = (weight * length).sqrt() * metre / second;
    let spin = 1.5 * (weight / length.max(f64::MIN_POSITIVE)).sqrt() * radian / second;
    let down = gravity.normalize();
    let velocity = Vector3::from(body.velocity);
    let (first, second_axis) = level(document.axes.up);
    let own = Start { velocity: Some(body.velocity), angular_velocity: Some(body.angular_velocity), pose: None };
    let faster = format!("thrown down {:.1} m/s faster", speed * second / metre);
    let rate = spin * second / radian;
    let mut all = vec![
        (
            "dropped",
            "dropped from rest".to_owned(),
            Start { velocity: Some([0.0; 3]), angular_velocity: Some([0.0; 3]), ..own },
        ),
        ("faster", faster, Start { velocity: Some((velocity + down * speed).into()), ..own }),
        (
            "spinning_x",
            format!("spinning with {rate:.0} rad/s about the x axis"),
            Start { angular_velocity: Some((first * spin).into()), ..own },
        ),
        (
            "spinning_y",
            format!("spinning with {rate:.0} rad/s about the other horizontal axis"),
            Start { angular_velocity: Some((second_axis * spin).into()), ..own },
        ),
    ];
    let pose = turned(body, first, radian, -down * 0.25 * length * metre);
    all.push(("on_edge", "turned by 45 degrees about the x axis".to_owned(), Start { pose: Some(pose), ..own }));
    let take = |start: Start| Take { bodies: BTreeMap::from([(name.clone(), start)]) };
    all.into_iter().map(|(name, about, start)| Throw { name: name.into(), about, take: take(start) }).collect()
}

/// Two horizontal axes.
fn level(up: Up) -> (Vector3<f64>, Vector3<f64>) {
    match up {
        Up::Z => (Vector3::x(), Vector3::y()),
        Up::Y => (Vector3::x(), -Vector3::z()),
    }
}

/// Where a body is once it is turned about an axis of the room and moved.
fn turned(body: &Body, axis: Vector3<f64>, radian: f64, by: Vector3<f64>) -> Pose {
    let now = Rotation3::new(Vector3::from(body.pose.rotation) / radian);
    let turn = Rotation3::new(axis * FRAC_PI_4) * now;
    let position = (Vector3::from(body.pose.position) + by).into();
    Pose { position, rotation: (turn.scaled_axis() * radian).into() }
}
