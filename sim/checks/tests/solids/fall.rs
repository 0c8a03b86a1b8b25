//! Free falls against steps.

use super::*;
use diffkern_sim::collision::Solid;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::fem::lattice::{Assembly, BodyContact, Changes, Clamp, Relaxation, floor};
use diffkern_sim::mesh::Pose;
use diffkern_sim::shape::{Cuboid, Primitive, Sphere};

const GRAVITY: [f64; 3] = [0.4, -0.2, -9.81];
const DT: f64 = 1e-3;

/// A turned block.
fn block(at: [f64; 3]) -> Body {
    let pose = Pose { rotation: [0.3, -0.2, 0.5], translation: at };
    Body { pose, ..Body::new(Primitive::Cuboid(Cuboid { sides: [0.1, 0.08, 0.06] }), 0.03) }
}

fn ball(at: [f64; 3]) -> Body {
    Body { pose: Pose::at(at), ..Body::new(Primitive::Sphere(Sphere { radius: 0.04 }), 0.025) }
}

struct Setup {
    model: Model<f64>,
    params: Params<f64>,
    state: State<f64>,
}

/// These bodies without spin, which touch each other and colliders, of a material that is viscous and relaxes.
fn setup(bodies: &[(Body, [f64; 3])], colliders: &[Collider]) -> Result<Setup> {
    let dev = device();
    let cut = Assembly::new(bodies.iter().map(|(b, _)| b.build()).collect::<Result<Vec<_>>>()?)?;
    let motions: Vec<_> = bodies.iter().map(|(_, v)| [*v, [0.0; 3]]).collect();
    let model = Model::of_bodies(&dev, &cut, Law::NeoHookean, DT, colliders)?;
    let model = model.with_body_contact(&BodyContact::of(&cut, &vec![[5e3, 8e3]; bodies.len()])?)?;
    let one = |x: f64| dev.array(&[x]);
    let params = Params {
        viscosity: Some(one(2.0)?),
        relaxation: Some(Relaxation { modulus: one(1e3)?, time: one(0.02)? }),
        ..Params::uniform(&dev, 5e3, 8e3, 900.0, GRAVITY)?
    };
    let state = model.settled(&cut.state(&dev, &motions)?)?;
    Ok(Setup { model, params, state })
}

fn ground() -> Collider {
    Collider::plane([0.0; 3], [0.1, 0.0, 1.0], floor(5e3, 8e3, 0.03)).with_friction(0.3)
}

/// A fall and steps after it lead where steps alone do; gives the steps that it took.
fn agrees(setup: &Setup, steps: usize) -> Result<usize> {
    let solver = setup.model.solver(&setup.params, &setup.state)?;
    let stepped = solver.advance(&setup.state, 0, steps, Schedule::Auto)?;
    let (state, fallen) = solver.fall(&setup.state, 0, steps, Changes::Any)?;
    let state = solver.advance(&state, fallen, steps - fallen, Schedule::Auto)?;
    for (a, b) in [(&state.x, &stepped.x), (&state.v, &stepped.v)] {
        for (a, b) in a.to_vec()?.into_iter().zip(b.to_vec()?) {
            assert!((a - b).norm() < 1e-9, "{a:?}, not {b:?}");
        }
    }
    Ok(fallen)
}

/// The step at whose middle forces begin to act, in a run by steps.
fn first_touch(setup: &Setup, most: usize) -> Result<usize> {
    let solver = setup.model.solver(&setup.params, &setup.state)?;
    let (mut state, v) = (setup.state.clone(), setup.state.v.to_vec()?);
    for step in 0..most {
        state = solver.advance(&state, step, 1, Schedule::Auto)?;
        let time = (step + 1) as f64 * DT;
        let fallen = v.iter().map(|v| *v + Vec3::from_array(GRAVITY) * time);
        if state.v.to_vec()?.iter().zip(fallen).any(|(a, b)| (*a - b).norm() > 1e-7) {
            return Ok(step);
        }
    }
    panic!("no touch in {most} steps");
}

