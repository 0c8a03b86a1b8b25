//! Bulk viscosity: the power that it takes, what it leaves alone, and impacts that turn cells inside out without it.

use super::*;
use crate::common::Random;
use diffkern_sim::Observe as _;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::fem::bulk::{QUADRATIC, resist_compression};
use diffkern_sim::fem::lattice::floor;
use diffkern_sim::mesh::Pose;
use diffkern_sim::scene::{BodyShape, BodySpec, ElasticSpec, Solid};
use diffkern_sim::shape::{Cuboid, Primitive, Sphere};

const DENSITY: f64 = 900.0;
/// The part of the volume below which compression is resisted.
const FULL: f64 = 0.9;
/// Of the block \[m\], in cells of 4 x 5 x 6 cm.
const SIDES: [f64; 3] = [0.08, 0.1, 0.06];

/// The energy after a short step of a uniform deformation `f` at a uniform rate, with bulk viscosity of `quadratic`.
fn energy_after(f: Mat3<f64>, rate: Mat3<f64>, quadratic: f64, dt: f64) -> Result<(f64, State<f64>)> {
    let body = Body::new(Primitive::Cuboid(Cuboid { sides: SIDES }), 0.05).build()?;
    let times = |m: Mat3<f64>, x: [f64; 3]| (m * Vec3::from_array(x)).to_array();
    let u = |x: [f64; 3]| (f * Vec3::from_array(x) - Vec3::from_array(x)).to_array();
    let state = displaced(&body, u, |x| times(rate, x))?;
    let params = Params::uniform(&device(), 2e3, 3e3, DENSITY, [0.0; 3])?;
    let model = Model::new(&device(), &body, Law::NeoHookean, dt, &[])?.with_bulk_viscosity(quadratic)?;
    let solver = model.solver(&params, &state)?;
    let end = solver.advance(&state, 0, 1, Schedule::StoreAll)?;
    Ok((solver.energy(&end)?.total(), end))
}

fn cells_of_the_block() -> Result<[f64; 3]> {
    Ok(Body::new(Primitive::Cuboid(Cuboid { sides: SIDES }), 0.05).build()?.cell_size())
}

/// The same but for its size.
fn of_volume(f: Mat3<f64>, volume: f64) -> Mat3<f64> {
    f * (volume / f.determinant()).cbrt()
}

#[test]
fn its_power_is_that_of_the_formula() -> Result<()> {
    let mut random = Random(5);
    for volume in [0.85, 0.7, 0.55, 0.4, 0.3] {
        let f = of_volume(Mat3::identity() + random.mat3(0.2), volume);
        let rate = random.mat3(5.0) - Mat3::identity() * 6.0;
        let j = f.determinant();
        let closing = j * (rate * f.inverse()).trace();
        assert!(closing < -1.0, "compressed");
        let square = cells_of_the_block()?.iter().product::<f64>().powf(2.0 / 3.0);
        let flat = 1.0 - j / FULL;
        let power =
            SIDES.iter().product::<f64>() * QUADRATIC * DENSITY * square * flat.powi(2) * closing.abs().powi(3) / j;
        let dt = 1e-7;
        let lost = energy_after(f, rate, 0.0, dt)?.0 - energy_after(f, rate, QUADRATIC, dt)?.0;
        assert!((lost / (power * dt) - 1.0).abs() < 1e-4, "{} W instead of {power} W", lost / dt);
    }
    Ok(())
}

#[test]
fn what_is_hardly_compressed_or_expands_or_turns_does_not_feel_it() -> Result<()> {
    let f = of_volume(Mat3::identity() + Random(7).mat3(0.2), 0.6);
    let expanding = Random(8).mat3(2.0) + Mat3::identity() * 6.0;
    let whole = of_volume(f, 1.01 * FULL);
    let about = Vec3::new(1.0, -2.0, 3.0);
    let turned = |axis: [f64; 3]| about.cross(Vec3::from_array(axis));
    let spin = Mat3::from_cols(turned([1.0, 0.0, 0.0]), turned([0.0, 1.0, 0.0]), turned([0.0, 0.0, 1.0]));
    let places = |f: Mat3<f64>, rate: Mat3<f64>, quadratic: f64| -> Result<Vec<Vec3<f64>>> {
        Ok(energy_after(f, rate, quadratic, 1e-4)?.1.v.to_vec()?)
    };
    assert_eq!(places(f, expanding, QUADRATIC)?, places(f, expanding, 0.0)?);
    assert_eq!(places(whole, -expanding, QUADRATIC)?, places(whole, -expanding, 0.0)?);
    assert_ne!(places(f, -expanding, QUADRATIC)?, places(f, -expanding, 0.0)?);
    for (a, b) in places(f, spin * f, 1e3 * QUADRATIC)?.iter().zip(places(f, spin * f, 0.0)?) {
        assert!((*a - b).norm() < 1e-12, "{a:?} {b:?}");
    }
    Ok(())
}

#[test]
fn the_kernel_has_its_gradient_on_all_sides() -> Result<()> {
    let mut random = Random(11);
    let f: Vec<_> =
        [0.8, 0.8, 0.45, 0.45, 1.05, 1.05].map(|volume| of_volume(Mat3::identity() + random.mat3(0.2), volume)).into();
    // Three are compressed, three expand; one of each volume.
    let rates = (0..6).map(|k| random.mat3(1.0) + Mat3::identity() * if k % 2 == 0 { 4.0 } else { -4.0 });
    let (f, rate) = (device().array(&f)?, device().array(&rates.collect::<Vec<_>>())?);
    let bulk = device().array(&random.many(6, |r| r.between(0.3, 1.2)))?;
    resist_compression::gradcheck(6, &f, &rate, &bulk, &device().zeros(6)?)?;
    Ok(())
}

