//! Motion without contact against closed forms.

use crate::common::groups::{compare, gradient, like, numbers};
use crate::{cuboid, device, kinetic, pose, start};
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;
use diffkern_sim::rigid::{Body, Control, Impacts, Integrator, Model, Params, Plane, Push, Pushes, State};
use diffkern_sim::{Observe as _, Result, Span, Step as _};

const SIDES: [f64; 3] = [0.3, 0.5, 0.8];

fn block(dt: f64, integrator: Integrator) -> Result<Model<f64>> {
    Ok(Model::new(&device(), &[Body::new(cuboid(SIDES)?)], dt, &[])?.with_integrator(integrator))
}

/// The same above a plane far away: the way of steps with impacts, without one.
fn block_above_a_plane(dt: f64) -> Result<Model<f64>> {
    let plane = Plane { normal: [0.0, 0.0, 1.0], offset: -99.0, restitution: 0.5, friction: 0.1 };
    block(dt, Integrator::Midpoint)?.with_impacts(Impacts::new(vec![plane]))
}

fn run(model: &Model<f64>, params: &Params<f64>, from: Pose<f64>, duration: f64) -> Result<State<f64>> {
    let state = start(model, params, &[from])?;
    let span = Span::until(0, 0.0, duration, model.solver(params, &state)?.dt())?;
    model.solver(params, &state)?.advance_with(&state, span, |_, _| Ok(Control::default()), Schedule::Auto)
}

#[test]
fn falls_as_semi_implicit_euler_does() -> Result<()> {
    let (h, g, t) = (0.01, Vec3::new(0.3, 0.2, -9.81), 0.5);
    let model = block(h, Integrator::Midpoint)?;
    let params = model.params(500.0, g.to_array())?;
    let velocity = Vec3::new(0.4, -0.2, 3.0);
    let end = run(&model, &params, pose([0.1, 0.2, 0.3], [0.2, 0.1, 0.4], velocity.to_array(), [0.0; 3]), t)?;
    let exact = Vec3::new(0.1, 0.2, 0.3) + velocity * t + g * (0.5 * t * (t + h));
    assert!((end.x.to_vec()?[0] - exact).norm() < 1e-13);
    assert!((end.v.to_vec()?[0] - velocity - g * t).norm() < 1e-13);
    Ok(())
}

/// Ten seconds without torque, about the middle axis: energy and momentum stay, the body turns over and back (Dzhanibekov).
#[test]
fn a_top_keeps_energy_and_momentum_and_flips_about_its_middle_axis() -> Result<()> {
    let model = block(2e-3, Integrator::Midpoint)?;
    let params = model.params(500.0, [0.0; 3])?;
    let mut state = start(&model, &params, &[pose([0.0; 3], [0.3, -0.2, 0.5], [0.0; 3], [0.0; 3])])?;
    let solver = model.solver(&params, &state)?;
    let body = solver.properties().to_vec()?[0];
    let turn = state.q.to_vec()?[0];
    let momentum = turn.rotate(body.inertia * Vec3::new(0.02, 5.0, 0.03));
    state.l = device().array(&[momentum])?;
    let before = kinetic(&body, turn, Vec3::zero(), momentum);
    let (mut signs, mut drift) = (Vec::new(), 0.0f64);
    for second in 0..100 {
        state = solver.advance(&state, 50 * second, 50, Schedule::Auto)?;
        let (q, l) = (state.q.to_vec()?[0], state.l.to_vec()?[0]);
        drift = drift.max((kinetic(&body, q, Vec3::zero(), l) / before - 1.0).abs());
        assert!((l - momentum).norm() < 1e-13 * momentum.norm());
        let about = (body.inverse * q.conjugate().rotate(l)).y;
        if about.abs() > 4.0 {
            signs.push(about > 0.0);
        }
    }
    let flips = signs.windows(2).filter(|w| w[0] != w[1]).count();
    assert!(drift < 1e-3 && flips >= 2, "drift {drift}, {flips} flips");
    Ok(())
}

