//! What cells have of a body: volumes, moments, fields.

use super::vibration::frequency;
use super::*;
use crate::common::Random;
use diffkern_sim::Model as _;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::fem::lattice::{Clamp, Skin};
use diffkern_sim::mesh::Pose;
use diffkern_sim::shape::{Cuboid, Primitive, Sphere, Torus};
use diffkern_sim::{Error, Observe as _};

fn shapes() -> [(Primitive, f64); 3] {
    [
        (Primitive::Sphere(Sphere { radius: 0.5 }), 0.2),
        (Primitive::Torus(Torus { radius: 0.5, tube: 0.2 }), 0.15),
        (Primitive::Cuboid(Cuboid { sides: [0.7, 0.5, 0.3] }), 0.17),
    ]
}

#[test]
fn volumes_and_centres_do_not_depend_on_the_lattice() -> Result<()> {
    let mut r = Random(3);
    for (shape, cell) in shapes() {
        let exact = shape.moments()?.volume;
        for _ in 0..4 {
            let corner = Some([0, 1, 2].map(|_| r.between(-1.0, 0.0)));
            let cut = Body { corner, ..Body::new(shape, cell) }.build()?;
            assert!((cut.volume() / exact - 1.0).abs() < 1e-8, "{shape:?}: {}", cut.volume() / exact);
            assert!(cut.centre().iter().all(|x| x.abs() < 1e-8), "{shape:?}: {:?}", cut.centre());
        }
    }
    Ok(())
}

#[test]
fn surfaces_follow_linear_fields_exactly() -> Result<()> {
    for (shape, cell) in shapes() {
        let cut = Body { corner: Some([0.013, -0.02, 0.031]), ..Body::new(shape, cell) }.build()?;
        let field = |[x, y, z]: [f64; 3]| [0.2 * x - 0.1 * y + 0.3, 0.5 * z, x + y];
        let skin = Skin::new(&device(), &cut)?;
        let seen = skin.vertices(&displaced(&cut, field, |_| [0.0; 3])?)?.to_vec()?;
        for (x, &rest) in seen.into_iter().zip(cut.mesh().vertices()) {
            let error = (0..3).map(|a| (x.to_array()[a] - rest[a] - field(rest)[a]).abs()).fold(0.0, f64::max);
            assert!(error < 1e-12, "{shape:?}: {error}");
        }
    }
    Ok(())
}

/// A ball and a box that lie in the lattice in several ways: their slowest vibrations, and so what is found for `E`, are the same.
#[test]
fn stiffness_does_not_depend_on_the_lattice() -> Result<()> {
    let params = |lambda: f64| Params::<f64>::uniform(&device(), 0.4, lambda, 1.0, [0.0; 3]);
    let spread = |found: &[f64]| {
        let (low, high) = found.iter().fold((f64::INFINITY, 0.0f64), |(l, h), &w| (l.min(w), h.max(w)));
        high / low - 1.0
    };
    let ball = Primitive::Sphere(Sphere { radius: 0.5 });
    let squeeze = |[x, y, z]: [f64; 3]| [1e-4 * x, 1e-4 * y, -2e-4 * z];
    let shifts = [[0.0, 0.0, 0.0], [-0.03, -0.08, -0.11], [-0.1, -0.05, -0.01]];
    let balls = shifts.map(|shift| {
        let corner = Some(shift.map(|s| -0.6 + s));
        frequency(&Body { corner, ..Body::new(ball, 0.17) }.build()?, &params(0.6)?, squeeze, 6)
    });
    let balls = balls.into_iter().collect::<Result<Vec<_>>>()?;

    // A box that is pulled along its longest axis, turned in its lattice.
    let sides = Primitive::Cuboid(Cuboid { sides: [1.0, 0.5, 0.4] });
    let turns = [[0.0; 3], [0.3, 0.2, 0.5], [0.1, -0.7, 0.4]];
    let boxes = turns.map(|rotation| {
        let pose = Pose { rotation, translation: [0.013, 0.02, -0.03] };
        let body = Body { corner: Some([0.0; 3]), ..Body::new(sides.surface(0.2)?.placed(1.0, &pose)?, 0.125) };
        let axis = Pose { rotation, ..Pose::default() }.apply([1.0, 0.0, 0.0]);
        let pull = |x: [f64; 3]| {
            let along = (0..3).map(|a| (x[a] - pose.translation[a]) * axis[a]).sum::<f64>();
            axis.map(|e| 1e-4 * e * (std::f64::consts::PI * along).sin())
        };
        frequency(&body.build()?, &params(0.0)?, pull, 6)
    });
    let boxes = boxes.into_iter().collect::<Result<Vec<_>>>()?;
    assert!(spread(&balls) < 5e-3 && spread(&boxes) < 5e-3, "{balls:?}, {boxes:?}");
    Ok(())
}

