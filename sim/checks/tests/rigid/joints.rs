//! Joints: closed forms, what they keep, and their gradients.

use super::{cuboid, device, kinetic, pose, start};
use crate::common::Random;
use crate::common::groups::{LONG, Run};
use crate::gradients::loss;
use diffkern::prelude::*;
use diffkern_sim::rigid::{Body, Impacts, Integrator, Joint, JointKind, Mass, Model, Params, Plane, Solver, State};
use diffkern_sim::{Model as _, Result, Span, Step as _};

const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];
const Y: JointKind = JointKind::Hinge { parent_axis: [0.0, 1.0, 0.0], child_axis: [0.0, 1.0, 0.0] };
/// Iterations of a step.
const ITERATIONS: usize = 5;

/// A hinge or ball between the lower end of a rod and the upper end of the next; the first is at the origin of the world.
fn hang(parent: Option<usize>, child: usize, length: f64, kind: JointKind) -> Joint {
    let parent_point = if parent.is_some() { [0.0, 0.0, -0.5 * length] } else { [0.0; 3] };
    let child_point = [0.0, 0.0, 0.5 * length];
    Joint { parent, child: Some(child), parent_point, child_point, kind, friction: 0.0, dry: 0.0, slip: 1.0 }
}

/// Rods of this length that hang from each other, turned about y by these angles from hanging, all with one spin.
fn rods(angles: &[f64], length: f64, spin: f64, dt: f64, friction: f64) -> Result<(Solver<f64>, State<f64>)> {
    let bodies = vec![Body::new(cuboid([0.04, 0.06, length])?); angles.len()];
    let joints: Vec<Joint> =
        (0..angles.len()).map(|k| Joint { friction, ..hang(k.checked_sub(1), k, length, Y) }).collect();
    let model = Model::new(&device(), &bodies, dt, &[])?.with_joints(&joints, ITERATIONS)?;
    let params = model.params(800.0, GRAVITY)?;
    let (mut top, mut velocity) = (Vec3::zero(), Vec3::zero());
    let w = Vec3::new(0.0, spin, 0.0);
    let poses: Vec<_> = angles
        .iter()
        .map(|&angle| {
            let down = Vec3::new(-angle.sin(), 0.0, -angle.cos()) * (0.5 * length);
            let centre = top + down;
            let moving = velocity + w.cross(down);
            (top, velocity) = (top + down * 2.0, velocity + w.cross(down * 2.0));
            pose(centre.to_array(), [0.0, angle, 0.0], moving.to_array(), w.to_array())
        })
        .collect();
    let state = start(&model, &params, &poses)?;
    Ok((model.solver(&params, &state)?, state))
}