/// A symmetric top precesses about its angular momentum at the rate `L / I_1`: without the gyroscopic torque its axis of rotation would
/// stay in the body.
#[test]
fn a_symmetric_top_precesses() -> Result<()> {
    let (sides, spin, t) = ([0.4, 0.4, 0.9], Vec3::new(0.6, 0.0, 2.5), 3.0);
    for (integrator, tolerance) in [(Integrator::Midpoint, 1e-5), (Integrator::BodyFrame, 1e-2)] {
        let model = Model::new(&device(), &[Body::new(cuboid(sides)?)], 1e-3, &[])?.with_integrator(integrator);
        let params = model.params(500.0, [0.0; 3])?;
        let end = run(&model, &params, pose([0.0; 3], [0.0; 3], [0.0; 3], spin.to_array()), t)?;
        let body = model.properties(&params)?.to_vec()?[0];
        let momentum = body.inertia * spin;
        let across = body.inertia[(0, 0)];
        let rate = momentum / across;
        // About its own axis it turns by what is left.
        let own = spin.z - rate.z;
        let exact = Quat::from_rotation_vector(rate * t) * Quat::from_rotation_vector(Vec3::new(0.0, 0.0, own * t));
        let apart = (end.q.to_vec()?[0].conjugate() * exact).vector().norm();
        assert!(apart < tolerance, "{integrator:?}: {apart}");
        let still = Quat::from_rotation_vector(spin * t).conjugate() * exact;
        assert!(still.vector().norm() > 0.1, "precession does not show");
    }
    Ok(())
}

/// A number of the end of a run and its gradient by the initial pose, velocity and angular velocity.
fn slopes(model: &Model<f64>, h: f64, g: [f64; 3]) -> Result<(f64, Vec<f64>)> {
    let params = model.params(500.0, g)?;
    let poses = device().array(&[pose([0.0; 3], [0.1, 0.2, 0.3], [0.4, -0.2, 0.7], [1.5, 2.1, -1.2])])?.requires_grad();
    let (tape, out) = Tape::record_value(|| -> Result<_> {
        let state = model.start(&params, &poses)?;
        let solver = model.solver(&params, &state)?;
        let end =
            solver.advance_with(&state, Span::until(0, 0.0, 0.8, h)?, |_, _| Ok(Control::default()), Schedule::Auto)?;
        let (seen, out) = (solver.vertices(&end)?, device().zeros(1)?);
        weigh(seen.len(), &seen, &out)?;
        Ok(out)
    })?;
    tape.backward(&out)?;
    Ok((out.to_vec()?[0], gradient(poses.as_any())?))
}

#[diff_kernel]
fn weigh<F: Float>(x: &Array<Vec3<F>>, out: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let w = F::cast_from(i) * 0.3;
    out[0] += x[i].dot(Vec3::new(w.sin(), w.cos(), 0.5 + w)) + x[i].dot(x[i]);
}

/// A model by its step, gravity, and the order at which it converges.
type Way<'a> = (&'a dyn Fn(f64) -> Result<Model<f64>>, [f64; 3], f64);

/// State and gradient converge at the order of the integrator.
#[test]
fn orders_of_state_and_gradient() -> Result<()> {
    let fall = [0.3, 0.2, -9.81];
    let turned = |integrator| move |h| block(h, integrator);
    let ways: [Way; 4] = [
        (&turned(Integrator::Midpoint), [0.0; 3], 2.0),
        (&turned(Integrator::BodyFrame), [0.0; 3], 1.0),
        (&turned(Integrator::Midpoint), fall, 1.0),
        (&block_above_a_plane, [0.0; 3], 2.0),
    ];
    for (k, (model, g, order)) in ways.into_iter().enumerate() {
        let [a, b, c] = [0.01, 0.005, 0.0025].map(|h| slopes(&model(h)?, h, g));
        let (a, b, c) = (a?, b?, c?);
        let state = ((a.0 - b.0) / (b.0 - c.0)).log2();
        let size = |p: &[f64], q: &[f64]| p.iter().zip(q).map(|(p, q)| (p - q).powi(2)).sum::<f64>().sqrt();
        let slope = (size(&a.1, &b.1) / size(&b.1, &c.1)).log2();
        assert!((state - order).abs() < 0.1 && (slope - order).abs() < 0.1, "way {k}: {state}, {slope}");
    }
    Ok(())
}

/// Both integrators have one limit, which the one of second order is nearer to.
#[test]
fn both_ways_to_turn_have_one_limit() -> Result<()> {
    let exact = slopes(&block(5e-4, Integrator::Midpoint)?, 5e-4, [0.0; 3])?.0;
    let off = |h, integrator| -> Result<f64> { Ok((slopes(&block(h, integrator)?, h, [0.0; 3])?.0 - exact).abs()) };
    let (coarse, fine) = (off(2e-3, Integrator::BodyFrame)?, off(1e-3, Integrator::BodyFrame)?);
    assert!((coarse / fine - 2.0).abs() < 0.2, "{coarse}, {fine}");
    assert!(off(2e-3, Integrator::Midpoint)? < 0.1 * fine);
    Ok(())
}

