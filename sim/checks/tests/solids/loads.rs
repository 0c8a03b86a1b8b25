//! Point masses that hang on bodies.

use super::vibration::Vibration;
use super::*;
use diffkern_sim::Model as _;
use diffkern_sim::fem::lattice::{Clamp, Skin};
use diffkern_sim::mesh::Pose;
use diffkern_sim::shape::{Cuboid, Primitive};
use std::f64::consts::PI;

/// First root `k L` of a beam of Euler and Bernoulli, clamped at one end, with `ratio` times its own mass at the other.
fn loaded_root(ratio: f64) -> f64 {
    let f = |b: f64| {
        let (c, s, ch, sh) = (b.cos(), b.sin(), b.cosh(), b.sinh());
        1.0 + c * ch + ratio * b * (c * sh - s * ch)
    };
    let (mut low, mut high) = (0.1, 1.9);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if f(middle) > 0.0 { low = middle } else { high = middle }
    }
    low
}

/// Swings as a beam with a mass at its tip does, which is held up by as much as it weighs.
#[test]
fn a_mass_at_the_tip_slows_a_cantilever() -> Result<()> {
    let (length, side, e, nu, density, load) = (0.2, 0.02, 2e5, 0.3, 1e3, 0.05);
    let (mu, lambda) = (e / (2.0 * (1.0 + nu)), e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)));
    let bar = Primitive::Cuboid(Cuboid { sides: [length, side, side] });
    let pose = Pose::at([0.5 * length, 0.0, 0.0]);
    let body = Body { pose, clamps: vec![Clamp::below(0, -0.5 * length)], ..Body::new(bar, 0.01) }.build()?;
    let mut params = Params::<f64>::uniform(&device(), mu, lambda, density, [0.0; 3])?;
    params.loads = Some(device().array(&[load])?);
    // About the shape of the first mode; cross-sections turn with it.
    let sag = |s: f64| 1e-4 * s * s * (3.0 - s) / 2.0;
    let slope = |s: f64| 1e-4 * s * (3.0 - 1.5 * s) / length;
    let mode = |[x, _, z]: [f64; 3]| {
        let s = x / length;
        [-z * slope(s), 0.0, sag(s)]
    };
    let vibration =
        Vibration { body: &body, params: &params, colliders: &[], about: &|_| [0.0; 3], mode: &mode, share: 1.0 };
    let found = vibration.loaded(&[(0, [length - 1e-9, 0.0, 0.0])]).frequency(2)?;
    let (area, inertia, own) = (side * side, side.powi(4) / 12.0, density * length * side * side);
    let bending = (loaded_root(load / own) / length).powi(2) * (e * inertia / (density * area)).sqrt();
    let kappa = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
    // Shear adds its compliance, as seen by the load and a third of the beam.
    let shear = (load + own / 3.0) * length / (kappa * mu * area);
    let expected = 1.0 / (1.0 / (bending * bending) + shear).sqrt();
    assert!((found / expected - 1.0).abs() < 0.005, "{} Hz of {}", found / (2.0 * PI), expected / (2.0 * PI));
    Ok(())
}

/// Momentum and angular momentum are those of a body with a mass, and so is the fall.
#[test]
fn a_loaded_body_falls_and_turns_as_one() -> Result<()> {
    let block = Primitive::Cuboid(Cuboid { sides: [0.1, 0.08, 0.06] });
    let body = Body { pose: Pose { rotation: [0.2, -0.3, 0.4], translation: [0.0; 3] }, ..Body::new(block, 0.03) };
    let (body, load, at) = (body.build()?, 0.2, [0.03, 0.01, -0.01]);
    let mut params = Params::<f64>::uniform(&device(), 3e3, 4e3, 1e3, [0.5, -0.2, -9.81])?;
    params.loads = Some(device().array(&[load])?);
    let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[])?.with_loads(&[(0, at)])?;
    let state = body.state::<f64>(&device(), [0.3, -0.2, 0.1], [2.0, -1.0, 3.0])?;
    let dt = model.max_dt(&params, &state)?;
    let solver = model.with_dt(dt)?.solver(&params, &state)?;
    let masses = solver.lumped_masses().to_vec()?;
    let whole: f64 = masses.iter().sum();
    assert!((whole - load - 1e3 * 0.1 * 0.08 * 0.06).abs() < 1e-12, "{whole}");
    // The weighted mean is the centre of the whole.
    let centre = |x: &Array<Vec3<f64>>| -> Result<Vec3<f64>> {
        Ok(x.to_vec()?.iter().zip(&masses).fold(Vec3::zero(), |sum, (x, m)| sum + *x * (*m / whole)))
    };
    let (x0, v0) = (centre(&state.x)?, centre(&state.v)?);
    let expected = Vec3::from_array(at) * (load / whole);
    assert!((x0 - expected).norm() < 1e-12, "{x0:?}");
    let before = solver.energy(&state)?;
    // A rigid motion has the energy of a rigid body with a mass.
    let (w, r) = (Vec3::new(2.0, -1.0, 3.0), Vec3::from_array(at));
    let of_load = 0.5 * load * (Vec3::new(0.3, -0.2, 0.1) + w.cross(r)).norm_squared();
    let alone = Model::new(&device(), &body, Law::NeoHookean, dt, &[])?;
    let bare = Params { loads: None, ..params.clone() };
    let without = alone.solver(&bare, &state)?.energy(&state)?.kinetic;
    let share = (before.kinetic - without) / of_load;
    // The inverse of the series of the mass matrix differs from the matrix within the stencil of the load.
    assert!((share - 1.0).abs() < 0.05, "{share}");
    let steps = 400;
    let end = solver.advance(&state, 0, steps, Schedule::StoreAll)?;
    let (t, g) = (steps as f64 * dt, Vec3::new(0.5, -0.2, -9.81));
    let fallen = centre(&end.x)? - (x0 + v0 * t + g * (0.5 * t * t));
    assert!(fallen.norm() < 1e-12, "{fallen:?}");
    let height = |s: &State<f64>| -> Result<f64> { Ok(-whole * g.dot(centre(&s.x)?)) };
    let after = solver.energy(&end)?;
    let gained = after.total() + height(&end)? - before.total() - height(&state)?;
    assert!(gained.abs() < 1e-3 * before.total(), "{gained} of {before:?}");
    Ok(())
}