/// The surface of a turned box, as from a file, has the cells of the box; with a corner or a clamp it lies as it is told.
#[test]
fn cells_lie_along_flat_faces() -> Result<()> {
    let sides = Primitive::Cuboid(Cuboid { sides: [0.31, 0.2, 0.17] });
    for rotation in [[0.4, -0.3, 0.2], [0.0, 0.5, 0.6], [0.0; 3]] {
        let pose = Pose { rotation, translation: [0.013, 0.02, -0.03] };
        let surface = sides.surface(0.1)?.placed(1.0, &pose)?;
        let (own, other) =
            (Body { pose, ..Body::new(sides, 0.05) }.build()?, Body::new(surface.clone(), 0.05).build()?);
        assert_eq!((own.cells(), own.rest().len()), (other.cells(), other.rest().len()));
        for x in other.rest() {
            let apart = |y: &[f64; 3]| (0..3).map(|a| (x[a] - y[a]).abs()).fold(0.0, f64::max);
            assert!(own.rest().iter().any(|y| apart(y) < 1e-9), "{rotation:?}: {x:?}");
        }
        let told = Body { corner: Some([0.0; 3]), ..Body::new(surface, 0.05) }.build()?;
        assert_eq!(told.cell_size(), [0.05; 3]);
        assert!(rotation == [0.0; 3] || told.cells() > own.cells());
    }
    Ok(())
}

#[test]
fn small_cuts_leave_steps_long_and_longest_steps_are_stable() -> Result<()> {
    let ball = Primitive::Sphere(Sphere { radius: 0.5 });
    let params = Params::<f64>::uniform(&device(), 0.4, 0.2, 1.0, [0.0; 3])?;
    let mut r = Random(8);
    let mut steps = Vec::new();
    for k in 0..8 {
        let corner = Some([0, 1, 2].map(|_| -0.5 - 0.2 * r.unit()));
        let body = Body { corner, ..Body::new(ball, 0.2) }.build()?;
        let speeds = r.many(body.rest().len(), |r| [0, 1, 2].map(|_| r.between(-1e-5, 1e-5)));
        let state = State::new(&device(), body.rest(), &speeds)?;
        let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[])?;
        let dt = model.max_dt(&params, &state)?;
        steps.push(dt);
        if k == 0 {
            // A quarter of the limit is taken: 0.98 of it keeps the energy, 1.02 does not.
            let run = |factor: f64| {
                let solver = model.clone().with_dt(factor * dt)?.solver(&params, &state)?;
                let end = solver.advance(&state, 0, 400, Schedule::Auto)?;
                Ok::<_, Error>(solver.energy(&end)?.total() / solver.energy(&state)?.total())
            };
            let kept = run(3.92)?;
            assert!((0.8..1.2).contains(&kept), "{kept}");
            assert!(run(4.08).is_err(), "the limit is far away");
        }
    }
    let (low, high) = steps.iter().fold((f64::INFINITY, 0.0f64), |(l, h), &w| (l.min(w), h.max(w)));
    assert!(low > 0.94 * high && low > 0.175 * 0.2, "{steps:?}");
    Ok(())
}