/// Nothing of the gradient is lost or infinite where the body is at rest: angles of zero have a derivative.
#[test]
fn gradients_at_rest_are_finite_and_right() -> Result<()> {
    for integrator in [Integrator::Midpoint, Integrator::BodyFrame] {
        let model = block(0.01, integrator)?;
        let params = model.params(500.0, [0.0; 3])?;
        let rest = device().array(&[pose([0.0; 3], [0.0; 3], [0.0; 3], [0.0; 3])])?.as_any().clone();
        let value = |x: &[f64]| -> Result<(diffkern::AnyArray, Array<f64>)> {
            let poses = like(&rest, x)?;
            let state = model.start(&params, &Array::try_from(poses.clone())?)?;
            let solver = model.solver(&params, &state)?;
            let (seen, out) = (solver.vertices(&solver.advance(&state, 0, 20, Schedule::Auto)?)?, device().zeros(1)?);
            weigh(seen.len(), &seen, &out)?;
            Ok((poses, out))
        };
        let at = numbers(&rest)?;
        let (tape, (poses, out)) = Tape::record_value(|| value(&at))?;
        tape.backward(&out)?;
        let slope = gradient(&poses)?;
        assert!(slope.iter().all(|s| s.is_finite()) && slope[10..].iter().all(|s| *s != 0.0), "{slope:?}");
        compare("a body at rest", &slope, &at, &|x| Ok(value(x)?.1.to_vec()?[0]))?;
    }
    Ok(())
}

/// Linear and angular momentum are those of force times interval and of the impulse, wherever the steps end.
#[test]
fn pushes_give_their_momentum() -> Result<()> {
    for h in [1e-2, 7e-3] {
        let model = block(h, Integrator::Midpoint)?;
        let params = model.params(50.0, [0.0; 3])?;
        let corner = [0.15, 0.25, -0.4];
        let state = start(&model, &params, &[pose([0.1, 0.0, 0.2], [0.3, 0.1, 0.2], [0.0; 3], [0.0; 3])])?;
        let (mass, turn) = (50.0 * 0.12, state.q.to_vec()?[0]);
        let end = |push: Push| -> Result<(Vec3<f64>, Vec3<f64>)> {
            let pushes = Pushes::new(&device(), 1, &[push])?;
            let span = Span::until(0, 0.0, 0.3, h)?;
            let end = model.solver(&params, &state)?.advance_with(
                &state,
                span,
                move |_, tick| pushes.control(tick),
                Schedule::Auto,
            )?;
            Ok((end.v.to_vec()?[0] * mass, end.l.to_vec()?[0]))
        };
        let force = Vec3::new(3.0, -10.0, 2.0);
        let (momentum, _) = end(Push { body: 0, point: corner, force: force.to_array(), interval: [0.05, 0.163] })?;
        assert!((momentum - force * 0.113).norm() < 1e-13, "{momentum:?}");
        let (momentum, angular) = end(Push::impulse(0, corner, force.to_array(), 0.0))?;
        assert!((momentum - force).norm() < 1e-13);
        assert!((angular - turn.rotate(Vec3::from_array(corner)).cross(force)).norm() < 1e-13, "{angular:?}");
    }
    let refused = [
        Push { body: 1, point: [0.0; 3], force: [0.0; 3], interval: [0.0, 1.0] },
        Push { body: 0, point: [f64::NAN; 3], force: [0.0; 3], interval: [0.0, 1.0] },
        Push { body: 0, point: [0.0; 3], force: [0.0; 3], interval: [1.0, 0.0] },
    ];
    refused.into_iter().for_each(|push| assert!(Pushes::<f64>::new(&device(), 1, &[push]).is_err(), "{push:?}"));
    Ok(())
}

/// A state that is no longer sound is reported with the body.
#[test]
fn faults_name_the_body() -> Result<()> {
    let model = block(0.01, Integrator::Midpoint)?;
    let params = model.params(500.0, [0.0, 0.0, f64::INFINITY])?;
    let error = run(&model, &params, pose([0.0; 3], [0.0; 3], [0.0; 3], [0.0; 3]), 0.1).unwrap_err().to_string();
    assert!(error.starts_with("position of body 0 is") && error.contains("after step 1"), "{error}");
    Ok(())
}
