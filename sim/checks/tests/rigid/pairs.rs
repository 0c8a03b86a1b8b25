//! Balls that hit each other against closed forms.

use crate::common::Random;
use crate::common::groups::Run;
use crate::gradients::loss;
use crate::{cuboid, device, pose, start};
use diffkern::prelude::*;
use diffkern_sim::rigid::{Body, Impacts, Impulse, Mass, Model, Params, Plane, State};
use diffkern_sim::{Result, Span, Step as _};

const R: f64 = 0.1;

fn two(impulse: Impulse, e: f64, h: f64) -> Result<(Model<f64>, Params<f64>)> {
    let bodies = [Body::ball(R, 0.1)?, Body::ball(R, 0.1)?];
    let model = Model::new(&device(), &bodies, h, &[])?.with_pairs(e, impulse)?;
    let mut params = model.params(1.0, [0.0; 3])?;
    params.mass = Mass::Total(device().array(&[0.3, 0.8])?);
    Ok((model, params))
}

/// An oblique collision: momentum and angular momentum stay to rounding, the approach is reversed along the line of centres.
#[test]
fn a_collision_of_two_keeps_momentum() -> Result<()> {
    let (model, params) = two(Impulse::TimeOfImpact, 0.7, 0.05)?;
    let masses = [0.3, 0.8];
    let from = [
        pose([0.0, 0.0, 0.0], [0.0; 3], [1.3, 0.2, 0.1], [0.0; 3]),
        pose([0.4, 0.08, -0.03], [0.0; 3], [-0.9, 0.1, 0.2], [0.0; 3]),
    ];
    let state = start(&model, &params, &from)?;
    let solver = model.solver(&params, &state)?;
    let end = solver.advance(&state, 0, 10, Schedule::Auto)?;
    let sums = |s: &State<f64>| -> Result<(Vec3<f64>, Vec3<f64>, f64)> {
        let (x, v) = (s.x.to_vec()?, s.v.to_vec()?);
        let p = v[0] * masses[0] + v[1] * masses[1];
        let l = x[0].cross(v[0]) * masses[0] + x[1].cross(v[1]) * masses[1];
        Ok((p, l, 0.5 * (masses[0] * v[0].dot(v[0]) + masses[1] * v[1].dot(v[1]))))
    };
    let (before, after) = (sums(&state)?, sums(&end)?);
    assert!((before.0 - after.0).norm() < 1e-15, "{before:?} {after:?}");
    assert!((before.1 - after.1).norm() < 1e-15, "{before:?} {after:?}");
    // When they touch: a quadratic equation, solved here by bisection.
    let (away, speed) = (from[0].centre - from[1].centre, from[0].velocity - from[1].velocity);
    let (mut low, mut high) = (0.0, 0.2);
    for _ in 0..60 {
        let t = 0.5 * (low + high);
        if (away + speed * t).norm() > 2.0 * R {
            low = t;
        } else {
            high = t;
        }
    }
    let n = (away + speed * low).normalize();
    let left = end.v.to_vec()?[0] - end.v.to_vec()?[1];
    assert!((left.dot(n) + 0.7 * speed.dot(n)).abs() < 1e-13, "{left:?}");
    assert!((left - n * left.dot(n) - (speed - n * speed.dot(n))).norm() < 1e-13, "{left:?}");
    let (lost, mass) = (before.2 - after.2, 0.3 * 0.8 / 1.1);
    assert!((lost - 0.5 * mass * (1.0 - 0.49) * speed.dot(n).powi(2)).abs() < 1e-14, "{lost}");
    let exact = from[0].centre + from[0].velocity * low + end.v.to_vec()?[0] * (0.5 - low);
    assert!((end.x.to_vec()?[0] - exact).norm() < 1e-13);
    Ok(())
}

/// Head on: where the first ends depends on where it starts through the time of impact.
#[test]
fn head_on_collisions_have_the_slope_of_their_time() -> Result<()> {
    let (e, v) = (0.6, [1.3, -0.9]);
    let new = ((0.3 - e * 0.8) * v[0] + (1.0 + e) * 0.8 * v[1]) / 1.1;
    for (impulse, exact) in [(Impulse::TimeOfImpact, 1.0 - (v[0] - new) / (v[0] - v[1])), (Impulse::Naive, 1.0)] {
        let (model, params) = two(impulse, e, 0.01)?;
        let from = [
            pose([0.0; 3], [0.0; 3], [v[0], 0.0, 0.0], [0.0; 3]),
            pose([0.4, 0.0, 0.0], [0.0; 3], [v[1], 0.0, 0.0], [0.0; 3]),
        ];
        let state = start(&model, &params, &from)?;
        let x = state.x.clone().requires_grad();
        let (tape, end) = Tape::record_value(|| {
            let from = State { x: x.clone(), ..state.clone() };
            model.solver(&params, &from)?.advance(&from, 0, 40, Schedule::Auto)
        })?;
        let first = device().array(&[Vec3::new(1.0, 0.0, 0.0), Vec3::zero()])?;
        tape.backward_from(&[(end.x.as_any(), first.as_any())])?;
        let slope = x.grad()?.to_vec()?[0].x;
        assert!((slope - exact).abs() < 1e-9, "{impulse:?}: {slope}, {exact}");
        assert!((end.v.to_vec()?[0].x - new).abs() < 1e-13);
    }
    Ok(())
}

/// Four balls on a table within two walls, as of billiards.
#[test]
fn gradients_through_collisions() -> Result<()> {
    for seed in [1, 2, 3] {
        let mut r = Random(seed);
        let wall = |normal: [f64; 3]| Plane { normal, offset: -0.6, restitution: 0.8, friction: 0.2 };
        let bodies = vec![Body::ball(R, 0.1)?; 4];
        let model = Model::new(&device(), &bodies, 1e-2, &[])?
            .with_pairs(0.7, Impulse::TimeOfImpact)?
            .with_impacts(Impacts { sweeps: 3, ..Impacts::new(vec![wall([1.0, 0.1, 0.0]), wall([-1.0, 0.2, 0.1])]) })?;
        let params = model.params(300.0, [0.1, 0.2, -0.3])?;
        let poses: Vec<_> = (0..4)
            .map(|k| {
                let mut v = |size: f64| r.vec3(-size, size);
                let at = Vec3::new(0.3 * (k as f64 - 1.5), 0.0, 0.0) + v(0.02);
                // All drift along the walls, so that they slide there.
                let velocity = Vec3::new(if k == 0 { 2.5 } else { 0.0 }, 1.5, 0.0) + v(0.1);
                pose(at.to_array(), v(0.5).to_array(), velocity.to_array(), v(1.0).to_array())
            })
            .collect();
        let state = start(&model, &params, &poses)?;
        let span = Span::until(0, 0.0, 0.4, 1e-2)?;
        Run { model: &model, params, state, span, loss: &loss }.check(&[])?;
    }
    Ok(())
}

#[test]
fn what_cannot_collide_is_refused() -> Result<()> {
    let one = Model::<f64>::new(&device(), &[Body::ball(R, 0.1)?, Body::new(cuboid([0.1; 3])?)], 0.01, &[])?;
    let error = one.with_pairs(0.5, Impulse::TimeOfImpact).unwrap_err().to_string();
    assert!(error.starts_with("number of balls that may collide is 1"), "{error}");
    let two = Model::<f64>::new(&device(), &[Body::ball(R, 0.1)?, Body::ball(R, 0.1)?], 0.01, &[])?;
    assert!(two.with_pairs(1.5, Impulse::TimeOfImpact).is_err());
    Ok(())
}
