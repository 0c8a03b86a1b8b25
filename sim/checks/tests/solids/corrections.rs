//! Further corrections towards the consistent mass.

use super::*;
use crate::common::Random;
use crate::common::groups::Run;
use diffkern_sim::fem::lattice::Clamp;
use diffkern_sim::shape::{Cuboid, Primitive};
use diffkern_sim::{Model as _, Span};
use std::f64::consts::PI;

/// Circular frequency of half a wave along a free bar of four cells, by its projection on the wave.
fn half_wave(corrections: usize) -> Result<f64> {
    let bar = Body::new(Primitive::Cuboid(Cuboid { sides: [1.0, 0.25, 0.25] }), 0.25).build()?;
    let mode = |x: f64| 1e-4 * (PI * x).sin();
    let state = displaced(&bar, |[x, _, _]| [mode(x), 0.0, 0.0], |_| [0.0; 3])?;
    let params = Params::<f64>::uniform(&device(), 0.5, 0.0, 1.0, [0.0; 3])?;
    let model = Model::new(&device(), &bar, Law::NeoHookean, 1.0, &[])?.with_mass_corrections(corrections)?;
    // So short that steps add nothing.
    let dt = 0.1 * model.max_dt(&params, &state)?;
    let solver = model.with_dt(dt)?.solver(&params, &state)?;
    let seen = |s: &State<f64>| -> Result<f64> {
        let moved = s.x.to_vec()?.into_iter().zip(bar.rest());
        Ok(moved.map(|(x, rest)| (x.x - rest[0]) * mode(rest[0])).sum())
    };
    let (mut now, mut last, mut zeros, mut steps) = (state.clone(), seen(&state)?, Vec::new(), 0);
    while zeros.len() < 3 {
        now = solver.advance(&now, steps, 1, Schedule::StoreAll)?;
        steps += 1;
        let next = seen(&now)?;
        if next * last < 0.0 {
            zeros.push((steps as f64 - next / (next - last)) * dt);
        }
        last = next;
        assert!(steps < 100_000, "no vibration");
    }
    Ok(PI * 2.0 / (zeros[2] - zeros[0]))
}

/// With `E = 1` and a density of 1 the frequency is `pi`.
#[test]
fn each_correction_takes_most_of_the_error_of_a_wave() -> Result<()> {
    let off = |corrections| Ok::<_, diffkern_sim::Error>((half_wave(corrections)? / PI - 1.0).abs());
    let (one, two, four) = (off(1)?, off(2)?, off(4)?);
    assert!(one > 5e-3 && two < 0.4 * one && four < 0.1 * one, "{one}, {two}, {four}");
    Ok(())
}

/// Momentum, and energy by the mass of the steps, over a run of a turning, vibrating, clamped and a free body.
#[test]
fn corrected_steps_keep_momentum_and_energy() -> Result<()> {
    for corrections in [2, 3, 5] {
        let block = Body::new(Primitive::Cuboid(Cuboid { sides: [0.1, 0.08, 0.12] }), 0.04).build()?;
        let params = Params::<f64>::uniform(&device(), 2e4, 3e4, 1e3, [0.0; 3])?;
        let u = |[x, y, z]: [f64; 3]| [-0.03 * x + 0.02 * y, 0.02 * x, 0.03 * z + x * y];
        let v = |[x, y, z]: [f64; 3]| [0.3 - y, x - 0.5 * z, 0.5 * y];
        let state = displaced(&block, u, v)?;
        let model = Model::new(&device(), &block, Law::NeoHookean, 1.0, &[])?.with_mass_corrections(corrections)?;
        let dt = 0.25 * model.max_dt(&params, &state)?;
        let solver = model.with_dt(dt)?.solver(&params, &state)?;
        let masses = solver.lumped_masses().to_vec()?;
        let momentum = |s: &State<f64>| -> Result<Vec3<f64>> {
            Ok(s.v.to_vec()?.iter().zip(&masses).fold(Vec3::zero(), |sum, (v, m)| sum + *v * *m))
        };
        let end = solver.advance(&state, 0, 3000, Schedule::StoreAll)?;
        let moved = (momentum(&end)? - momentum(&state)?).norm();
        let [before, after] = [&state, &end].map(|s| solver.energy(s).map(|e| e.total()));
        let (before, after) = (before?, after?);
        assert!(moved < 1e-11 && (after / before - 1.0).abs() < 2e-3, "{corrections}: {moved}, {before}, {after}");
    }
    Ok(())
}

