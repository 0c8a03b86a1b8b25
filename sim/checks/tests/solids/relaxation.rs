//! A Maxwell branch against closed forms: what it loses, how it stiffens, what it does to steps.

use super::*;
use crate::common::Random;
use diffkern_sim::fem::lattice::{Relaxation, Skin};
use diffkern_sim::fem::relaxation::relax;
use diffkern_sim::shape::{Cuboid, Primitive};
use diffkern_sim::{Model as _, Span};
use std::f64::consts::PI;

const MU: f64 = 2e4;
const DENSITY: f64 = 1e3;
const LENGTH: f64 = 0.2;

fn bar(cells: usize) -> Result<CutBody> {
    Body::new(Primitive::Cuboid(Cuboid { sides: [LENGTH, 0.04, 0.05] }), LENGTH / cells as f64).build()
}

fn relaxing(modulus: f64, time: f64, lambda: f64) -> Result<Params<f64>> {
    let [modulus, time] = [modulus, time].map(|x| device().array(&[x]));
    let relaxation = Some(Relaxation { modulus: modulus?, time: time? });
    Ok(Params { relaxation, ..Params::uniform(&device(), MU, lambda, DENSITY, [0.0; 3])? })
}

#[test]
fn a_held_deformation_is_forgotten_at_the_rate_of_its_time() -> Result<()> {
    let (dev, mut r) = (device(), Random(5));
    let (volume_modulus, time, dt) = (3.0, 0.7, 0.2);
    let deformation = Mat3::identity() + r.mat3(0.3);
    let f = dev.array(&[deformation])?;
    let branch = dev.array(&[Vec2::new(volume_modulus, 1.0 / time)])?;
    let mut memory = dev.array(&[Mat3::zero()])?;
    // At once `V G (F - F^-T)`.
    let first = (deformation - deformation.inverse().transpose()) * volume_modulus;
    for k in 0..9 {
        let (p, next) = (dev.zeros(1)?, dev.uninit(1)?);
        relax(1, &f, &memory, &branch, &p, &next, dt)?;
        let left = (-(k as f64 + 0.5) * dt / time).exp();
        let (found, expected) = (p.to_vec()?[0].to_array(), (first * left).to_array());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13), "{k}: {found:?}, not {expected:?}");
        memory = next;
    }
    Ok(())
}

/// Circular frequency and rate of decay of a bar that swings along itself, and its energies on the way, as parts of the first.
fn swings(params: &Params<f64>, share: f64) -> Result<(f64, f64, Vec<f64>)> {
    let body = bar(8)?;
    let middle = 0.5 * LENGTH;
    let mode = |x: f64| (PI * (x + middle) / LENGTH).cos();
    let state = displaced(&body, |[x, ..]| [1e-4 * mode(x), 0.0, 0.0], |_| [0.0; 3])?;
    let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[])?;
    let state = match params.relaxation {
        Some(_) => State { memory: model.settled(&displaced(&body, |_| [0.0; 3], |_| [0.0; 3])?)?.memory, ..state },
        None => state,
    };
    let dt = share * model.max_dt(params, &state)?;
    let solver = model.with_dt(dt)?.solver(params, &state)?;
    let skin = Skin::new(&device(), &body)?;
    let mut now = state.clone();
    let (mut seen, mut energies) = (Vec::new(), Vec::new());
    // Some eight samples a period.
    let each = (0.005 / dt) as usize;
    for k in 0..(0.5 / (dt * each as f64)) as usize {
        let moved = skin.carried(&now.x)?.to_vec()?.into_iter().zip(body.mesh().vertices());
        seen.push(moved.map(|(x, rest)| (x.x - rest[0]) * mode(rest[0])).sum::<f64>());
        energies.push(solver.energy(&now)?.total());
        now = solver.advance(&now, k * each, each, Schedule::StoreAll)?;
    }
    // Samples of a damped vibration are `y_(k + 2) = 2 q cos(w T) y_(k + 1) - q^2 y_k`, `q = exp(-decay T)`: by least squares over its second half, where
    // nothing else is left.
    let late = &seen[seen.len() / 2..];
    let mut normal = [[0.0; 2]; 2];
    let mut right = [0.0; 2];
    for three in late.windows(3) {
        let (row, target) = ([three[1], -three[0]], three[2]);
        for a in 0..2 {
            right[a] += row[a] * target;
            (0..2).for_each(|b| normal[a][b] += row[a] * row[b]);
        }
    }
    let det = normal[0][0] * normal[1][1] - normal[0][1] * normal[1][0];
    let sum = (right[0] * normal[1][1] - right[1] * normal[0][1]) / det;
    let square = (normal[0][0] * right[1] - normal[1][0] * right[0]) / det;
    let dt = each as f64 * dt;
    let q = square.sqrt();
    let first = energies[0];
    Ok(((0.5 * sum / q).acos() / dt, -q.ln() / dt, energies.into_iter().map(|e| e / first).collect()))
}

