//! Springs between bodies: closed forms, what they keep, how long steps may be, and their gradients.

use super::{cuboid, device, pose, start};
use crate::common::Random;
use crate::common::groups::Run;
use crate::gradients::loss;
use diffkern::prelude::*;
use diffkern_sim::rigid::{Body, Control, Model, Params, Spring, State};
use diffkern_sim::{Model as _, Result, Span, Step as _};

const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];

fn between(bodies: [Option<usize>; 2], points: [[f64; 3]; 2], rest: Option<f64>) -> Spring {
    Spring { bodies, points, stiffness: 40.0, damping: 0.0, rest }
}

/// Three boxes with a spring, a dashpot and a tie beside their centres; one is held by the world.
fn net(world: bool, damping: f64) -> Result<(Model<f64>, Params<f64>, State<f64>)> {
    let sides = [[0.3, 0.2, 0.1], [0.2, 0.25, 0.15], [0.1, 0.2, 0.3]];
    let bodies = sides.map(|s| cuboid(s).map(Body::new)).into_iter().collect::<Result<Vec<_>>>()?;
    let mut springs = vec![
        between([Some(0), Some(1)], [[0.15, 0.02, 0.03], [-0.1, 0.05, 0.01]], Some(0.1)),
        between([Some(2), Some(1)], [[0.0, 0.1, -0.1], [0.1, -0.1, 0.05]], None),
        between([Some(0), Some(2)], [[0.1, -0.1, 0.0], [-0.05, 0.0, 0.1]], Some(0.4)),
    ];
    if world {
        springs.push(between([None, Some(2)], [[0.9, 0.1, 0.5], [0.05, 0.02, 0.1]], None));
        springs.push(between([Some(1), None], [[0.0, 0.1, 0.05], [0.4, -0.2, 0.8]], Some(0.3)));
    }
    springs.iter_mut().for_each(|s| s.damping = damping);
    let model = Model::new(&device(), &bodies, 1e-3, &[])?.with_springs(&springs)?;
    let params = model.params(400.0, if world { GRAVITY } else { [0.0; 3] })?;
    let poses = [
        pose([0.0, 0.0, 0.1], [0.3, -0.2, 0.4], [0.2, -0.1, 0.3], [1.0, -2.0, 0.5]),
        pose([0.45, 0.05, 0.0], [-0.5, 0.1, 0.2], [-0.1, 0.3, 0.1], [0.5, 1.0, -1.5]),
        pose([0.5, -0.2, 0.3], [0.2, 0.6, -0.3], [0.0, 0.2, -0.2], [-1.0, 0.4, 0.8]),
    ];
    let state = start(&model, &params, &poses)?;
    Ok((model, params, state))
}

/// Forces on both ends are opposite and on one line, with dashpots too: a step changes neither momentum.
#[test]
fn springs_keep_both_momenta() -> Result<()> {
    for damping in [0.0, 0.7] {
        let (model, params, state) = net(false, damping)?;
        let solver = model.solver(&params, &state)?;
        let masses: Vec<f64> = solver.properties().to_vec()?.into_iter().map(|body| body.mass).collect();
        let momenta = |s: &State<f64>| -> Result<[Vec3<f64>; 2]> {
            let (x, v, l) = (s.x.to_vec()?, s.v.to_vec()?, s.l.to_vec()?);
            let linear = (0..3).fold(Vec3::zero(), |sum, b| sum + v[b] * masses[b]);
            Ok([linear, (0..3).fold(Vec3::zero(), |sum, b| sum + x[b].cross(v[b] * masses[b]) + l[b])])
        };
        let (before, mut now) = (momenta(&state)?, state);
        for k in 0..500 {
            now = solver.step(&now, &Control::default(), solver.tick(k))?;
        }
        for (a, b) in before.into_iter().zip(momenta(&now)?) {
            assert!((a - b).norm() < 1e-12, "damping {damping}: {a:?} became {b:?}");
        }
    }
    Ok(())
}

/// A box that hangs from the world by a spring at its middle: at `m g / k` it rests, and swings by `sin(w h / 2) = sqrt(k / m) h / 2` about it.
#[test]
fn a_box_on_a_spring_swings_as_the_closed_form() -> Result<()> {
    let (dt, rest) = (1e-3, 0.2);
    let spring = between([None, Some(0)], [[0.0; 3]; 2], Some(rest));
    let model = Model::new(&device(), &[Body::new(cuboid([0.1; 3])?)], dt, &[])?.with_springs(&[spring])?;
    let params = model.params(500.0, GRAVITY)?;
    let mass = 0.5;
    let sag = mass * 9.81 / 40.0;
    let at = |below: f64| pose([0.0, 0.0, -rest - sag - below], [0.0; 3], [0.0; 3], [0.0; 3]);
    let solver = model.solver(&params, &start(&model, &params, &[at(0.0)])?)?;
    let mut now = start(&model, &params, &[at(0.0)])?;
    for k in 0..200 {
        now = solver.step(&now, &Control::default(), solver.tick(k))?;
    }
    assert!((now.x.to_vec()?[0].z + rest + sag).abs() < 1e-12);
    let frequency = (40.0f64 / mass).sqrt();
    let discrete = 2.0 * (0.5 * frequency * dt).asin() / dt;
    let mut now = start(&model, &params, &[at(0.05)])?;
    for k in 0..1000 {
        now = solver.step(&now, &Control::default(), solver.tick(k))?;
    }
    // Velocities belong half a step before places, where that of the first is zero.
    let phase = discrete * 1000.0 * dt;
    let expected = -rest - sag - 0.05 * (phase.cos() - (0.5 * discrete * dt).tan() * phase.sin());
    let found = now.x.to_vec()?[0].z;
    assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
    Ok(())
}