#[test]
fn what_cannot_be_simulated_is_refused_with_the_way_out() -> Result<()> {
    let block = Primitive::Cuboid(Cuboid { sides: [0.2; 3] });
    let body = Body::new(block, 0.1).build()?;
    let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], Contact::Separating);
    let error = Model::<f64>::new(&device(), &body, Law::NeoHookean, 1e-3, &[floor]).unwrap_err();
    assert!(error.to_string().contains("Contact::Penalty"), "{error}");
    for clamps in
        [vec![Clamp::below(0, 0.2)], vec![Clamp::below(3, 0.0)], vec![Clamp::below(0, 0.0), Clamp::above(1, 0.05)]]
    {
        assert!(Body { clamps: clamps.clone(), ..Body::new(block, 0.1) }.build().is_err(), "{clamps:?}");
    }
    // Beyond the body.
    for clamp in [Clamp::below(0, -0.15), Clamp::above(0, 0.15), Clamp::above(0, f64::NAN)] {
        let error = Body { clamps: vec![clamp], ..Body::new(block, 0.1) }.build().unwrap_err();
        assert!(error.to_string().contains("place of clamp 0"), "{error}");
    }
    let plate = Primitive::Cuboid(Cuboid { sides: [0.2, 0.2, 0.03] });
    let error = Body::new(plate, 0.1).build().unwrap_err();
    assert!(error.to_string().contains("thickness of the body"), "{error}");
    assert!(Body::new(block, f64::NAN).build().is_err());
    let state = displaced(&body, |[x, ..]| [-1.5 * x, 0.0, 0.0], |_| [0.0; 3])?;
    let params = Params::<f64>::uniform(&device(), 1.0, 1.0, 1.0, [0.0; 3])?;
    let solver = Model::new(&device(), &body, Law::StableNeoHookean, 1e-3, &[])?.solver(&params, &state)?;
    let error = solver.advance(&state, 5, 1, Schedule::Auto).unwrap_err();
    assert!(matches!(error, Error::Inverted { what: "cell", index: 0, step: 5, .. }), "{error}");
    Ok(())
}

#[test]
fn what_is_behind_a_clamp_stays() -> Result<()> {
    held(vec![Clamp::below(0, -0.05)], 0.25)?;
    // So near that one cell would lie between them.
    held(vec![Clamp::below(0, -0.05), Clamp::above(0, 0.02)], 0.07)
}

/// Lets a bar hang whose free part, between -5 cm and its end or the other clamp, has this length \[m\].
fn held(clamps: Vec<Clamp>, free: f64) -> Result<()> {
    let bar = Primitive::Cuboid(Cuboid { sides: [0.4, 0.1, 0.1] });
    let body = Body { clamps, ..Body::new(bar, 0.05) }.build()?;
    assert!((body.volume() - free * 0.01).abs() < 1e-12, "{}", body.volume());
    let params = Params::<f64>::uniform(&device(), 2e4, 3e4, 1e3, [0.0, 0.0, -9.81])?;
    let state = body.state(&device(), [0.0; 3], [0.0; 3])?;
    let model = Model::new(&device(), &body, Law::NeoHookean, 1e-3, &[])?;
    let end = model.solver(&params, &state)?.advance(&state, 0, 100, Schedule::Auto)?;
    let seen = Skin::new(&device(), &body)?.vertices(&end)?.to_vec()?;
    for (x, rest) in seen.iter().zip(body.mesh().vertices()) {
        let moved = (0..3).map(|a| f64::abs(x.to_array()[a] - rest[a])).fold(0.0, f64::max);
        let still = rest[0] <= -0.05 + 1e-9 || (free < 0.2 && rest[0] >= free - 0.05 - 1e-9);
        assert!(if still { moved < 1e-12 } else { moved > 1e-9 }, "{rest:?}: {moved}");
    }
    Ok(())
}