/// `agm(a, b)`, by which `K(k) = pi / (2 agm(1, sqrt(1 - k^2)))`.
fn agm(mut a: f64, mut b: f64) -> f64 {
    while (a - b).abs() > 1e-15 * a {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    a
}

/// The period of a swing of `angle`: `2 pi sqrt(I / (m g d)) / agm(1, cos(angle / 2))`.
#[test]
fn a_pendulum_has_the_period_of_the_elliptic_integral() -> Result<()> {
    let (length, dt) = (0.4f64, 1e-3);
    for angle in [0.3, 1.2, 2.4] {
        let (solver, mut now) = rods(&[angle], length, 0.0, dt, 0.0)?;
        // Of a cuboid about the middle of its upper face.
        let (inertia, d) = ((0.04f64.powi(2) + length * length) / 12.0 + 0.25 * length * length, 0.5 * length);
        let period = std::f64::consts::TAU * (inertia / (9.81 * d)).sqrt() / agm(1.0, (0.5 * angle).cos());
        let (mut crossings, mut before) = (Vec::new(), now.x.to_vec()?[0].x);
        for k in 0..(1.4 * period / dt) as usize {
            now = solver.step(&now, &Default::default(), solver.tick(k))?;
            let x = now.x.to_vec()?[0].x;
            if before * x < 0.0 {
                crossings.push((k as f64 + before / (before - x)) * dt);
            }
            before = x;
        }
        let found = 2.0 * (crossings[1] - crossings[0]);
        assert!((found / period - 1.0).abs() < 1e-4, "{angle} rad: {found} s instead of {period}");
    }
    Ok(())
}

/// Energy at positions of a step, with the mean of the velocities before and after it.
fn energy(solver: &Solver<f64>, now: &State<f64>, next: &State<f64>) -> Result<f64> {
    let bodies = solver.properties().to_vec()?;
    let all = |s: &State<f64>| -> Result<_> { Ok((s.x.to_vec()?, s.q.to_vec()?, s.v.to_vec()?, s.l.to_vec()?)) };
    let ((x, q, v, l), (_, _, v2, l2)) = (all(now)?, all(next)?);
    let of = |b: usize| {
        let (v, l) = ((v[b] + v2[b]) * 0.5, (l[b] + l2[b]) * 0.5);
        kinetic(&bodies[b], q[b], v, l) + bodies[b].mass * 9.81 * x[b].z
    };
    Ok((0..x.len()).map(of).sum())
}

/// Of a double pendulum that turns over: energy is kept, and its joints stay closed.
#[test]
fn a_double_pendulum_keeps_its_energy_and_does_not_drift() -> Result<()> {
    let length = 0.3;
    let lost = |dt: f64| -> Result<f64> {
        let (solver, mut now) = rods(&[2.0, 2.6], length, 0.0, dt, 0.0)?;
        let (mut worst, mut first, mut gap) = (0.0f64, None, 0.0f64);
        for k in 0..(3.0 / dt) as usize {
            let next = solver.step(&now, &Default::default(), solver.tick(k))?;
            if k % 20 == 0 {
                let e = energy(&solver, &now, &next)?;
                worst = worst.max((e - *first.get_or_insert(e)).abs());
                let (x, q) = (next.x.to_vec()?, next.q.to_vec()?);
                let end = |b: usize, s: f64| x[b] + q[b].rotate(Vec3::new(0.0, 0.0, s * length));
                gap = gap.max(end(0, 0.5).norm()).max((end(0, -0.5) - end(1, 0.5)).norm());
            }
            now = next;
        }
        // Of the size of the energy that moves.
        let size = solver.properties().to_vec()?[0].mass * 9.81 * length;
        assert!(gap < 1e-9, "joints are open by {gap:e} m");
        Ok(worst / size)
    };
    let (coarse, fine) = (lost(1e-3)?, lost(5e-4)?);
    assert!(fine < 1e-3 && coarse / fine > 3.0, "{coarse:e}, {fine:e}");
    Ok(())
}

/// At rest the upper joint of two rods carries both, the lower one the other; what swings through the lowest point pulls by `m (g + w^2 d)`.
#[test]
fn reactions_are_weights_and_centripetal_forces() -> Result<()> {
    let (solver, state) = rods(&[0.0, 0.0], 0.3, 0.0, 1e-3, 0.0)?;
    let mass = solver.properties().to_vec()?[0].mass;
    let reactions = solver.reactions(&state, &Default::default(), solver.tick(0))?.to_vec()?;
    for (k, bodies) in [2.0, 1.0].into_iter().enumerate() {
        assert!(
            (reactions[k].force - Vec3::new(0.0, 0.0, bodies * mass * 9.81)).norm() < 1e-9,
            "{:?}",
            reactions[k].force
        );
    }
    let spin = 3.0;
    let (solver, state) = rods(&[0.0], 0.3, spin, 1e-5, 0.0)?;
    // Velocities lie half a step before positions: after the first step.
    let state = solver.step(&state, &Default::default(), solver.tick(0))?;
    let pull = solver.reactions(&state, &Default::default(), solver.tick(1))?.to_vec()?[0].force.z;
    let expected = mass * (9.81 + spin * spin * 0.15);
    assert!((pull / expected - 1.0).abs() < 1e-6, "{pull} N instead of {expected}");
    Ok(())
}

/// A hinge with friction, without weight: `w = w_0 exp(-c t / I)`, of first order in the step.
#[test]
fn friction_of_a_hinge_slows_exponentially() -> Result<()> {
    let (c, spin, dt) = (2e-3, 2.0, 1e-3);
    let (solver, state) = rods(&[0.7], 0.3, spin, dt, c)?;
    let model_without_weight = {
        let model = Model::new(&device(), &[Body::new(cuboid([0.04, 0.06, 0.3])?)], dt, &[])?
            .with_joints(&[Joint { friction: c, ..hang(None, 0, 0.3, Y) }], ITERATIONS)?;
        let params = model.params(800.0, [0.0; 3])?;
        model.solver(&params, &state)?
    };
    let body = solver.properties().to_vec()?[0];
    let inertia = body.inertia.to_array()[4] + body.mass * 0.15 * 0.15;
    let end = model_without_weight.advance(&state, 0, 1000, Schedule::Auto)?;
    let w = end.v.to_vec()?[0].norm() / 0.15;
    let expected = spin * (-c / inertia).exp();
    assert!((w / expected - 1.0).abs() < 1e-3 && expected < 0.9 * spin, "{w} rad/s instead of {expected}");
    Ok(())
}

/// A hinge with dry friction, without weight: `w` falls as `sqrt(w^2 + s^2) + s ln(w / (s + sqrt(w^2 + s^2)))` does, by `d t / I`; of first order in the step.
#[test]
fn dry_friction_of_a_hinge_slows_evenly_and_then_creeps() -> Result<()> {
    let (spin, slip, dt) = (2.0, 0.3, 1e-3);
    let (solver, state) = rods(&[0.7], 0.3, spin, dt, 0.0)?;
    let body = solver.properties().to_vec()?[0];
    let inertia = body.inertia.to_array()[4] + body.mass * 0.15 * 0.15;
    let fallen = |w: f64| {
        let root = w.hypot(slip);
        root + slip * (w / (slip + root)).ln()
    };
    // At the end it turns faster than at `slip`, or slower.
    for end in [0.9, 0.1] {
        let dry = inertia * (fallen(spin) - fallen(end));
        let model = Model::new(&device(), &[Body::new(cuboid([0.04, 0.06, 0.3])?)], dt, &[])?
            .with_joints(&[Joint { dry, slip, ..hang(None, 0, 0.3, Y) }], ITERATIONS)?;
        let params = model.params(800.0, [0.0; 3])?;
        let last = model.solver(&params, &state)?.advance(&state, 0, 1000, Schedule::Auto)?;
        let w = last.v.to_vec()?[0].norm() / 0.15;
        assert!((w / end - 1.0).abs() < 5e-3, "{w} rad/s instead of {end}");
    }
    Ok(())
}

/// Bodies in no order, some joints given from the child's side: a chain of four at the world, and two that fly.
fn chains(reversed: bool, friction: f64) -> Result<(Model<f64>, Params<f64>, State<f64>)> {
    let mut r = Random(31);
    let sides = [[0.1, 0.14, 0.3], [0.12, 0.1, 0.2], [0.16, 0.1, 0.22], [0.1, 0.2, 0.14], [0.1, 0.12, 0.2]];
    let bodies = sides.iter().map(|&s| Ok(Body::new(cuboid(s)?))).collect::<Result<Vec<_>>>()?;
    let poses: Vec<_> = (0..5)
        .map(|k| {
            let mut v = |size: f64| r.vec3(-size, size).to_array();
            let mut at = v(0.1);
            at[0] += 0.4 * k as f64;
            pose(at, v(1.0), v(0.0), v(2.0))
        })
        .collect();
    let axis = Vec3::new(0.3, 0.8, -0.4).normalize();
    // A place of the world, in the frame of a body.
    let own = |b: Option<usize>, x: Vec3<f64>| match b {
        Some(b) => poses[b].rotation.conjugate().rotate(x - poses[b].centre),
        None => x,
    };
    let along = |b: Option<usize>| match b {
        Some(b) => poses[b].rotation.conjugate().rotate(axis).to_array(),
        None => axis.to_array(),
    };
    let between = |parent: Option<usize>, child: usize, hinge: bool| -> Joint {
        let far = parent.map_or(poses[child].centre - Vec3::new(0.2, 0.1, 0.0), |p| poses[p].centre);
        let at = (poses[child].centre + far) * 0.5;
        let kind = match hinge {
            true => JointKind::Hinge { parent_axis: along(parent), child_axis: along(Some(child)) },
            false => JointKind::Ball,
        };
        let [parent_point, child_point] = [own(parent, at), own(Some(child), at)].map(|p| p.to_array());
        Joint { parent, child: Some(child), parent_point, child_point, kind, friction, dry: 2.0 * friction, slip: 1.3 }
    };
    let swapped = |j: Joint| Joint {
        parent: j.child,
        child: j.parent,
        parent_point: j.child_point,
        child_point: j.parent_point,
        kind: match j.kind {
            JointKind::Ball => JointKind::Ball,
            JointKind::Hinge { parent_axis, child_axis } => {
                JointKind::Hinge { parent_axis: child_axis, child_axis: parent_axis }
            }
        },
        ..j
    };
    let flip = |j: Joint, when: bool| if when == reversed { swapped(j) } else { j };
    let joints = [
        flip(between(Some(3), 4, false), true),
        flip(between(Some(0), 1, true), false),
        flip(between(Some(1), 2, false), true),
        flip(between(None, 0, true), true),
    ];
    let model = Model::new(&device(), &bodies, 2e-3, &[])?.with_joints(&joints, ITERATIONS)?;
    let mut params = model.params(1.0, [0.3, 0.2, -9.81])?;
    params.mass = Mass::Density(device().array(&[420.0, 380.0, 450.0, 400.0, 370.0])?);
    let state = start(&model, &params, &poses)?;
    Ok((model, params, state))
}

/// Which of both ends a joint is given from does not matter.
#[test]
fn joints_may_be_given_from_either_end() -> Result<()> {
    let end = |reversed: bool| -> Result<Vec<Vec3<f64>>> {
        let (model, params, state) = chains(reversed, 0.02)?;
        Ok(model.solver(&params, &state)?.advance(&state, 0, 100, Schedule::Auto)?.x.to_vec()?)
    };
    let (one, other) = (end(false)?, end(true)?);
    let apart = one.iter().zip(&other).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
    assert!(apart < 1e-9, "{apart:e} m");
    Ok(())
}

/// Two bodies in flight with a ball between them, with friction: momentum and angular momentum stay to rounding.
#[test]
fn chains_in_flight_keep_momentum_and_angular_momentum() -> Result<()> {
    let (model, params, state) = chains(false, 0.02)?;
    let params = Params { gravity: device().array(&[Vec3::zero()])?, ..params };
    let solver = model.solver(&params, &state)?;
    let bodies = solver.properties().to_vec()?;
    let totals = |s: &State<f64>| -> Result<[Vec3<f64>; 2]> {
        let (x, v, l) = (s.x.to_vec()?, s.v.to_vec()?, s.l.to_vec()?);
        let (mut p, mut a) = (Vec3::zero(), Vec3::zero());
        for b in [3, 4] {
            (p, a) = (p + v[b] * bodies[b].mass, a + x[b].cross(v[b]) * bodies[b].mass + l[b]);
        }
        Ok([p, a])
    };
    // The first step makes velocities fit each other.
    let begin = solver.advance(&state, 0, 1, Schedule::Auto)?;
    let end = solver.advance(&begin, 1, 400, Schedule::Auto)?;
    let (before, after) = (totals(&begin)?, totals(&end)?);
    let size = begin.l.to_vec()?[3].norm();
    assert!((before[0] - after[0]).norm() < 1e-12 * size, "{before:?}, {after:?}");
    assert!((before[1] - after[1]).norm() < 1e-10 * size, "{before:?}, {after:?}");
    assert!((begin.l.to_vec()?[3] - end.l.to_vec()?[3]).norm() > 0.1 * size, "nothing is exchanged");
    Ok(())
}

#[test]
fn gradients_of_chains() -> Result<()> {
    let (model, params, state) = chains(false, 0.02)?;
    let span = Span::until(0, 0.0, (9.0 + 1.0 / 3.0) * 2e-3, 2e-3)?;
    Run { model: &model, params, state, span, loss: &loss }.check_by(LONG, &[])
}

#[test]
fn mistakes_are_named() -> Result<()> {
    let bodies = vec![Body::new(cuboid([0.1, 0.2, 0.3])?); 4];
    let of = |pairs: &[(Option<usize>, Option<usize>)]| {
        let joint =
            |&(parent, child): &(Option<usize>, Option<usize>)| Joint { parent, child, ..hang(None, 0, 0.3, Y) };
        let joints: Vec<_> = pairs.iter().map(joint).collect();
        Model::<f64>::new(&device(), &bodies, 1e-3, &[]).unwrap().with_joints(&joints, 4).unwrap_err().to_string()
    };
    assert_eq!(of(&[(Some(0), Some(7))]), "body of joint 0 is 7, expected a number below 4");
    assert!(of(&[(None, None)]).starts_with("ends of joint 0 is [None, None]"), "{}", of(&[(None, None)]));
    let branch = of(&[(Some(0), Some(1)), (Some(0), Some(2)), (Some(0), Some(3))]);
    assert_eq!(branch, "number of joints of body 0 is 3, expected at most two: chains of bodies, without branches");
    let closed = of(&[(Some(0), Some(1)), (Some(1), Some(2)), (Some(2), Some(0))]);
    assert!(closed.starts_with("joint 0 is part of a closed loop"), "{closed}");
    let model = || Model::<f64>::new(&device(), &bodies, 1e-3, &[]);
    let joints = [hang(None, 0, 0.3, Y)];
    let flat = JointKind::Hinge { parent_axis: [0.0; 3], child_axis: [0.0, 1.0, 0.0] };
    assert!(model()?.with_joints(&[hang(None, 0, 0.3, flat)], 4).is_err());
    assert!(model()?.with_joints(&joints, 0).is_err() && model()?.with_joints(&[], 4).is_err());
    let floor = Plane { normal: [0.0, 0.0, 1.0], offset: 0.0, restitution: 0.6, friction: 0.0 };
    assert!(model()?.with_impacts(Impacts::new(vec![floor]))?.with_joints(&joints, 4).is_err());
    assert!(model()?.with_integrator(Integrator::BodyFrame).with_joints(&joints, 4).is_err());
    let jointed = model()?.with_joints(&joints, 4)?;
    let wrong = jointed.params(1e3, [0.0; 3])?;
    let state = start(&jointed, &wrong, &[pose([0.0; 3], [0.0; 3], [0.0; 3], [0.0; 3]); 4])?;
    for (joint, expected) in [
        (Joint { dry: -1.0, ..joints[0] }, "dry friction of joint 0 is -1"),
        (Joint { slip: 0.0, ..joints[0] }, "slip of joint 0 is 0"),
    ] {
        let said = model()?.with_joints(&[joint], 4).map(drop).map_err(|e| e.to_string());
        assert!(said.as_ref().is_err_and(|s| s.starts_with(expected)), "{said:?}");
    }
    let short = Params {
        joints: wrong
            .joints
            .clone()
            .map(|j| diffkern_sim::rigid::JointParams { parent_point: j.friction.device().zeros(2).unwrap(), ..j }),
        ..wrong.clone()
    };
    assert_eq!(
        jointed.bind(&short, &state).unwrap_err().to_string(),
        "length of joints.parent_point is 2, expected 1, one a joint"
    );
    assert!(model()?.bind(&wrong, &state).is_err(), "the model has no joints");
    Ok(())
}
