//! How much shorter steps are where bodies are hit so fast that they stiffen by more than steps of bodies at rest have room for.

use super::body::BodySpec;
use crate::collision::Solid;
use crate::contact::Collider;
use diffkern::prelude::*;

/// By how many times the speed of an impact over that of waves a body is compressed where it is hit: waves on both sides of a ball meet.
const COMPRESSED: f64 = 1.5;
/// The least stretch that steps are made for.
const LEAST: f64 = 0.15;
/// Stiffness, beside that at rest, that steps of bodies at rest have room for.
const ROOM: f64 = 4.0;
/// Materials of a range that are looked at.
const LOOKED_AT: u32 = 16;

/// Largest speed at which a body that falls freely comes to one of the colliders \[m/s\]; several bodies meet at the sum of those that they begin with: that one
/// lies still while another falls on it is not counted.
pub(super) fn speed(bodies: &[BodySpec], of: usize, colliders: &[Collider], gravity: [f64; 3]) -> f64 {
    let body = &bodies[of];
    let centre = Vec3::from_array(body.shape.centre());
    let (velocity, gravity) = (Vec3::from_array(body.velocity), Vec3::from_array(gravity));
    // What may be searched for, and how fast a corner turns.
    let more = (body.start_speed() - velocity.norm()).max(0.0);
    let met = colliders.iter().map(|collider| {
        let [low, high] = body.shape.bounds().map(Vec3::from_array);
        let own = collider.pose.velocity.norm()
            + collider.pose.spin.norm() * collider.solid.radius().min((high - low).norm());
        match collider.solid {
            Solid::HalfSpace {} => {
                let down = -collider.pose.rotation.rotate(Vec3::new(0.0, 0.0, 1.0));
                let [_, low] = body.shape.span(down.to_array());
                let height = (down.dot(collider.pose.centre) - low).max(0.0);
                let fall = 2.0 * gravity.dot(down).max(0.0) * height;
                ((velocity.dot(down).max(0.0) + more).powi(2) + fall).sqrt() + own
            }
            _ => {
                let fall = 2.0 * gravity.norm() * (collider.pose.centre - centre).norm();
                ((velocity.norm() + more).powi(2) + fall).sqrt() + own
            }
        }
    });
    let others = bodies.iter().enumerate().filter(|(k, _)| *k != of);
    let beside = others.map(|(_, other)| other.start_speed() + body.start_speed());
    met.chain(beside).fold(0.0, f64::max)
}

/// How many times as short as at rest the steps of a body are that is hit at `mach` times the speed of its waves. One up to a third; of neo-Hookean
/// matter with both Lamé parameters alike, that is compressed along one axis.
pub(super) fn shortening(mach: f64) -> f64 {
    let stretch = (1.0 - COMPRESSED * mach).max(LEAST);
    let square = 1.0 / (stretch * stretch);
    let stiffer = (1.0 + square + (1.0 - stretch.ln()) * square) / 3.0;
    (stiffer / ROOM).sqrt().max(1.0)
}

/// The same beside steps of the fastest waves, for all materials with waves from `slow` to `fast` \[m/s\].
pub(super) fn most(speed: f64, [slow, fast]: [f64; 2]) -> f64 {
    let wave = |k: u32| slow * (fast / slow).powf(f64::from(k) / f64::from(LOOKED_AT));
    (0..=LOOKED_AT).map(|k| wave(k) / fast * shortening(speed / wave(k))).fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Contact;
    use crate::scene::BodyShape;

    #[test]
    fn steps_are_shorter_the_faster_the_impact() {
        assert_eq!([0.0, 0.25, 0.32].map(shortening), [1.0; 3]);
        let all = [0.34, 0.4, 0.45, 0.5, 0.55, 0.6].map(shortening);
        assert!(all.windows(2).all(|pair| pair[0] <= pair[1]), "{all:?}");
        assert!((shortening(0.45) - 1.6).abs() < 0.1 && (3.0..4.0).contains(&shortening(0.56)), "{all:?}");
        assert_eq!(shortening(0.6), shortening(10.0));
        // The soft end of a range may need more steps than the hard one.
        assert_eq!(most(0.3, [1.0, 3.0]), 1.0);
        assert!(most(1.7, [3.0, 6.0]) > 1.5 && most(1.7, [3.0, 3.0]) == shortening(1.7 / 3.0));
    }

    #[test]
    fn speeds_are_those_at_which_bodies_arrive() {
        let shape = BodyShape::Block { min: [0.0, 0.0, 0.05], max: [0.1, 0.1, 0.15] };
        let body = BodySpec { shape, velocity: [3.0, 0.0, -1.0], ..BodySpec::default() };
        let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], Contact::Separating);
        let roof = Collider::plane([0.0, 0.0, 1.0], [0.0, 0.0, -1.0], Contact::Separating);
        let of = |colliders: &[Collider]| speed(std::slice::from_ref(&body), 0, colliders, [0.0, 0.0, -9.81]);
        assert!((of(std::slice::from_ref(&floor)) - (1.0 + 2.0 * 9.81 * 0.05f64).sqrt()).abs() < 1e-12);
        assert_eq!(of(&[roof]), 0.0);
        let ball = Collider::new(Solid::Sphere { radius: 0.1 }, Contact::Separating).at([0.05, 0.05, 0.6]);
        assert!(
            (of(&[ball.moving([0.0, 0.0, -2.0], [0.0; 3])]) - 2.0 - (10.0 + 2.0 * 9.81 * 0.5f64).sqrt()).abs() < 1e-12
        );
        let two = [body.clone(), BodySpec { velocity: [0.0, 4.0, 0.0], ..body.clone() }];
        assert!((speed(&two, 0, &[], [0.0; 3]) - 10f64.sqrt() - 4.0).abs() < 1e-12);
        let faster = BodySpec { top_speed: 10f64.sqrt() + 1.0, ..body.clone() };
        assert!((speed(&[faster], 0, &[floor], [0.0; 3]) - 2.0).abs() < 1e-12);
    }
}
