//! Impacts by impulses: closed forms, energy, and what gradients they have.

use crate::common::Random;
use crate::common::groups::{Run, numbers};
use crate::gradients::loss;
use crate::{cuboid, device, kinetic, pose, start};
use diffkern::prelude::*;
use diffkern_sim::rigid::{Body, Impacts, Impulse, Mass, Model, Params, Plane, State};
use diffkern_sim::shape::{Primitive, Prism, Sphere};
use diffkern_sim::{Result, Span, Step as _};

const G: f64 = 9.81;

fn floor(restitution: f64, friction: f64) -> Plane {
    Plane { normal: [0.0, 0.0, 1.0], offset: 0.0, restitution, friction }
}

fn model(body: Body, h: f64, impacts: Impacts) -> Result<Model<f64>> {
    Model::new(&device(), &[body], h, &[])?.with_impacts(impacts)
}

/// The derivative of the last height by the first one, of a body that hits the floor once.
fn slope(body: Body, impulse: Impulse, e: f64) -> Result<(f64, Vec3<f64>)> {
    let model = model(body, 0.01, Impacts { impulse, ..Impacts::new(vec![floor(e, 0.0)]) })?;
    let params = model.params(700.0, [0.0; 3])?;
    let state = start(&model, &params, &[pose([0.1, 0.2, 0.7], [0.0; 3], [0.3, -0.2, -1.7], [0.0; 3])])?;
    let x = state.x.clone().requires_grad();
    let (tape, end) = Tape::record_value(|| {
        let from = State { x: x.clone(), ..state.clone() };
        model.solver(&params, &from)?.advance(&from, 0, 60, Schedule::Auto)
    })?;
    tape.backward_from(&[(end.x.as_any(), device().array(&[Vec3::new(0.0, 0.0, 1.0)])?.as_any())])?;
    Ok((x.grad()?.to_vec()?[0].z, end.x.to_vec()?[0]))
}

/// A body that starts higher hits later, and is lower at the end: to see that takes the time of impact.
#[test]
fn one_impact_has_the_slope_of_its_time() -> Result<()> {
    let e = 0.6;
    let bodies = || -> Result<Vec<Body>> {
        let ico = Primitive::Sphere(Sphere { radius: 0.1 }).surface(0.08)?;
        Ok(vec![Body::ball(0.1, 0.05)?, Body::new(ico), Body::new(cuboid([0.2, 0.3, 0.2])?)])
    };
    for (k, body) in bodies()?.into_iter().enumerate() {
        // The lowest vertex of the triangles of a sphere need not be at the bottom.
        let low = match k {
            0 => 0.1,
            _ => body.mesh().vertices().iter().map(|v| -v[2]).fold(0.0, f64::max),
        };
        let (found, end) = slope(body.clone(), Impulse::TimeOfImpact, e)?;
        assert!((found + e).abs() < 1e-9, "body {k}: {found}");
        let t = (0.7 - low) / 1.7;
        let exact = Vec3::new(0.1 + 0.3 * 0.6, 0.2 - 0.2 * 0.6, low + e * 1.7 * (0.6 - t));
        assert!((end - exact).norm() < 1e-9, "body {k}: {end:?}, {exact:?}");
        let (found, _) = slope(body, Impulse::Naive, e)?;
        assert!((found - 1.0).abs() < 1e-9, "body {k}: {found}");
    }
    Ok(())
}