#[test]
fn loads_are_checked() -> Result<()> {
    let body = Body::new(Primitive::Cuboid(Cuboid { sides: [0.1; 3] }), 0.05).build()?;
    let model = Model::<f64>::new(&device(), &body, Law::NeoHookean, 1e-4, &[])?;
    let text = |r: Result<Model<f64>>| r.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(text(model.clone().with_loads(&[(1, [0.0; 3])])).contains("number of a body with a load"));
    assert!(text(model.clone().with_loads(&[(0, [0.0, 0.0, 0.3])])).contains("0.3"));
    let state = body.state::<f64>(&device(), [0.0; 3], [0.0; 3])?;
    let params = Params::uniform(&device(), 1e3, 1e3, 1e3, [0.0; 3])?;
    let wrong = model.with_loads(&[(0, [0.0; 3])])?.solver(&params, &state).err().map(|e| e.to_string());
    assert!(wrong.is_some_and(|e| e.contains("number of loads")));
    Ok(())
}

/// `<spread f, u> = <f, carried u>`: forces on points do the work of those that they are spread to, and their sum stays. Its derivative is the
/// carrying.
#[test]
fn forces_on_points_are_spread_by_their_work() -> Result<()> {
    let ball = Primitive::Sphere(diffkern_sim::shape::Sphere { radius: 0.1 });
    let body =
        Body { pose: Pose { rotation: [0.2, 0.5, -0.3], translation: [0.1; 3] }, ..Body::new(ball, 0.06) }.build()?;
    let points: Vec<[f64; 3]> = body.cell_centres().to_vec();
    let skin = Skin::of_points(&device(), &body, &points)?;
    for seed in [5, 6, 7] {
        let mut r = crate::common::Random(seed);
        let force = device().array(&r.many(points.len(), |r| r.vec3(-1.0, 1.0)))?.requires_grad();
        let moved = device().array(&r.many(body.rest().len(), |r| r.vec3(-1.0, 1.0)))?;
        let (tape, spread) = Tape::record_value(|| skin.spread(&force))?;
        let (here, there) = (spread.to_vec()?, skin.carried(&moved)?.to_vec()?);
        let dot = |a: &[Vec3<f64>], b: &[Vec3<f64>]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
        let work = [dot(&here, &moved.to_vec()?), dot(&force.to_vec()?, &there)];
        assert!((work[0] - work[1]).abs() < 1e-12 * (1.0 + work[0].abs()), "{work:?}");
        let sums = [here, force.to_vec()?].map(|f| f.into_iter().fold(Vec3::zero(), |s, f| s + f));
        assert!((sums[0] - sums[1]).norm() < 1e-12, "{sums:?}");
        tape.backward_from(&[(spread.as_any(), moved.as_any())])?;
        let slope = force.grad()?.to_vec()?;
        assert!(slope.iter().zip(&there).all(|(a, b)| (*a - *b).norm() < 1e-12), "{slope:?}");
    }
    let few = skin.spread(&device().zeros(2)?).err().map(|e| e.to_string());
    assert!(few.is_some_and(|e| e.contains("number of forces")));
    Ok(())
}
