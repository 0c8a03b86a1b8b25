//! Hessian-vector products of whole simulations: against finite differences of the gradient, and against themselves.

mod common;

use common::Random;
use common::block::{Block, H};
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;
use diffkern_sim::mpm::Law;
use diffkern_sim::rigid::{Body, Impacts, Model, Plane, State};
use diffkern_sim::shape::Prism;
use diffkern_sim::{Result, Step as _};

type Scene = Block<5, 30>;

/// The gradient and the products with all directions.
fn all_products(
    scene: &Scene,
    at: &[f64],
    along: &[Vec<f64>],
    schedule: Schedule,
) -> Result<(Vec<f64>, Vec<Vec<f64>>)> {
    let (inputs, tape, loss) = scene.record(at, schedule)?;
    let moves = along.iter().map(|v| scene.inputs(v)).collect::<Result<Vec<_>>>()?;
    let pairs: Vec<Vec<_>> = moves.iter().map(|m| inputs.all().into_iter().zip(m.all()).collect()).collect();
    let directions: Vec<&[_]> = pairs.iter().map(Vec::as_slice).collect();
    let found = tape.hvp(&loss, &directions)?;
    let part = |k: usize| inputs.numbers(|a| found.get(k, a), |a| found.get(k, a));
    let products = (0..along.len()).map(part).collect::<Result<_>>()?;
    Ok((inputs.numbers(|a| found.gradient(a), |a| found.gradient(a))?, products))
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Moves all numbers, each by some part of its size.
fn direction(at: &[f64], seed: u64) -> Vec<f64> {
    let mut r = Random(seed);
    let first_x: usize = Scene::GROUPS[..9].iter().map(|(_, len)| len).sum();
    let scale = |k: usize, x: f64| {
        if (first_x..first_x + 2 * Scene::N).contains(&k) { 0.02 * H } else { 0.1 * x.abs().max(0.1) }
    };
    at.iter().enumerate().map(|(k, x)| scale(k, *x) * r.between(-1.0, 1.0)).collect()
}

fn second_derivatives(law: Law) -> Result<()> {
    let scene = Scene::new(law, 0.44)?;
    let at = scene.start();
    let [u, v] = [direction(&at, 3), direction(&at, 4)];
    let (gradient, products) = all_products(&scene, &at, &[u.clone(), v.clone()], Schedule::StoreAll)?;
    assert_eq!(gradient, scene.gradient(&at, Schedule::StoreAll)?);

    let (one, other) = (inner(&v, &products[0]), inner(&u, &products[1]));
    let terms = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a * b).powi(2)).sum::<f64>().sqrt();
    let size = terms(&v, &products[0]).max(terms(&u, &products[1]));
    assert!((one - other).abs() < 1e-10 * size, "{law:?}: <v, H u> = {one}, <u, H v> = {other}");

    // Of fourth order, at the best of some steps: contacts that come and go within one are not in a derivative.
    for (probe, product) in [(&u, &products[1]), (&v, &products[1]), (&v, &products[0])] {
        let (moves, exact) = (if std::ptr::eq(product, &products[0]) { &u } else { &v }, inner(probe, product));
        let slope = |t: f64| {
            let moved: Vec<f64> = at.iter().zip(moves).map(|(x, d)| x + t * d).collect();
            Ok::<_, diffkern_sim::Error>(inner(probe, &scene.gradient(&moved, Schedule::StoreAll)?))
        };
        let mut best = f64::INFINITY;
        for h in [4e-3, 1e-3, 2.5e-4, 6e-5] {
            let pair = |h: f64| Ok::<_, diffkern_sim::Error>((slope(h)? - slope(-h)?) / (2.0 * h));
            let numeric = (4.0 * pair(0.5 * h)? - pair(h)?) / 3.0;
            best = best.min((numeric - exact).abs() / exact.abs());
        }
        assert!(best < 1e-6, "{law:?}: {exact} against differences: relative error {best:e}");
        println!("{law:?}: relative error {best:.1e}");
    }
    for schedule in [Schedule::Checkpoints(3), Schedule::Auto] {
        let other = all_products(&scene, &at, &[u.clone(), v.clone()], schedule)?;
        assert_eq!(other, (gradient.clone(), products.clone()), "{schedule:?}");
    }
    Ok(())
}