/// In single precision and far from the origin gaps are off by rounding: no impact loses its derivative by that.
#[test]
fn slopes_in_single_precision_are_those_in_double() -> Result<()> {
    fn slopes<F: Float>(far: f64) -> Result<Vec<f64>> {
        let plane = Plane { offset: far, ..floor(0.6, 0.3) };
        let bodies = [Body::ball(0.1, 0.05)?, Body::new(Prism::bracket([0.4, 0.3], 0.1, 0.12).surface(10.0)?)];
        let model = Model::<F>::new(&device(), &bodies, 0.01, &[])?.with_impacts(Impacts::new(vec![plane]))?;
        let params = model.params(700.0, [0.0, 0.0, -1.0])?;
        let poses: Vec<diffkern_sim::collision::Pose<F>> = (0..2)
            .map(|k| {
                let from = pose([0.1, 0.2, far + 0.4], [0.3, -0.2, 0.4], [0.3, -0.2, -1.7], [0.4 * k as f64, 1.1, 0.3]);
                let vec3 = |v: Vec3<f64>| Vec3::from_array(v.to_array().map(F::from_f64));
                let rotation = Quat::from_array(from.rotation.to_array().map(F::from_f64));
                let (centre, velocity, spin) = (vec3(from.centre), vec3(from.velocity), vec3(from.spin));
                diffkern_sim::collision::Pose { centre, rotation, velocity, spin }
            })
            .collect();
        let state = model.start(&params, &device().array(&poses)?)?;
        let x = state.x.clone().requires_grad();
        let (tape, end) = Tape::record_value(|| {
            let from = State { x: x.clone(), ..state.clone() };
            model.solver(&params, &from)?.advance(&from, 0, 45, Schedule::Auto)
        })?;
        let up = Vec3::from_array([0.0, 0.0, 1.0].map(F::from_f64));
        tape.backward_from(&[(end.x.as_any(), device().array(&[up, up])?.as_any())])?;
        Ok(x.grad()?.to_vec()?.into_iter().map(|g| g.z.to_f64()).collect())
    }
    for far in [0.0, 12.3] {
        let (single, double) = (slopes::<f32>(far)?, slopes::<f64>(far)?);
        for (s, d) in single.iter().zip(&double) {
            assert!((s - d).abs() < 2e-3 * d.abs().max(1.0), "{far} m away: {single:?}, {double:?}");
        }
        assert!(double[0] < 0.0, "the ball has bounced: {double:?}");
    }
    Ok(())
}

/// A ball that comes to rest and rolls: points that are at the plane, in front of it or behind by rounding, keep their derivatives.
/// With velocities half a step before positions, falling and sliding are exact in steps of any length, as is their gradient by friction while the
/// body slides.
#[test]
fn from_half_a_step_before_sliding_is_exact() -> Result<()> {
    let (v, t) = (2.0, 0.4);
    // Ten sweeps over the corners leave 2e-9 of the gradient.
    let impacts = Impacts { sweeps: 30, ..Impacts::new(vec![floor(0.0, 0.2)]) };
    for h in [0.1, 0.02, 0.004] {
        let model = model(Body::new(cuboid([0.3, 0.2, 0.1])?), h, impacts.clone())?;
        let poses = device().array(&[pose([0.0, 0.0, 0.05], [0.0, 0.0, 0.3], [0.0; 3], [0.0; 3])])?;
        let motion = device().array(&[v, 0.0, 0.0, 0.0, 0.0, 0.0])?;
        let mut params = model.params(500.0, [0.0, 0.0, -G])?;
        let friction = device().array(&[0.2])?.requires_grad();
        params.impact.as_mut().expect("a floor").friction = friction.clone();
        let (tape, end) = Tape::record_value(|| {
            let start = model.launch(&params, &poses, &motion, -0.5 * h)?;
            model.solver(&params, &start)?.advance(&start, 0, (t / h).round() as usize, Schedule::Auto)
        })?;
        let exact = Vec3::new(v * t - 0.5 * 0.2 * G * t * t, 0.0, 0.05);
        let found = end.x.to_vec()?[0];
        assert!((found - exact).norm() < 1e-9, "steps of {h}: {found:?}, not {exact:?}");
        tape.backward_from(&[(end.x.as_any(), device().array(&[Vec3::new(1.0, 0.0, 0.0)])?.as_any())])?;
        let slope = friction.grad()?.to_vec()?[0];
        assert!((slope + 0.5 * G * t * t).abs() < 1e-9, "steps of {h}: {slope}");
        // It comes to rest, and stays there.
        let start = model.launch(&params, &poses, &motion, -0.5 * h)?;
        let end = model.solver(&params, &start)?.advance(&start, 0, (2.0 / h).round() as usize, Schedule::Auto)?;
        let (stop, found) = (v * v / (2.0 * 0.2 * G), end.x.to_vec()?[0].x);
        assert!((found - stop).abs() < 0.3 * G * 0.2 * h * h + 1e-9, "steps of {h}: {found}, not {stop}");
    }
    Ok(())
}