#[test]
fn a_fall_ends_where_something_is_touched() -> Result<()> {
    let rod = Collider::new(Solid::Capsule { radius: 0.02, half_length: 0.3 }, floor(5e3, 8e3, 0.03));
    let turning = rod.at([0.0, 0.15, -0.12]).turned([1.2, 0.0, 0.0]).moving([0.0, 0.1, 0.4], [0.3, -0.5, 0.2]);
    let barrier = Contact::Barrier { stiffness: 1e4, width: 0.02 };
    let plate = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], barrier);
    let high = [0.02, -0.01, 0.16];
    type Case<'a> = (&'a str, Vec<(Body, [f64; 3])>, Vec<Collider>, usize);
    let cases: [Case<'_>; 5] = [
        ("a floor", vec![(block(high), [0.3, 0.1, -0.2])], vec![ground()], 3),
        ("a barrier", vec![(block(high), [0.3, 0.1, -0.2])], vec![plate], 3),
        ("a rod that moves", vec![(block(high), [0.3, 0.1, -0.2])], vec![ground(), turning], 6),
        // The boxes of bodies meet before they do.
        (
            "a body",
            vec![(block(high), [0.5, 0.0, 0.6]), (ball([0.3, 0.0, 0.18]), [-0.9, 0.05, 0.5])],
            vec![ground()],
            40,
        ),
        (
            "a body, no floor",
            vec![(block(high), [0.5, 0.0, 0.6]), (ball([0.3, 0.0, 0.18]), [-0.9, 0.05, 0.5])],
            vec![],
            40,
        ),
    ];
    for (name, bodies, colliders, early) in cases {
        let setup = setup(&bodies, &colliders)?;
        let touch = first_touch(&setup, 250)?;
        let fallen = agrees(&setup, touch + 20)?;
        assert!(fallen > 40 && fallen <= touch && touch <= fallen + early, "{name}: {fallen} steps, touch at {touch}");
    }
    Ok(())
}

/// From the middle of a run on, whose colliders have moved.
#[test]
fn a_fall_may_begin_later() -> Result<()> {
    let plate = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], floor(5e3, 8e3, 0.03)).moving([0.0, 0.0, 0.5], [0.0; 3]);
    let setup = setup(&[(block([0.0, 0.0, 0.2]), [0.1, 0.0, 0.1])], &[plate])?;
    let solver = setup.model.solver(&setup.params, &setup.state)?;
    let (_, whole) = solver.fall(&setup.state, 0, 500, Changes::Any)?;
    let (state, first) = solver.fall(&setup.state, 0, 20, Changes::Any)?;
    let (_, second) = solver.fall(&state, 20, 500, Changes::Any)?;
    assert!(first == 20 && whole.abs_diff(first + second) <= 1, "{whole}, {first} and {second} steps");
    // From here it is nearer by then.
    let (_, late) = solver.fall(&setup.state, 60, 500, Changes::Any)?;
    assert!(0 < late && late + 5 < whole, "{late}, of {whole}");
    Ok(())
}

#[test]
fn what_is_no_fall_is_left_to_steps() -> Result<()> {
    let dev = device();
    let plain = || setup(&[(block([0.0, 0.0, 0.4]), [0.1, 0.2, -0.3])], &[ground()]);
    let falls = |setup: &Setup| {
        let solver = setup.model.solver(&setup.params, &setup.state)?;
        let (state, steps) = solver.fall(&setup.state, 0, 9, Changes::Any)?;
        assert!(steps > 0 || state.x.to_vec()? == setup.state.x.to_vec()?);
        Ok::<_, diffkern_sim::Error>(steps)
    };
    assert_eq!(falls(&plain()?)?, 9);

    let mut damped = plain()?;
    damped.params.damping = dev.array(&[1e-3])?;
    assert_eq!(falls(&damped)?, 0, "damped");

    let mut turning = plain()?;
    let v = turning.state.v.to_vec()?.into_iter().zip(turning.state.x.to_vec()?);
    let v: Vec<_> = v.map(|(v, x)| v + Vec3::new(0.0, 0.0, 1e-3).cross(x)).collect();
    turning.state.v = dev.array(&v)?;
    assert_eq!(falls(&turning)?, 0, "turning");

    let mut strained = plain()?;
    let x: Vec<_> = strained.state.x.to_vec()?.into_iter().map(|x| Vec3::new(x.x * (1.0 + 1e-9), x.y, x.z)).collect();
    strained.state.x = dev.array(&x)?;
    assert_eq!(falls(&strained)?, 0, "strained");

    let mut remembering = plain()?;
    remembering.state.memory = strained.model.settled(&strained.state)?.memory;
    assert_eq!(falls(&remembering)?, 0, "a branch with stress");

    let low = setup(&[(block([0.0, 0.0, 0.01]), [0.0; 3])], &[ground()])?;
    assert_eq!(falls(&low)?, 0, "in the floor");

    let clamped = Body { clamps: vec![Clamp::below(0, -0.02)], ..ball([0.0, 0.0, 0.4]) }.build()?;
    let model = Model::new(&dev, &clamped, Law::NeoHookean, DT, &[])?;
    let state = model.settled(&clamped.state(&dev, [0.0; 3], [0.0; 3])?)?;
    assert_eq!(falls(&Setup { model, params: plain()?.params, state })?, 0, "clamped");
    Ok(())
}