#[test]
fn of_a_neo_hookean_block() -> Result<()> {
    second_derivatives(Law::NeoHookean)
}

#[test]
fn of_a_stable_neo_hookean_solid() -> Result<()> {
    second_derivatives(Law::StableNeoHookean)
}

#[test]
fn of_a_fixed_corotated_block() -> Result<()> {
    second_derivatives(Law::FixedCorotated)
}

#[diff_kernel]
fn squares<F: Float>(x: &Array<Vec3<F>>, q: &Array<Quat<F>>, out: &mut Array<F>) {
    let w = Vec3::new(0.7, 0.4, 0.9);
    let turned = q[ABSOLUTE_POS].rotate(Vec3::new(0.3, -0.8, 0.5));
    out[0] += x[ABSOLUTE_POS].mul_elem(x[ABSOLUTE_POS]).dot(w) + turned.dot(w);
}

/// The time at which a turning body meets a plane has a second derivative too.
#[test]
fn of_a_turning_body_that_hits_a_plane() -> Result<()> {
    let device = Device::cpu();
    let plane = Plane { normal: [0.2, -0.1, 1.0], offset: 0.0, restitution: 0.6, friction: 0.3 };
    let body = Body::new(Prism::bracket([0.4, 0.3], 0.1, 0.12).surface(10.0)?);
    let model = Model::<f64>::new(&device, &[body], 0.02, &[])?.with_impacts(Impacts::new(vec![plane]))?;
    let params = model.params(500.0, [0.0, 0.0, -1.0])?;
    let (centre, velocity) = (Vec3::new(0.1, 0.2, 0.4), Vec3::new(0.7, -0.3, -1.9));
    let rotation = Quat::from_rotation_vector(Vec3::new(0.4, -0.5, 0.3));
    let pose = Pose { centre, rotation, velocity, spin: Vec3::new(2.0, -3.0, 1.5) };
    let start = model.start(&params, &device.array(&[pose])?)?;
    let (at, l) = (start.x.to_vec()?[0], start.l.clone().requires_grad());
    let gradient = |x: Vec3<f64>, along: Option<Vec3<f64>>| -> Result<(Vec3<f64>, Vec3<f64>)> {
        let x = device.array(&[x])?.requires_grad();
        let from = State { x: x.clone(), l: l.clone(), ..start.clone() };
        let (tape, out) = Tape::record_value(|| -> Result<_> {
            let end = model.solver(&params, &from)?.advance(&from, 0, 15, Schedule::Auto)?;
            let out = device.zeros(1)?;
            squares(1, &end.x, &end.q, &out)?;
            Ok(out)
        })?;
        let along = device.array(&[along.unwrap_or(Vec3::zero())])?;
        let found = tape.hvp(&out, &[&[(x.as_any(), along.as_any())]])?;
        Ok((found.gradient(&x)?.to_vec()?[0], found.get(0, &x)?.to_vec()?[0]))
    };
    for along in [Vec3::new(0.0, 0.0, 1.0), Vec3::new(0.3, -0.7, 0.5)] {
        let (_, product) = gradient(at, Some(along))?;
        let pair = |h: f64| -> Result<Vec3<f64>> {
            Ok((gradient(at + along * h, None)?.0 - gradient(at - along * h, None)?.0) / (2.0 * h))
        };
        let numeric = (pair(5e-5)? * 4.0 - pair(1e-4)?) / 3.0;
        assert!((numeric - product).norm() < 1e-6 * product.norm(), "{product:?}, {numeric:?}");
        assert!(product.norm() > 1e-2, "{product:?}");
    }
    Ok(())
}
