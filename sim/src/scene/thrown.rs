//! How far colliders may throw a body.
//!
//! A collider that stands still takes no energy and gives none: a body leaves it no faster than it came, in any direction. One whose
//! surface moves with `u` throws a body that comes with `s` at most with `s + 2 u`. Blows that follow upon each other, each faster than
//! the one before, are not foreseen.

use super::bodies::BodiesSpec;
use super::body::BodySpec;
use super::extent::{Bounds, Flight, SAMPLES};
use crate::contact::Collider;

/// Where a body may get when it meets colliders during its flight: `whole`, made larger.
pub(super) fn widened(spec: &BodiesSpec, body: &BodySpec, flight: &Flight<'_>, whole: Bounds) -> Bounds {
    let (mut low, mut high) = whole;
    let longest = body.shape.sides().into_iter().fold(0.0, f64::max);
    for sample in 0..=SAMPLES {
        let time = spec.duration * sample as f64 / SAMPLES as f64;
        let swept = flight.until(sample);
        for collider in spec.colliders.iter().filter(|collider| meets(collider, &swept, time)) {
            let speed = coming(spec, body, collider, &swept, time) + 2.0 * surface_speed(collider, &swept, time);
            let far = |pull: f64| match flight.held() {
                true => longest,
                false => farthest(speed, pull, spec.duration - time),
            };
            for a in 0..3 {
                low[a] = low[a].min(swept.0[a] - far(-spec.gravity[a]));
                high[a] = high[a].max(swept.1[a] + far(spec.gravity[a]));
            }
        }
    }
    flight.stopped((low, high))
}

/// Largest speed that colliders give to what they hit within the box \[m/s\].
pub(super) fn push(spec: &BodiesSpec, bounds: &Bounds) -> f64 {
    let speed = |collider: &Collider| {
        let ends = [0.0, spec.duration].map(|time| surface_speed(collider, bounds, time));
        2.0 * ends[0].max(ends[1])
    };
    spec.colliders.iter().map(speed).fold(0.0, f64::max)
}

/// Whether a collider may touch what is in a box.
fn meets(collider: &Collider, bounds: &Bounds, time: f64) -> bool {
    collider.gap(middle(bounds), time) <= half_diagonal(bounds)
}

/// Speed of a body when it meets a collider: what it begins with, and what it gains by falling as far as it has got or, if that is less, to
/// the far side of the collider \[m/s\].
fn coming(spec: &BodiesSpec, body: &BodySpec, collider: &Collider, (low, high): &Bounds, time: f64) -> f64 {
    let size = body.shape.sides();
    let so_far: f64 = (0..3).map(|a| spec.gravity[a].abs() * (high[a] - low[a] - size[a])).sum();
    let (centre, start) = (centre(collider, time), body.shape.centre());
    let towards: f64 = (0..3).map(|a| spec.gravity[a] * (centre[a] - start[a])).sum();
    let to_it = towards + norm(&spec.gravity) * (collider.solid.radius() + 0.5 * norm(&size));
    let fall = if norm(&spec.gravity) > 0.0 { so_far.min(to_it) } else { 0.0 };
    body.start_speed() + (2.0 * fall.max(0.0)).sqrt()
}

/// Largest speed of the surface of a collider within a box \[m/s\].
fn surface_speed(collider: &Collider, (low, high): &Bounds, time: f64) -> f64 {
    let centre = centre(collider, time);
    let away = [0, 1, 2].map(|a| (low[a] - centre[a]).abs().max((high[a] - centre[a]).abs()));
    let pose = collider.pose;
    pose.velocity.norm() + pose.spin.norm() * collider.solid.radius().min(norm(&away))
}

/// How far a throw gets against or along a `pull` \[m\].
fn farthest(speed: f64, pull: f64, time: f64) -> f64 {
    let time = if pull < 0.0 { time.min(speed / -pull) } else { time };
    (speed + 0.5 * pull * time) * time
}

fn centre(collider: &Collider, time: f64) -> [f64; 3] {
    (collider.pose.centre + collider.pose.velocity * time).to_array()
}

