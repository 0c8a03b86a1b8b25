//! A cantilever against Timoshenko's theory: static sag and first natural frequency, converging with the grid.
//!
//! Let go in weak gravity, the tip swings between its start and twice the sag: half a period ends where its velocity
//! returns to zero, and the mean over a period is the sag.

use diffkern::Schedule;
use diffkern::prelude::*;
use diffkern_sim::Result;
use diffkern_sim::Step as _;
use diffkern_sim::mpm::{HalfSpace, Law};
use diffkern_sim::scene::BlockSpec;

const LENGTH: f64 = 0.12;
const SIDE: f64 = 0.02;
const MU: f64 = 2e4;
const LAMBDA: f64 = 2e4;
const DENSITY: f64 = 1e3;
const GRAVITY: f64 = 0.2;

struct Beam {
    sag: f64,
    frequency: f64,
}

/// Cantilever of a square section: sag of bending and shear under its weight; frequency of Euler and Bernoulli, lowered
/// for shear and rotary inertia as by Dunkerley.
fn theory() -> Beam {
    let nu = LAMBDA / (2.0 * (LAMBDA + MU));
    let e = 2.0 * MU * (1.0 + nu);
    let (area, inertia) = (SIDE * SIDE, SIDE.powi(4) / 12.0);
    let kappa = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu);
    let weight = DENSITY * GRAVITY * area;
    let sag = weight * LENGTH.powi(4) / (8.0 * e * inertia) + weight * LENGTH.powi(2) / (2.0 * kappa * MU * area);
    let bending = 1.875_104_f64.powi(2) / LENGTH.powi(2) * (e * inertia / (DENSITY * area)).sqrt();
    let shear = std::f64::consts::FRAC_PI_2 / LENGTH * (kappa * MU / DENSITY).sqrt();
    let rotary = 1.0 + 4.65 * inertia / (area * LENGTH * LENGTH);
    let omega = 1.0 / (rotary / bending.powi(2) + 1.0 / shear.powi(2)).sqrt();
    Beam { sag, frequency: omega / (2.0 * std::f64::consts::PI) }
}

fn measured(cells: usize, law: Law) -> Result<Beam> {
    let dev = Device::cpu();
    let spec = BlockSpec {
        min: [-SIDE, 0.0, 0.0],
        max: [LENGTH, SIDE, SIDE],
        law,
        mu: [MU; 2],
        lambda: [LAMBDA; 2],
        density: [DENSITY; 2],
        gravity: [0.0, 0.0, -GRAVITY],
        half_spaces: vec![HalfSpace::clamp(0, 0.0)],
        duration: 0.3,
        frame_rate: 200.0,
        cells,
        cfl: 0.4,
        ..BlockSpec::default()
    };
    let scene = spec.build::<f64>(&dev)?;
    let solver = scene.model.solver(&scene.params(&dev, MU, LAMBDA)?, scene.state.len())?;
    // The last layer of particles stands for the tip.
    let layer = scene.lattice.counts[1] * scene.lattice.counts[2];
    let tip = |x: &[Vec3<f64>]| x[x.len() - layer..].iter().map(|v| v.z).sum::<f64>() / layer as f64;
    let start = tip(&scene.state.x.to_vec()?);
    let (mut drops, mut speeds) = (vec![0.0], vec![0.0]);
    let mut now = scene.state.clone();
    // Frames of a few steps until the tip has swung back.
    let steps = 4;
    while !(speeds.len() > 3 && speeds[speeds.len() - 1] >= 0.0) {
        now = solver.advance(&now, 0, steps, Schedule::StoreAll)?;
        drops.push(start - tip(&now.x.to_vec()?));
        speeds.push(tip(&now.v.to_vec()?));
    }
    let (a, b) = (speeds[speeds.len() - 2], speeds[speeds.len() - 1]);
    let half = (speeds.len() - 2) as f64 + a / (a - b);
    let sag = drops.iter().sum::<f64>() / drops.len() as f64;
    Ok(Beam { sag, frequency: 0.5 / (half * steps as f64 * scene.model.dt()) })
}

#[test]
fn sag_and_frequency_converge_to_timoshenkos() -> Result<()> {
    let expected = theory();
    let mut errors = Vec::new();
    for cells in [2, 4, 6] {
        let beam = measured(cells, Law::NeoHookean)?;
        errors.push((beam.sag / expected.sag - 1.0, beam.frequency / expected.frequency - 1.0));
    }
    let [coarse, middle, fine] = errors[..] else { unreachable!("three grids") };
    assert!(fine.0.abs() < 0.05 && fine.1.abs() < 0.03, "relative errors of sag and frequency: {errors:?}");
    assert!(fine.0.abs() < middle.0.abs() && middle.0.abs() < coarse.0.abs(), "sag: {errors:?}");
    assert!(fine.1.abs() < coarse.1.abs(), "frequency: {errors:?}");
    Ok(())
}

#[test]
fn both_laws_have_the_same_small_oscillation() -> Result<()> {
    let (a, b) = (measured(2, Law::NeoHookean)?, measured(2, Law::FixedCorotated)?);
    assert!((a.frequency / b.frequency - 1.0).abs() < 2e-3, "{} and {} Hz", a.frequency, b.frequency);
    assert!((a.sag / b.sag - 1.0).abs() < 5e-3, "{} and {} m", a.sag, b.sag);
    Ok(())
}