/// Stable at the limit that is told, and not far beyond it.
#[test]
fn the_longest_step_knows_the_corrections() -> Result<()> {
    let block = Body::new(Primitive::Cuboid(Cuboid { sides: [0.1; 3] }), 0.05).build()?;
    let params = Params::<f64>::uniform(&device(), 2e4, 3e4, 1e3, [0.0; 3])?;
    let mut r = Random(3);
    let noise: Vec<[f64; 3]> = r.many(block.rest().len(), |r| r.vec3(-1e-7, 1e-7).to_array());
    let at: Vec<[f64; 3]> = block.rest().iter().zip(&noise).map(|(x, d)| [0, 1, 2].map(|a| x[a] + d[a])).collect();
    let state = State::new(&device(), &at, &vec![[0.0; 3]; at.len()])?;
    let model = Model::new(&device(), &block, Law::NeoHookean, 1.0, &[])?.with_mass_corrections(4)?;
    // `max_dt` is a quarter of the limit.
    let limit = 4.0 * model.max_dt(&params, &state)?;
    let grown = |part: f64| -> Result<f64> {
        let solver = model.clone().with_dt(part * limit)?.solver(&params, &state)?;
        let mut now = state.clone();
        for k in 0..400 {
            now = solver.step(&now, &Default::default(), solver.tick(k))?;
        }
        let moved = now.x.to_vec()?.into_iter().zip(block.rest()).map(|(x, rest)| (x - Vec3::from_array(*rest)).norm());
        // What has grown out of all numbers has grown; `max` would leave it out.
        Ok(moved.map(|far| if far.is_nan() { f64::INFINITY } else { far }).fold(0.0, f64::max))
    };
    let (below, above) = (grown(0.98)?, grown(1.03)?);
    assert!(below < 1e-5 && above > 1e-4, "{below}, {above}");
    Ok(())
}

#[test]
fn gradients_of_corrected_steps() -> Result<()> {
    let (dev, mut r) = (device(), Random(23));
    let bar = Primitive::Cuboid(Cuboid { sides: [0.3, 0.1, 0.1] });
    for (corrections, clamps) in [(2, vec![Clamp::below(0, -0.09)]), (4, Vec::new())] {
        let cut = Body { clamps, ..Body::new(bar, 0.08) }.build()?;
        let model = Model::new(&dev, &cut, Law::NeoHookean, 2e-3, &[])?.with_mass_corrections(corrections)?;
        let model = model.with_loads(&[(0, [0.05, 0.02, 0.04])])?;
        let mut params = Params::<f64>::uniform(&dev, 2e3, 3e3, 900.0, [0.4, -0.3, -9.81])?;
        params.mu = dev.array(&r.many(cut.cells(), |r| r.between(1.5e3, 2.5e3)))?;
        params.density = dev.array(&r.many(cut.cells(), |r| r.between(800.0, 1000.0)))?;
        params.damping = dev.array(&[0.3])?;
        params.loads = Some(dev.array(&[0.3])?);
        let positions: Vec<_> = cut.rest().iter().map(|p| p.map(|x| 1.05 * x + r.between(-0.002, 0.002))).collect();
        let velocities = r.many(cut.rest().len(), |r| r.vec3(-0.4, 0.4).to_array());
        let state = State::new(&dev, &positions, &velocities)?;
        let span = Span::until(0, 0.0, 0.02, 2e-3)?;
        Run { model: &model, params, state, span, loss: &super::gradients::loss }.check(&[])?;
    }
    Ok(())
}

#[test]
fn corrections_are_counted() -> Result<()> {
    let block = Body::new(Primitive::Cuboid(Cuboid { sides: [0.1; 3] }), 0.05).build()?;
    for corrections in [0, 17] {
        let model = Model::<f64>::new(&device(), &block, Law::NeoHookean, 1e-4, &[])?;
        let error = model.with_mass_corrections(corrections).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("number of mass corrections") && error.contains("1 to 16"), "{error}");
    }
    Ok(())
}