fn middle((low, high): &Bounds) -> [f64; 3] {
    [0, 1, 2].map(|a| 0.5 * (low[a] + high[a]))
}

fn half_diagonal((low, high): &Bounds) -> f64 {
    0.5 * norm(&[0, 1, 2].map(|a| high[a] - low[a]))
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::Solid;
    use crate::contact::Contact;
    use crate::mpm::HalfSpace;
    use crate::scene::BodyShape;

    fn cube(colliders: Vec<Collider>, velocity: [f64; 3]) -> BodiesSpec {
        let shape = BodyShape::Block { min: [-0.05, -0.05, 0.0], max: [0.05, 0.05, 0.1] };
        BodiesSpec {
            bodies: vec![BodySpec { shape, velocity, ..BodySpec::default() }],
            colliders,
            ..BodiesSpec::default()
        }
    }

    fn wall(at: f64) -> Collider {
        Collider::new(Solid::Cuboid { half_x: 0.1, half_y: 1.0, half_z: 1.0 }, Contact::Slip).at([at, 0.0, 0.0])
    }

    #[test]
    fn a_body_that_meets_nothing_needs_no_more_room() {
        let alone = cube(vec![], [1.0, 0.0, 0.0]).plan().unwrap();
        let far = cube(vec![wall(9.0)], [1.0, 0.0, 0.0]).plan().unwrap();
        assert_eq!((alone.nodes(), alone.dt), (far.nodes(), far.dt));
    }

    #[test]
    fn what_bounces_back_and_what_is_hit_stay_on_the_grid() {
        // Half of the second it flies to the wall, half of it back or aside.
        let spec = cube(vec![wall(0.65)], [1.0, 0.0, 0.0]);
        let (low, high) = crate::scene::extent::motion(&spec);
        assert!(low[0] < -0.05 - 0.2 && high[1] > 0.05 + 0.4 && low[1] < -0.05 - 0.4, "{low:?} {high:?}");
        assert!(high[0] > 1.05 && high[1] < 1.3, "{low:?} {high:?}");
        // A bat that comes with 2 m/s and throws with 4.
        let bat = wall(-0.2).moving([2.0, 0.0, 0.0], [0.0; 3]);
        let spec = cube(vec![bat.clone()], [0.0; 3]);
        let (_, high) = crate::scene::extent::motion(&spec);
        assert!(high[0] > 0.05 + 3.9 && high[0] < 4.2, "{high:?}");
        // In a step it goes at most a part of a cell.
        let plan = spec.plan().unwrap();
        assert!(4.0 * plan.dt <= spec.cfl * plan.dx, "{} {}", plan.dt, plan.dx);
        // A floor stops what is thrown.
        let floor = HalfSpace::through([0.0, 0.0, -0.01], [0.0, 0.0, 1.0], Contact::Penalty { stiffness: 1e4 });
        let (low, _) = crate::scene::extent::motion(&BodiesSpec { half_spaces: vec![floor], ..spec });
        assert_eq!(low[2], -0.01);
    }

    #[test]
    fn a_spinning_collider_throws_with_the_speed_of_its_ends() {
        let arm = Solid::Capsule { radius: 0.1, half_length: 0.9 };
        let turning = Collider::new(arm, Contact::Slip).moving([0.0; 3], [0.0, 3.0, 0.0]);
        assert_eq!(push(&cube(vec![turning], [0.0; 3]), &([-5.0; 3], [5.0; 3])), 6.0);
        // Of a plane without end counts what is near the bodies.
        let table = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], Contact::Sticky).moving([0.0; 3], [0.0, 0.0, 2.0]);
        assert_eq!(push(&cube(vec![table], [0.0; 3]), &([-3.0, 0.0, 0.0], [3.0, 4.0, 0.0])), 20.0);
    }

    #[test]
    fn a_throw_upwards_ends_at_its_top() {
        for (pull, time, expected) in [(-8.0, 5.0, 0.25), (-8.0, 0.125, 0.1875), (8.0, 1.0, 6.0), (0.0, 3.0, 6.0)] {
            assert_eq!(farthest(2.0, pull, time), expected);
        }
    }
}