#[test]
fn gradients_of_what_lands_and_rolls() -> Result<()> {
    let plane = Plane { normal: [0.1, -0.2, 1.0], offset: 0.1, restitution: 0.3, friction: 0.15 };
    let model = model(Body::ball(0.1, 0.08)?, 0.01, Impacts::new(vec![plane]))?;
    let params = model.params(700.0, [0.1, 0.2, -9.81])?;
    let from = pose([0.1, 0.2, 0.5], [0.3, 0.2, 0.1], [1.9, -0.8, -0.7], [0.3, -0.4, 0.6]);
    let state = start(&model, &params, &[from])?;
    let end = model.solver(&params, &state)?.advance(&state, 0, 120, Schedule::Auto)?;
    let normal = Vec3::from_array(plane.normal).normalize();
    let (gap, rate) = (end.x.to_vec()?[0].dot(normal) - 0.2, end.v.to_vec()?[0].dot(normal));
    assert!(gap.abs() < 1e-12 && rate.abs() < 1e-12, "{gap}, {rate}");
    Run { model: &model, params, state, span: Span::until(0, 0.0, 1.2, 0.01)?, loss: &loss }.check(&[])
}

#[test]
fn a_ball_bounces_to_the_square_of_its_restitution() -> Result<()> {
    let (e, r, height, h) = (0.7, 0.1, 1.0, 5e-5);
    let model = model(Body::ball(r, 0.1)?, h, Impacts { sweeps: 1, ..Impacts::new(vec![floor(e, 0.3)]) })?;
    let params = model.params(700.0, [0.0, 0.0, -G])?;
    let mut state = start(&model, &params, &[pose([0.0, 0.0, r + height], [0.0; 3], [0.0; 3], [0.0; 3])])?;
    let solver = model.solver(&params, &state)?;
    let fall = (2.0 * height / G).sqrt();
    let top = ((1.0 + e) * fall / h) as usize;
    state = solver.advance(&state, 0, top, Schedule::Auto)?;
    let z = state.x.to_vec()?[0].z - r;
    assert!((z / (e * e * height) - 1.0).abs() < 1e-3, "{z}");
    Ok(())
}

/// Impacts with friction of a ball: sliding takes `mu (1 + e)` times the approach, sticking leaves 5/7 of the speed along the plane.
#[test]
fn friction_of_an_impact_slides_or_sticks() -> Result<()> {
    let (e, r) = (0.5, 0.1);
    for mu in [0.05, 0.9] {
        let plane = Plane { normal: [0.3, -0.2, 1.0], offset: 0.05, restitution: e, friction: mu };
        let model = model(Body::ball(r, 0.05)?, 0.01, Impacts::new(vec![plane]))?;
        let mut params = model.params(1.0, [0.0; 3])?;
        params.mass = Mass::Total(device().array(&[2.0])?);
        params.inertia = Some(device().array(&[Mat3::from_diagonal(Vec3::splat(0.4 * 2.0 * r * r))])?);
        let n = Vec3::from_array(plane.normal).normalize();
        let along = n.cross(Vec3::new(0.6, 0.5, 0.2)).normalize();
        let from =
            pose((n * (0.05 + r + 0.013)).to_array(), [0.4, 0.2, 0.1], (along * 1.5 - n * 2.0).to_array(), [0.0; 3]);
        let state = start(&model, &params, &[from])?;
        let solver = model.solver(&params, &state)?;
        let motion = solver.poses(&solver.advance(&state, 0, 2, Schedule::Auto)?)?.to_vec()?[0];
        let slides = 1.5 - mu * (1.0 + e) * 2.0;
        let speed = slides.max(1.5 * 5.0 / 7.0);
        assert!((motion.velocity - along * speed - n * (e * 2.0)).norm() < 1e-12, "{mu}: {motion:?}");
        // The impulse along the plane turns the ball.
        let spin = n.cross(along) * (2.5 * (1.5 - speed) / r);
        assert!((motion.spin - spin).norm() < 1e-11, "{mu}: {motion:?} {spin:?}");
    }
    Ok(())
}