/// A step changes lengths at rest: a spring made longer by a tenth rests there.
#[test]
fn actuation_is_a_part_of_the_length_at_rest() -> Result<()> {
    let spring = Spring { damping: 4.0, ..between([Some(0), Some(1)], [[0.0; 3]; 2], Some(0.3)) };
    let bodies = [Body::new(cuboid([0.1; 3])?), Body::new(cuboid([0.08; 3])?)];
    let model = Model::new(&device(), &bodies, 1e-3, &[])?.with_springs(&[spring])?;
    let params = model.params(500.0, [0.0; 3])?;
    let poses = [[0.0; 3], [0.3, 0.0, 0.0]].map(|at| pose(at, [0.0; 3], [0.0; 3], [0.0; 3]));
    let mut now = start(&model, &params, &poses)?;
    let (solver, tenth) = (model.solver(&params, &now)?, device().array(&[0.1])?);
    for k in 0..2000 {
        let control = Control { actuation: Some(tenth.clone()), ..Control::default() };
        now = solver.step(&now, &control, solver.tick(k))?;
    }
    let x = now.x.to_vec()?;
    assert!(((x[1] - x[0]).norm() - 0.33).abs() < 1e-9, "{x:?}");
    let bare = Model::new(&device(), &bodies, 1e-3, &[])?;
    let unsprung = bare.solver(&bare.params(500.0, [0.0; 3])?, &now)?;
    let tenth = Control { actuation: Some(tenth), ..Control::default() };
    let said = unsprung.step(&now, &tenth, unsprung.tick(0)).map(drop).map_err(|e| e.to_string());
    assert!(said.as_ref().is_err_and(|s| s.contains("the model has no springs")), "{said:?}");
    let three = Control { actuation: Some(device().array(&[0.1; 3])?), ..Control::default() };
    let said = solver.step(&now, &three, solver.tick(0)).map(drop).map_err(|e| e.to_string());
    assert!(said.as_ref().is_err_and(|s| s.contains("length of actuation")), "{said:?}");
    Ok(())
}

/// Two equal boxes tied at their centres swing by `2 k / m`: the step said to be stable is half of what is, and a dashpot's likewise.
#[test]
fn the_stable_step_is_that_of_the_stiffest_pair() -> Result<()> {
    let bodies = [Body::new(cuboid([0.1; 3])?), Body::new(cuboid([0.1; 3])?)];
    for (stiffness, damping) in [(40.0, 0.0), (1e-3, 5.0)] {
        let spring = Spring { stiffness, damping, ..between([Some(0), Some(1)], [[0.0; 3]; 2], None) };
        let model = Model::new(&device(), &bodies, 1e-3, &[])?.with_springs(&[spring])?;
        let params = model.params(500.0, [0.0; 3])?;
        let poses = [[0.0; 3], [0.01, 0.0, 0.0]].map(|at| pose(at, [0.0; 3], [0.0; 3], [0.0; 3]));
        let state = start(&model, &params, &poses)?;
        let bound = model.max_dt(&params, &state)?;
        let expected = if damping > 0.0 { 0.5 / (damping * 2.0) } else { (0.5f64 / (2.0 * stiffness)).sqrt() };
        assert!((bound / expected - 1.0).abs() < 0.02, "{bound}, expected {expected}");
        let apart = |factor: f64| -> Result<f64> {
            let model = Model::new(&device(), &bodies, factor * bound, &[])?.with_springs(&[spring])?;
            let solver = model.solver(&params, &state)?;
            let mut now = State { v: device().array(&[Vec3::zero(), Vec3::new(0.01, 0.0, 0.0)])?, ..state.clone() };
            for k in 0..100 {
                now = solver.step(&now, &Control::default(), solver.tick(k))?;
            }
            let v = now.v.to_vec()?;
            Ok((v[1] - v[0]).norm())
        };
        let (stable, unstable) = (apart(1.0)?, apart(2.2)?);
        assert!(stable < 0.5 && unstable > 100.0, "{stable} and {unstable}");
    }
    Ok(())
}