/// Without lateral contraction all of the stiffness is shear stiffness, and the modulus of a vibration `exp(s t)` is `mu + G s T / (1 + s T)`.
#[test]
fn vibrations_meet_the_complex_modulus() -> Result<()> {
    let plain = Params::<f64>::uniform(&device(), MU, 1e-6, DENSITY, [0.0; 3])?;
    let (elastic, none, _) = swings(&plain, 0.25)?;
    let wave = (2.0 * MU / DENSITY).sqrt();
    // What is seen has a little of other modes, and a decay is found to that only.
    assert!((elastic * LENGTH / (PI * wave) - 1.0).abs() < 2e-3 && none.abs() < 5e-5 * elastic, "{elastic}, {none}");
    for (ratio, turn) in [(0.3, 0.4), (0.3, 2.5), (1.0, 0.5)] {
        let time = turn / elastic;
        let (frequency, decay, energies) = swings(&relaxing(ratio * MU, time, 1e-6)?, 0.25)?;
        // The root of `s^2 = -w^2 (1 + ratio s T / (1 + s T))`, found by Newton's iteration in the plane.
        let (mut re, mut im) = (-0.1 * elastic, elastic);
        for _ in 0..200 {
            let (x, y) = (1.0 + re * time, im * time);
            let size = x * x + y * y;
            let (part_re, part_im) = ((re * time * x + y * y) / size, (im * time * x - re * time * y) / size);
            let (m_re, m_im) = (1.0 + ratio * part_re, ratio * part_im);
            // s = i w sqrt(m).
            let length = m_re.hypot(m_im).sqrt();
            let angle = 0.5 * m_im.atan2(m_re);
            (re, im) = (-elastic * length * angle.sin(), elastic * length * angle.cos());
        }
        assert!((frequency / im - 1.0).abs() < 5e-4, "{frequency}, not {im}");
        assert!((decay / -re - 1.0).abs() < 5e-3, "{decay}, not {}", -re);
        let gains = energies.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
        assert!(gains < 2e-4, "gains {gains} of its energy");
        assert!(energies[energies.len() - 1] < (1.9 * re * 0.5).exp(), "keeps its energy");
    }
    Ok(())
}

#[test]
fn stiff_branches_make_steps_short() -> Result<()> {
    let body = bar(4)?;
    let params = relaxing(30.0 * MU, 1.0, 1e4)?;
    let start = displaced(&body, |[x, y, _]| [0.02 * x, -0.01 * y, 0.0], |[x, y, z]| [z, x, y])?;
    let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[])?;
    let start = model.settled(&start)?;
    let limit = model.max_dt(&params, &start)?;
    let largest = |dt: f64| -> Result<f64> {
        let solver = model.clone().with_dt(dt)?.solver(&params, &start)?;
        let Ok(end) = solver.advance(&start, 0, 300, Schedule::StoreAll) else { return Ok(f64::NAN) };
        Ok(end.v.to_vec()?.iter().map(|v| v.norm()).fold(0.0, |most: f64, v| if v.is_nan() { v } else { most.max(v) }))
    };
    let (stable, unstable) = (largest(3.5 * limit)?, largest(4.6 * limit)?);
    assert!(stable < 1.0, "{stable} m/s in steps that are stable");
    assert!(unstable.is_nan() || unstable > 10.0, "{unstable} m/s in steps that are not");
    Ok(())
}