/// Along gravity, a shift, a velocity and moduli, before and after the touch.
#[test]
fn gradients_are_those_of_steps() -> Result<()> {
    let (dev, Setup { model, params, state }) =
        (device(), setup(&[(block([0.0, 0.0, 0.1]), [0.3, 0.1, -0.4])], &[ground()])?);
    for steps in [30, 110] {
        let run = |falls: bool| -> Result<(usize, Vec<Vec<Vec3<f64>>>)> {
            let mut taken = 0;
            let all = |v: [f64; 3]| dev.full(state.len(), Vec3::from_array(v));
            let (up, aside, pull) =
                (all([0.2, -0.1, 1.0])?, all([1.0, 0.5, -0.7])?, dev.array(&[Vec3::new(1.0, -2.0, 3.0)])?);
            let softer = dev.array(&[-500.0])?;
            let directions = [
                vec![(state.x.as_any(), up.as_any())],
                vec![(state.v.as_any(), aside.as_any())],
                vec![(params.gravity.as_any(), pull.as_any())],
                vec![(params.mu.as_any(), softer.as_any())],
            ];
            let directions: Vec<diffkern::Direction<'_>> = directions.iter().map(|d| d.as_slice()).collect();
            let (end, tangents) = diffkern::jvp(&directions, || {
                let solver = model.solver(&params, &state)?;
                let (begun, fallen) =
                    if falls { solver.fall(&state, 0, steps, Changes::Alike)? } else { (state.clone(), 0) };
                taken = fallen;
                Ok::<_, diffkern_sim::Error>(solver.advance(&begun, fallen, steps - fallen, Schedule::Auto)?.x)
            })?;
            let along = (0..directions.len()).map(|k| Ok(tangents.get(k, &end)?.to_vec()?));
            Ok((taken, along.collect::<Result<Vec<_>>>()?))
        };
        let ((fallen, found), (_, expected)) = (run(true)?, run(false)?);
        assert!(fallen == steps.min(fallen) && fallen >= 30, "{fallen}");
        for (k, (a, b)) in found.iter().zip(&expected).enumerate() {
            let size = b.iter().map(|b| b.norm()).fold(1e-3, f64::max);
            let off = a.iter().zip(b).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
            assert!(off < 1e-9 * size, "direction {k} after {steps} steps: {off} of {size}");
        }
    }
    Ok(())
}

/// The gradients of steps are those of steps.
#[test]
fn what_a_fall_does_not_follow_is_left_to_steps() -> Result<()> {
    let Setup { model, params, state } = setup(&[(block([0.0, 0.0, 0.4]), [0.1, 0.2, -0.3])], &[ground()])?;
    let fallen = |damped: bool, moved: bool, changes: Changes| {
        let dev = device();
        let damping = if damped { dev.zeros(1)?.requires_grad() } else { dev.zeros(1)? };
        let params = Params { damping, ..params.clone() };
        let v = if moved { state.v.detached()?.requires_grad() } else { state.v.clone() };
        let state = State { v, ..state.clone() };
        Ok::<_, diffkern_sim::Error>(model.solver(&params, &state)?.fall(&state, 0, 9, changes)?.1)
    };
    assert_eq!([fallen(false, false, Changes::Any)?, fallen(false, true, Changes::Alike)?], [9, 9]);
    let other = setup(&[(ball([0.0, 0.0, 0.4]), [0.0; 3])], &[])?.state;
    let refused = model.solver(&params, &state)?.fall(&other, 0, 9, Changes::Any).map(drop).map_err(|e| e.to_string());
    assert!(refused.as_ref().is_err_and(|e| e.contains("number of control points")), "{refused:?}");
    assert_eq!([fallen(true, false, Changes::Alike)?, fallen(false, true, Changes::Any)?], [0, 0]);
    Ok(())
}