/// Between two walls a ball hits four times in a step.
#[test]
fn several_impacts_in_one_step() -> Result<()> {
    let wall = |x: f64, offset| Plane { normal: [x, 0.0, 0.0], offset, restitution: 0.9, friction: 0.0 };
    for most in [4, 2] {
        let impacts = Impacts { most, ..Impacts::new(vec![wall(1.0, 0.0), wall(-1.0, -0.25)]) };
        let model = model(Body::ball(0.1, 0.1)?, 0.022, impacts)?;
        let params = model.params(700.0, [0.0; 3])?;
        let state = start(&model, &params, &[pose([0.12, 0.0, 0.0], [0.0; 3], [-10.0, 1.0, 0.0], [0.0; 3])])?;
        let end = model.solver(&params, &state)?.advance(&state, 0, 1, Schedule::Auto)?;
        let (mut x, mut v, mut left) = (0.12, -10.0f64, 0.022);
        for _ in 0..most {
            let gap: f64 = if v < 0.0 { x - 0.1 } else { 0.15 - x };
            left -= gap / v.abs();
            (x, v) = (if v < 0.0 { 0.1 } else { 0.15 }, -0.9 * v);
        }
        let exact = Vec3::new(x + v * left, 0.022, 0.0);
        assert!(left > 0.0 && (end.x.to_vec()?[0] - exact).norm() < 1e-12, "{most}: {:?} {exact:?}", end.x.to_vec()?);
        assert!((end.v.to_vec()?[0].x - v).abs() < 1e-12);
    }
    Ok(())
}

/// Whatever shape, friction and restitution, an impact does not create energy, nothing approaches after it, and the sweeps have settled.
#[test]
fn impacts_do_not_create_energy() -> Result<()> {
    let mut r = Random(5);
    let (mut worst, mut lost, mut settled) = (f64::NEG_INFINITY, 0, 0.0f64);
    for case in 0..150 {
        let mesh = match case % 3 {
            0 => cuboid([0.2, 0.5, 0.8])?,
            1 => Prism::bracket([0.8, 0.6], 0.2, 0.3).surface(10.0)?,
            _ => Prism::star(5, 0.25, 0.6, 0.2).surface(10.0)?,
        };
        let plane = floor(r.between(0.0, 1.0), r.between(0.0, 2.0));
        let model = model(Body::new(mesh), 1e-3, Impacts { rest_speed: 0.0, most: 12, ..Impacts::new(vec![plane]) })?;
        let params = model.params(1.0, [0.0; 3])?;
        let body = model.properties(&params)?.to_vec()?[0];
        let mut from = pose([0.0; 3], r.vec3(-2.0, 2.0).to_array(), [0.0; 3], r.vec3(-6.0, 6.0).to_array());
        if case % 5 == 0 {
            // Flat on a face, or on an edge.
            from.rotation = Quat::identity();
        }
        from.velocity = Vec3::new(r.between(-3.0, 3.0), r.between(-3.0, 3.0), r.between(-3.0, -0.5));
        let lowest = |s: &State<f64>| -> Result<f64> {
            let seen = diffkern_sim::Observe::vertices(&model.solver(&params, s)?, s)?.to_vec()?;
            Ok(seen.iter().map(|v| v.z).fold(f64::INFINITY, f64::min))
        };
        let low = lowest(&start(&model, &params, &[from])?)?;
        from.centre.z = 1e-4 - low;
        let state = start(&model, &params, &[from])?;
        let solver = model.solver(&params, &state)?;
        let tick = solver.tick(0);
        let energy = |s: &State<f64>| -> Result<f64> {
            Ok(kinetic(&body, s.q.to_vec()?[0], s.v.to_vec()?[0], s.l.to_vec()?[0]))
        };
        let end = solver.step(&state, &Default::default(), tick)?;
        let (before, after) = (energy(&state)?, energy(&end)?);
        worst = worst.max(after / before - 1.0);
        lost += usize::from(after < 0.999 * before);
        settled = solver.residuals(&state, &Default::default(), tick)?.into_iter().fold(settled, f64::max);
        // No deeper than what the last sweeps left.
        assert!(lowest(&end)? > -2e-5, "case {case}: {}", lowest(&end)?);
    }
    // Sweeps of rough contacts settle slowly: most to a thousandth, the worst to a tenth.
    assert!(worst < 1e-8 && lost > 100 && settled < 0.1, "{worst}, {lost}, {settled}");
    Ok(())
}