/// Damping of a tie acts halfway between its ends: where these are far apart it has a long arm.
#[test]
fn the_stable_step_of_a_tie_counts_how_far_its_ends_are_apart() -> Result<()> {
    let bodies = [Body::new(cuboid([0.1; 3])?), Body::new(cuboid([0.1; 3])?)];
    let points = [[0.05, 0.0, 0.0], [-0.05, 0.0, 0.0]];
    let tie = Spring { stiffness: 1e-3, damping: 5.0, ..between([Some(0), Some(1)], points, None) };
    let model = Model::new(&device(), &bodies, 1e-3, &[])?.with_springs(&[tie])?;
    let params = model.params(500.0, [0.0; 3])?;
    let spun = pose([0.6, 0.0, 0.0], [0.0; 3], [0.0; 3], [0.0, 0.1, 0.2]);
    let state = start(&model, &params, &[pose([0.0; 3], [0.0; 3], [0.0; 3], [0.0; 3]), spun])?;
    let bound = model.max_dt(&params, &state)?;
    let model = Model::new(&device(), &bodies, bound, &[])?.with_springs(&[tie])?;
    let solver = model.solver(&params, &state)?;
    let mut now = state;
    for k in 0..200 {
        now = solver.step(&now, &Control::default(), solver.tick(k))?;
    }
    assert!(now.l.to_vec()?.iter().all(|l| l.norm() < 1e-3), "{:?}", now.l.to_vec()?);
    Ok(())
}

#[test]
fn gradients_of_all_groups_and_states() -> Result<()> {
    for damping in [0.3, 0.9] {
        let (model, params, state) = net(true, damping)?;
        let span = Span::until(0, 0.0, 0.05 + 1e-3 / 3.0, 1e-3)?;
        Run { model: &model, params, state, span, loss: &loss }.check(&[])?;
    }
    Ok(())
}

/// Where both ends of a tie meet its force is zero, and so smooth that the gradient is a number.
#[test]
fn a_closed_tie_has_a_gradient() -> Result<()> {
    let bodies = [Body::new(cuboid([0.1; 3])?), Body::new(cuboid([0.1; 3])?)];
    let spring = Spring { damping: 0.4, ..between([Some(0), Some(1)], [[0.05, 0.0, 0.0], [-0.05, 0.0, 0.0]], None) };
    let model = Model::new(&device(), &bodies, 1e-3, &[])?.with_springs(&[spring])?;
    let params = model.params(500.0, GRAVITY)?;
    let poses = [[0.0; 3], [0.1, 0.0, 0.0]].map(|at| pose(at, [0.0; 3], [0.0; 3], [0.0; 3]));
    let state = start(&model, &params, &poses)?;
    let x = state.x.requires_grad();
    let state = State { x: x.clone(), ..state };
    let (tape, value) =
        Tape::record_value(|| loss(&model.solver(&params, &state)?.advance(&state, 0, 20, Schedule::Auto)?))?;
    tape.backward(&value)?;
    assert!(x.grad()?.to_vec()?.iter().flat_map(|v| v.to_array()).all(f64::is_finite));
    Ok(())
}

#[test]
fn wrong_springs_are_refused() -> Result<()> {
    let mut r = Random(3);
    let bodies = [Body::new(cuboid([0.1; 3])?), Body::new(cuboid([0.1; 3])?)];
    let model = || Model::<f64>::new(&device(), &bodies, 1e-3, &[]);
    let good = between([Some(0), Some(1)], [r.vec3(-0.1, 0.1).to_array(); 2], Some(0.3));
    let wrong = [
        (vec![], "number of springs"),
        (vec![Spring { bodies: [Some(0), Some(2)], ..good }], "body of spring 0"),
        (vec![good, Spring { bodies: [Some(1), Some(1)], ..good }], "ends of spring 1"),
        (vec![Spring { bodies: [None, None], ..good }], "ends of spring 0"),
        (vec![Spring { stiffness: 0.0, ..good }], "stiffness of spring 0"),
        (vec![Spring { damping: -1.0, ..good }], "damping of spring 0"),
        (vec![Spring { rest: Some(f64::NAN), ..good }], "length at rest of spring 0"),
        (vec![Spring { points: [[0.0, f64::INFINITY, 0.0], [0.0; 3]], ..good }], "points of spring 0"),
    ];
    for (springs, expected) in wrong {
        let said = model()?.with_springs(&springs).map(drop).map_err(|e| e.to_string());
        assert!(said.as_ref().is_err_and(|s| s.contains(expected)), "{said:?}\n{expected}");
    }
    let sprung = model()?.with_springs(&[good])?;
    let params = sprung.params(500.0, [0.0; 3])?;
    let poses = [[0.0; 3], [0.3, 0.0, 0.0]].map(|at| pose(at, [0.0; 3], [0.0; 3], [0.0; 3]));
    let state = start(&sprung, &params, &poses)?;
    let said = model()?.solver(&params, &state).map(drop).map_err(|e| e.to_string());
    assert!(said.as_ref().is_err_and(|s| s.contains("springs of the parameters")), "{said:?}");
    let mut short = params.clone();
    short.springs.as_mut().expect("springs").points = device().array(&[Vec3::zero()])?;
    let said = sprung.solver(&short, &state).map(drop).map_err(|e| e.to_string());
    assert!(said.as_ref().is_err_and(|s| s.contains("length of springs.points")), "{said:?}");
    Ok(())
}