/// Where a relaxing bar is at one time in steps of `dt`, and how that depends on the branch.
fn in_steps_of(dt: f64) -> Result<[Vec<f64>; 2]> {
    let body = bar(4)?;
    let mut params = relaxing(1.0, 1.0, 3e4)?;
    let [modulus, time] = [1.5 * MU, 0.004].map(|x| device().full(body.cells(), x).map(Array::requires_grad));
    let branch = Relaxation { modulus: modulus?, time: time? };
    params.relaxation = Some(branch.clone());
    let state = displaced(&body, |[x, y, _]| [-0.1 * x + 0.05 * y, 0.02 * x, 0.0], |[x, y, _]| [-y, x, 0.2])?;
    let (tape, end) = Tape::record_value(|| {
        let model = Model::new(&device(), &body, Law::NeoHookean, dt, &[])?;
        let state = model.settled(&state)?;
        let (span, no_control) = (Span::until(0, 0.0, 0.02, dt)?, |_: &State<f64>, _| Ok(Default::default()));
        model.solver(&params, &state)?.advance_with(&state, span, no_control, Schedule::StoreAll)
    })?;
    let seed: Vec<_> = (0..end.len()).map(|k| Vec3::new((k as f64).sin(), (2.0 * k as f64).cos(), 0.3)).collect();
    tape.backward_from(&[(end.x.as_any(), device().array(&seed)?.as_any())])?;
    let slopes = [branch.modulus.grad()?.to_vec()?, branch.time.grad()?.to_vec()?].concat();
    Ok([end.x.to_vec()?.iter().flat_map(|x| x.to_array()).collect(), slopes])
}

#[test]
fn relaxing_bodies_are_of_second_order_in_the_step() -> Result<()> {
    let [a, b, c] = [1.0, 0.5, 0.25].map(|f| in_steps_of(4e-4 * f));
    let (a, b, c) = (a?, b?, c?);
    let apart = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
    let order = [0, 1].map(|k| (apart(&a[k], &b[k]) / apart(&b[k], &c[k])).log2());
    assert!(order.iter().all(|o| (o - 2.0).abs() < 0.1), "{order:?}");
    Ok(())
}

/// In single precision too, where a step relaxes less than the last digit of 1.
#[test]
fn small_strains_are_forgotten_in_single_precision() -> Result<()> {
    let dev = device();
    let f = dev.array(&[Mat3::<f32>::identity() + Mat3::new(1e-3, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)])?;
    let (branch, dt) = (dev.array(&[Vec2::new(1.0f32, 1.0)])?, 3e-5f32);
    let mut memory = dev.array(&[Mat3::zero()])?;
    let stress = |memory: &Array<Mat3<f32>>| -> Result<(f32, Array<Mat3<f32>>)> {
        let (p, next) = (dev.zeros(1)?, dev.uninit(1)?);
        relax(1, &f, memory, &branch, &p, &next, dt)?;
        Ok((p.to_vec()?[0][(0, 0)], next))
    };
    let first = stress(&memory)?.0;
    for _ in 0..(2.0 / dt) as usize {
        memory = stress(&memory)?.1;
    }
    let left = stress(&memory)?.0 / first;
    assert!((left - (-2.0f32).exp()).abs() < 2e-3, "{left}");
    Ok(())
}

#[test]
fn memories_go_with_branches() -> Result<()> {
    let body = bar(4)?;
    let model = Model::<f64>::new(&device(), &body, Law::NeoHookean, 1e-4, &[])?;
    let (with, without) = (relaxing(MU, 0.1, 1e4)?, Params::uniform(&device(), MU, 1e4, DENSITY, [0.0; 3])?);
    let start = body.state(&device(), [0.0; 3], [0.0; 3])?;
    let settled = model.settled(&start)?;
    let error = model.solver(&with, &start).unwrap_err().to_string();
    assert!(error.contains("memory of the state") && error.contains("settled"), "{error}");
    let error = model.solver(&without, &settled).unwrap_err().to_string();
    assert!(error.contains("does not relax"), "{error}");
    assert!(model.solver(&with, &settled).is_ok() && model.solver(&without, &start).is_ok());
    Ok(())
}
