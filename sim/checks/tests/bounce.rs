//! Bodies of particles that meet colliders and half-spaces.

use diffkern::prelude::*;
use diffkern_sim::collision::Solid;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::mesh::Pose;
use diffkern_sim::mpm::{Dim3, HalfSpace, Transfer};
use diffkern_sim::scene::{self, BodiesSpec, BodyShape, BodySpec};
use diffkern_sim::shape::{Primitive, Sphere};
use diffkern_sim::{Result, Step as _};

const G: f64 = 9.81;
/// Time of a fall, a bounce and a part of the way back \[s\], two frames.
const DURATION: f64 = 0.1;

/// A ball 1.5 cm above z = 0, which it meets at 1.5 m/s.
fn ball(friction: f64, half_spaces: Vec<HalfSpace<Dim3>>, colliders: Vec<Collider>) -> BodiesSpec {
    let sphere = Primitive::Sphere(Sphere { radius: 0.06 });
    let shape = BodyShape::Solid(scene::Solid::new(sphere, Pose::at([0.0, 0.0, 0.075])).expect("a ball"));
    let body = BodySpec { shape, velocity: [0.6, 0.0, -1.4], mu: [8e3; 2], lambda: [12e3; 2], ..BodySpec::default() };
    BodiesSpec {
        bodies: vec![body],
        gravity: [0.0, 0.0, -G],
        half_spaces: half_spaces.into_iter().map(|h| h.with_friction(friction)).collect(),
        colliders: colliders.into_iter().map(|c| c.with_friction(friction)).collect(),
        duration: DURATION,
        frame_rate: 2.0 / DURATION,
        spacing: 0.012,
        cfl: 0.2,
        ..BodiesSpec::default()
    }
}

const PENALTY: Contact = Contact::Penalty { stiffness: 1.2 * 28e3 / 0.012 };

fn floor() -> HalfSpace<Dim3> {
    HalfSpace::through([0.0; 3], [0.0, 0.0, 1.0], PENALTY)
}

fn slab() -> Collider {
    Collider::new(Solid::Cuboid { half_x: 2.0, half_y: 2.0, half_z: 0.5 }, PENALTY).at([0.3, 0.2, -0.5])
}

/// Place and velocity of the centre at the end.
fn end(spec: &BodiesSpec) -> Result<[[f64; 3]; 2]> {
    let device = Device::cpu();
    let scene = spec.build::<f64>(&device)?;
    let solver = scene.model.solver(&scene.params(&device)?, scene.state.len())?;
    let steps = (spec.duration / scene.model.dt()).round() as usize;
    let end = solver.advance(&scene.state, 0, steps, diffkern::Schedule::Auto)?;
    let mean = |of: &Array<Vec3<f64>>| -> Result<[f64; 3]> {
        let (all, volumes) = (of.to_vec()?, scene.volumes.to_vec()?);
        let volume = |k: usize| volumes[k.min(volumes.len() - 1)];
        let total: f64 = (0..all.len()).map(volume).sum();
        let sum = all.iter().enumerate().fold(Vec3::zero(), |sum, (k, x)| sum + *x * volume(k));
        Ok((sum / total).to_array())
    };
    Ok([mean(&end.x)?, mean(&end.v)?])
}

#[test]
fn a_box_throws_back_as_a_half_space_does() -> Result<()> {
    for friction in [0.0, 0.3] {
        let [[x, _, z], [u, _, w]] = end(&ball(friction, vec![floor()], vec![]))?;
        let still = end(&ball(friction, vec![], vec![slab()]))?;
        let plane = end(&ball(friction, vec![], vec![Collider::plane([0.0; 3], [0.0, 0.0, 1.0], PENALTY)]))?;
        for [[x1, _, z1], [u1, _, w1]] in [still, plane] {
            assert!((x1 - x).abs() < 0.01 * x && (z1 - z).abs() < 0.01 * z, "{x1} {x} {z1} {z}");
            assert!((u1 - u).abs() < 0.02 * u && (w1 - w).abs() < 0.02 * w.abs(), "{u1} {u} {w1} {w}");
        }
    }
    Ok(())
}

#[test]
fn who_moves_does_not_matter() -> Result<()> {
    // Weightless: a box comes from below, or the ball comes from above.
    let gravity = [0.0; 3];
    let mut falling = BodiesSpec { gravity, ..ball(0.3, vec![], vec![slab()]) };
    let mut resting =
        BodiesSpec { colliders: vec![slab().moving([-0.6, 0.0, 1.4], [0.0; 3]).with_friction(0.3)], ..falling.clone() };
    resting.bodies[0].velocity = [0.0; 3];
    // As finely in time.
    (falling.reach, resting.reach) = (0.1, 0.1);
    let ([_, v], [_, w]) = (end(&falling)?, end(&resting)?);
    for (a, moving) in [-0.6, 0.0, 1.4].into_iter().enumerate() {
        assert!((w[a] - moving - v[a]).abs() < 0.03, "{w:?} {v:?}");
    }
    Ok(())
}

#[test]
fn colliders_are_checked() {
    let of = |collider: Collider| ball(0.0, vec![], vec![collider]).plan().unwrap_err().to_string();
    let ball = Collider::new(Solid::Sphere { radius: 0.0 }, PENALTY);
    assert_eq!(of(ball.clone()), "radius of collider 0 is 0, expected a positive number");
    let round = Contact::Hertz { stiffness: 1.0, damping: 0.0 };
    let message = of(Collider { contact: round, solid: Solid::Sphere { radius: 1.0 }, ..ball });
    assert!(message.starts_with("contact of collider 0 is Hertz"), "{message}");
}

#[test]
fn bodies_that_would_never_meet_are_refused() {
    let spec = ball(0.0, vec![], vec![]);
    let two = BodiesSpec { bodies: vec![spec.bodies[0].clone(); 2], transfer: Transfer::LAGRANGIAN, ..spec };
    let message = two.plan().unwrap_err().to_string();
    assert!(message.starts_with("transfer of several bodies is Lagrangian for the whole run"), "{message}");
    assert!(BodiesSpec { transfer: Transfer::Lagrangian { steps: Some(8) }, ..two }.plan().is_ok());
}
