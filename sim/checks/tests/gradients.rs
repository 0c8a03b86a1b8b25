//! The gradient of whole simulations to every parameter: Taylor remainders and central differences, f64.

mod common;

use common::Random;
use common::block::{Block, H};
use diffkern::Schedule;
use diffkern_sim::Result;
use diffkern_sim::mpm::{Law, Transfer};

const STEPS: usize = 40;

type Scene = Block<6, STEPS>;

fn scene(law: Law) -> Result<Scene> {
    Scene::new(law, 0.5)
}

/// Best relative error of a central difference, and best rate of the Taylor remainder, along `direction`.
fn compare(scene: &Scene, at: &[f64], direction: &[f64], slope: f64) -> Result<(f64, f64)> {
    let moved = |h: f64| scene.loss(&at.iter().zip(direction).map(|(x, d)| x + h * d).collect::<Vec<_>>());
    let here = scene.loss(at)?;
    let (mut error, mut rate, mut last) = (f64::INFINITY, 0.0f64, f64::NAN);
    for k in 0..6 {
        let h = 1e-3 * 0.25f64.powi(k);
        let (up, down) = (moved(h)?, moved(-h)?);
        error = error.min(((up - down) / (2.0 * h) - slope).abs() / slope.abs());
        let remainder = (up - here - h * slope).abs();
        rate = rate.max((last / remainder).log(4.0));
        last = remainder;
    }
    Ok((error, rate))
}

/// Phases of all steps, and of some.
const LAGRANGIAN: [Transfer; 2] = [Transfer::LAGRANGIAN, Transfer::Lagrangian { steps: Some(13) }];

fn every_parameter(law: Law, transfer: Transfer) -> Result<()> {
    let scene = scene(law)?.with_transfer(transfer)?;
    let at = scene.start();
    let gradient = scene.gradient(&at, Schedule::StoreAll)?;
    let mut failures = Vec::new();
    for seed in [1, 2, 3] {
        let mut r = Random(seed);
        let mut first = 0;
        for (name, len) in Scene::GROUPS {
            let range = first..first + len;
            first += len;
            let scale = if name == "positions" { 0.05 * H } else { 0.2 };
            // A number by itself moves by half its scale at least: what it does is nearly linear, and less would drown in rounding.
            let part = |r: &mut Random| match (r.between(-1.0, 1.0), len) {
                (part, 1) => part.signum() * (0.5 + 0.5 * part.abs()),
                (part, _) => part,
            };
            let direction: Vec<f64> = (0..at.len())
                .map(|k| if range.contains(&k) { part(&mut r) * scale * at[k].abs().max(0.1) } else { 0.0 })
                .collect();
            let slope: f64 = gradient.iter().zip(&direction).map(|(g, d)| g * d).sum();
            assert!(slope != 0.0, "{name} has no influence");
            let (error, rate) = compare(&scene, &at, &direction, slope)?;
            if error > 1e-6 || rate < 1.9 {
                failures.push(format!("{name}, seed {seed}: slope {slope:e}, relative error {error:e}, rate {rate}"));
            }
            // The test can fail: a slope that is off by a thousandth is seen.
            let (error, _) = compare(&scene, &at, &direction, slope * 1.001)?;
            assert!(error > 5e-4, "{name}");
        }
    }
    assert!(failures.is_empty(), "{law:?}, {transfer:?}:\n{}", failures.join("\n"));
    Ok(())
}

#[test]
fn neo_hookean_to_every_parameter() -> Result<()> {
    every_parameter(Law::NeoHookean, Transfer::Apic)
}

#[test]
fn fixed_corotated_to_every_parameter() -> Result<()> {
    every_parameter(Law::FixedCorotated, Transfer::Apic)
}

#[test]
fn stable_neo_hookean_to_every_parameter() -> Result<()> {
    every_parameter(Law::StableNeoHookean, Transfer::Apic)
}

#[test]
fn lagrangian_phases_to_every_parameter() -> Result<()> {
    LAGRANGIAN.into_iter().try_for_each(|transfer| every_parameter(Law::NeoHookean, transfer))
}

#[test]
fn schedules_give_the_same_bits() -> Result<()> {
    for transfer in [Transfer::Apic, LAGRANGIAN[0], LAGRANGIAN[1]] {
        let scene = scene(Law::NeoHookean)?.with_transfer(transfer)?;
        let at = scene.start();
        let all = scene.gradient(&at, Schedule::StoreAll)?;
        for schedule in [Schedule::Checkpoints(4), Schedule::Checkpoints(STEPS)] {
            assert_eq!(scene.gradient(&at, schedule)?, all);
        }
    }
    Ok(())
}

#[test]
fn forward_mode_agrees_with_the_gradient() -> Result<()> {
    [Transfer::Apic, LAGRANGIAN[0], LAGRANGIAN[1]].into_iter().try_for_each(forward_mode_agrees)
}

fn forward_mode_agrees(transfer: Transfer) -> Result<()> {
    let scene = scene(Law::NeoHookean)?.with_transfer(transfer)?;
    let at = scene.start();
    let gradient = scene.gradient(&at, Schedule::StoreAll)?;
    let inputs = scene.inputs(&at)?;
    let params = &inputs.params;
    let mut r = Random(5);
    let along_mu = r.many(Scene::N, |r| r.between(-1.0, 1.0));
    let (mu, lambda) = (scene.device.array(&along_mu)?, scene.device.array(&[1.0])?);
    let directions: [&[_]; 2] = [&[(params.mu.as_any(), mu.as_any())], &[(params.lambda.as_any(), lambda.as_any())]];
    let (loss, tangents) = diffkern::jvp(&directions, || scene.simulate(&inputs, Schedule::StoreAll))?;
    let expected = [gradient[..Scene::N].iter().zip(&along_mu).map(|(g, d)| g * d).sum(), gradient[Scene::N]];
    for (k, expected) in expected.into_iter().enumerate() {
        let found: f64 = tangents.get(k, &loss)?.to_vec()?[0];
        assert!((found - expected).abs() < 1e-10 * expected.abs(), "direction {k}: {found} instead of {expected}");
    }
    Ok(())
}