/// A box on a slope stays where friction holds it, and slides as Coulomb says where it does not.
#[test]
fn a_box_rests_or_slides_on_a_slope() -> Result<()> {
    let n = Vec3::new(0.25, -0.4, 1.0).normalize();
    let turn = Quat::new(1.0 + n.z, -n.y, n.x, 0.0).normalize();
    let g = Vec3::new(0.0, 0.0, -G);
    let (normal, down) = (-g.dot(n), g - n * g.dot(n));
    for mu in [0.8, 0.2] {
        let plane = Plane { normal: n.to_array(), offset: 0.0, restitution: 0.4, friction: mu };
        let model = model(Body::new(cuboid([0.3, 0.3, 0.06])?), 2e-3, Impacts::new(vec![plane]))?;
        let params = model.params(1000.0, g.to_array())?;
        let mut from = pose((n * 0.03).to_array(), [0.0; 3], [0.0; 3], [0.0; 3]);
        from.rotation = turn;
        let state = start(&model, &params, &[from])?;
        let end = model.solver(&params, &state)?.advance(&state, 0, 150, Schedule::Auto)?;
        let exact = down.normalize() * ((down.norm() - mu * normal).max(0.0) * 0.3);
        assert!((end.v.to_vec()?[0] - exact).norm() < 5e-3, "{mu}: {:?} {exact:?}", end.v.to_vec()?);
        assert!((end.x.to_vec()?[0].dot(n) - 0.03).abs() < 1e-5, "{mu}: {:?}", end.x.to_vec()?);
    }
    Ok(())
}

/// A bracket and a ball thrown onto two tilted planes, with several impacts each.
fn thrown(seed: u64) -> Result<(Model<f64>, Params<f64>, State<f64>)> {
    let mut r = Random(seed);
    let planes = vec![
        Plane { normal: [0.2, -0.1, 1.0], offset: 0.02, restitution: 0.6, friction: 0.3 },
        Plane { normal: [-1.0, 0.2, 0.1], offset: -0.5, restitution: 0.5, friction: 0.1 },
    ];
    let bodies = [Body::new(Prism::bracket([0.4, 0.3], 0.1, 0.12).surface(10.0)?), Body::ball(0.1, 0.08)?];
    let model =
        Model::new(&device(), &bodies, 1e-2, &[])?.with_impacts(Impacts { rest_speed: 0.0, ..Impacts::new(planes) })?;
    let mut params = model.params(1.0, [0.3, 0.2, -9.81])?;
    params.mass = Mass::Density(device().array(&[90.0, 120.0])?);
    let poses: Vec<_> = (0..2)
        .map(|k| {
            let mut v = |size: f64| r.vec3(-size, size);
            let at = Vec3::new(0.4 * (k as f64 - 0.5), 0.3 * k as f64, 0.4) + v(0.02);
            pose(at.to_array(), v(0.8).to_array(), (Vec3::new(2.0, -0.2, -2.4) + v(0.2)).to_array(), v(4.0).to_array())
        })
        .collect();
    let state = start(&model, &params, &poses)?;
    let bodies = model.properties(&params)?.to_vec()?;
    let inertia = device().array(&bodies.iter().map(|b| b.inertia).collect::<Vec<_>>())?;
    Ok((model, Params { inertia: Some(inertia), ..params }, state))
}

#[test]
fn gradients_through_impacts() -> Result<()> {
    // Of the seeds 1 to 8 the check redraws too much for 8, where moving a vertex meets a kink of friction.
    for seed in [1, 2, 3] {
        let (model, params, state) = thrown(seed)?;
        let span = Span::until(0, 0.0, 0.2 + 1e-2 / 3.0, 1e-2)?;
        Run { model: &model, params, state, span, loss: &loss }.check(&[])?;
    }
    Ok(())
}