/// The surface of a body six frames after it is thrown on a floor that is 2 mm below.
fn thrown(
    shape: Primitive,
    density: f64,
    lame: [f64; 2],
    speed: f64,
    cell: f64,
    quadratic: f64,
) -> Result<Vec<Vec3<f64>>> {
    let half = shape.bounds()[1][2];
    let [mu, lambda] = lame;
    let body = BodySpec {
        shape: BodyShape::Solid(Solid::new(shape, Pose::at([0.0, 0.0, half + 0.002]))?),
        velocity: [0.25, -0.04, -speed],
        mu: [mu; 2],
        lambda: [lambda; 2],
        density: [density; 2],
        ..BodySpec::default()
    };
    let contact = floor(mu, lambda, cell);
    let spec = ElasticSpec {
        bodies: vec![body],
        gravity: [0.0, 0.0, -9.81],
        colliders: vec![Collider::plane([0.0; 3], [0.0, 0.0, 1.0], contact)],
        frame_rate: 40.0,
        cell,
        bulk_viscosity: quadratic,
        ..ElasticSpec::default()
    };
    let scene = spec.build::<f64>(&device())?;
    let solver = scene.model.solver(&scene.params, &scene.state)?;
    let mut state = scene.state.clone();
    for frame in 0..6 {
        state = solver.advance(&state, frame * scene.steps_per_frame, scene.steps_per_frame, Schedule::Auto)?;
        solver.check(&state, (frame + 1) * scene.steps_per_frame)?;
    }
    Ok(scene.skin.vertices(&state)?.to_vec()?)
}

/// At 0.55 and 0.35 of the speed of their waves. The second stands that without viscosity too, in these cells.
#[test]
fn soft_bodies_stand_fast_impacts() -> Result<()> {
    let block = Primitive::Cuboid(Cuboid { sides: [0.212, 0.194, 0.138] });
    let ball = Primitive::Sphere(Sphere { radius: 0.063 });
    for (shape, density, lame, speed, cell, needs_it) in [
        (block, 1101.0, [2521.0, 1926.0], 1.46, 0.138 / 8.0, true),
        (ball, 701.0, [3225.0, 6349.0], 1.5, 0.126 / 9.0, false),
    ] {
        let end = |quadratic| thrown(shape, density, lame, speed, cell, quadratic);
        let without = end(0.0);
        assert_eq!(without.is_err(), needs_it, "{shape:?}");
        let after = end(QUADRATIC)?;
        let farthest = after.iter().map(|x| x.norm()).fold(0.0, f64::max);
        let lowest = after.iter().map(|x| x.z).fold(f64::INFINITY, f64::min);
        assert!(farthest < 0.3 && lowest > -0.5 * cell, "{shape:?}: {farthest} m, {lowest} m");
    }
    Ok(())
}

/// A block of the default material, whose waves have 4.5 m/s, that falls without weight on a floor at a part of their speed.
fn falling(mach: f64, mu: [f64; 2], lambda: [f64; 2]) -> ElasticSpec {
    let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], Contact::Penalty { stiffness: 1e6 });
    let shape = BodyShape::Block { min: [0.0, 0.0, 0.01], max: [0.1, 0.1, 0.11] };
    let body = BodySpec { shape, velocity: [0.0, 0.0, -mach * 20f64.sqrt()], mu, lambda, ..BodySpec::default() };
    ElasticSpec { bodies: vec![body], colliders: vec![floor], cell: 0.025, ..ElasticSpec::default() }
}

/// Steps of a frame as planned, as built, and with the hardest and the softest material of the ranges.
fn steps_of(spec: &ElasticSpec) -> Result<[f64; 4]> {
    let scene = spec.build::<f64>(&Device::cpu())?;
    let of = |end: usize| -> Result<f64> {
        let [mu, lambda] = [spec.bodies[0].mu, spec.bodies[0].lambda].map(|range| Device::cpu().array(&[range[end]]));
        let params = Params { mu: mu?, lambda: lambda?, ..scene.params.clone() };
        Ok(scene.for_material(&params)?.1 as f64)
    };
    Ok([spec.plan()?.steps_per_frame, scene.steps_per_frame as f64, of(1)?, of(0)?])
}

/// Those of slow bodies are as they were; a softer material is hit at a larger part of the speed of its own waves.
#[test]
fn fast_impacts_take_shorter_steps() -> Result<()> {
    let known = |mach: f64| steps_of(&falling(mach, [5e3; 2], [1e4; 2]));
    let (still, slow, fast) = (known(0.0)?, known(0.3)?, known(0.55)?);
    assert_eq!(slow, still);
    for (fast, still) in fast.iter().zip(still) {
        assert!((2.7..3.7).contains(&(fast / still)), "{fast} {still}");
    }
    let range = |mach: f64| steps_of(&falling(mach, [1.25e3, 5e3], [2.5e3, 1e4]));
    let (slow, fast) = (range(0.15)?, range(0.3)?);
    // Rounded to powers of 1.1 where there is room for it.
    assert!(slow[2] <= fast[2] && fast[2] < 1.1 * slow[2], "{slow:?} {fast:?}");
    assert!(slow[3] < 0.6 * slow[2] && (3.0..4.2).contains(&(fast[3] / slow[3])), "{slow:?} {fast:?}");
    assert!(fast[1] >= fast[3] && fast[0] > 1.4 * slow[0], "{slow:?} {fast:?}");
    Ok(())
}