/// Schedules that keep few states launch the steps anew, with the same impacts: the same gradient to the bit. So does forward mode, to rounding.
#[test]
fn replays_and_forward_mode_have_the_same_impacts() -> Result<()> {
    let (model, params, state) = thrown(2)?;
    let l = state.l.clone().requires_grad();
    let run = |schedule| -> Result<Array<f64>> {
        let from = State { l: l.clone(), ..state.clone() };
        loss(&model.solver(&params, &from)?.advance(&from, 0, 20, schedule)?)
    };
    let mut gradients = Vec::new();
    for schedule in [Schedule::StoreAll, Schedule::Checkpoints(3)] {
        let (tape, out) = Tape::record_value(|| run(schedule))?;
        tape.backward(&out)?;
        gradients.push(numbers(l.grad()?.as_any())?);
        l.zero_grad();
    }
    assert_eq!(gradients[0], gradients[1]);
    let along = [Vec3::new(0.3, -0.2, 0.5), Vec3::new(-0.1, 0.4, 0.2)];
    let tangent = device().array(&along)?;
    let (out, tangents) = diffkern::jvp(&[&[(l.as_any(), tangent.as_any())]], || run(Schedule::StoreAll))?;
    let found = tangents.get(0, &out)?.to_vec()?[0];
    let along = numbers(tangent.as_any())?;
    let expected: f64 = gradients[0].iter().zip(along).map(|(g, a)| g * a).sum();
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, {expected}");
    Ok(())
}

/// Where a ball that lands sliding ends, as a function of the friction: one impulse at its time changes nothing suddenly, while an impulse
/// at the begin of a step jumps with the step in which a wall is hit.
#[test]
fn the_loss_along_friction_has_no_jumps_at_the_time_of_impact() -> Result<()> {
    let along = |impulse| -> Result<(f64, f64)> {
        let wall = Plane { normal: [-1.0, 0.0, 0.0], offset: -0.9, restitution: 0.5, friction: 0.0 };
        let impacts = Impacts { impulse, sweeps: 3, ..Impacts::new(vec![floor(0.0, 0.3), wall]) };
        let model = model(Body::ball(0.1, 0.1)?, 0.01, impacts)?;
        let params = model.params(700.0, [0.0, 0.0, -G])?;
        let state = start(&model, &params, &[pose([0.0, 0.0, 0.1], [0.0; 3], [2.0, 0.0, 0.0], [0.0; 3])])?;
        let mut ends = Vec::new();
        for k in 0..200 {
            let mut params = params.clone();
            if let Some(impact) = &mut params.impact {
                impact.friction = device().array(&[0.02 + 1e-3 * k as f64, 0.0])?;
            }
            let end = model.solver(&params, &state)?.advance(&state, 0, 80, Schedule::Auto)?;
            ends.push(end.x.to_vec()?[0].x);
        }
        let steps: Vec<f64> = ends.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
        let mut sorted = steps.clone();
        sorted.sort_by(f64::total_cmp);
        Ok((sorted[199 - 1], sorted[100]))
    };
    let (largest, usual) = along(Impulse::TimeOfImpact)?;
    assert!(largest < 5.0 * usual, "time of impact: {largest}, usually {usual}");
    let (largest, usual) = along(Impulse::Naive)?;
    assert!(largest > 5.0 * usual, "naive: {largest}, usually {usual}");
    Ok(())
}

#[test]
fn impacts_out_of_range_are_refused() -> Result<()> {
    let refused = |impacts: Impacts, message: &str| {
        let error = model(Body::ball(0.1, 0.1).unwrap(), 0.01, impacts).err().map(|e| e.to_string());
        assert!(error.as_ref().is_some_and(|e| e.starts_with(message)), "{error:?}");
    };
    refused(Impacts::new(vec![]), "number of planes is 0");
    refused(Impacts::new(vec![floor(1.2, 0.0)]), "restitution of plane 0 is 1.2, expected 0 to 1");
    refused(Impacts::new(vec![floor(1.0, -0.1)]), "friction of plane 0");
    refused(Impacts::new(vec![Plane { normal: [0.0; 3], ..floor(1.0, 0.0) }]), "plane 0 is");
    refused(Impacts { most: 0, ..Impacts::new(vec![floor(1.0, 0.0)]) }, "most impacts of a step is 0");
    let turned = Model::<f64>::new(&device(), &[Body::ball(0.1, 0.1)?], 0.01, &[])?
        .with_integrator(diffkern_sim::rigid::Integrator::BodyFrame)
        .with_impacts(Impacts::new(vec![floor(1.0, 0.0)]));
    assert!(turned.is_err());
    Ok(())
}
