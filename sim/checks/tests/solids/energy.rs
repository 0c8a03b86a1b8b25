//! What a run keeps of its energy, and how fast it comes to the motion.

use super::*;
use diffkern_sim::contact::Collider;
use diffkern_sim::fem::lattice::{Skin, floor};
use diffkern_sim::mesh::Pose;
use diffkern_sim::shape::{Cuboid, Primitive};
use diffkern_sim::{Model as _, Span};

const MU: f64 = 2e4;
const LAMBDA: f64 = 3e4;

fn block(cells: usize) -> Body {
    Body::new(Primitive::Cuboid(Cuboid { sides: [0.1; 3] }), 0.1 / cells as f64)
}

#[test]
fn ten_seconds_of_free_vibration_keep_their_energy() -> Result<()> {
    let body = block(2).build()?;
    let params = Params::<f64>::uniform(&device(), MU, LAMBDA, 1e3, [0.0; 3])?;
    // Squeezed by 3 %, sheared and turning.
    let u = |[x, y, z]: [f64; 3]| [-0.03 * x + 0.02 * y, 0.02 * x, 0.03 * z + 1.0 * x * y];
    let v = |[x, y, z]: [f64; 3]| [0.3 - y, x - 0.5 * z, 0.5 * y];
    let state = displaced(&body, u, v)?;
    for law in Law::ALL {
        let model = Model::new(&device(), &body, law, 1.0, &[])?;
        // Half the usual length, in which the energy of a step hardly differs from that of the motion.
        let dt = 0.5 * model.max_dt(&params, &state)?;
        let solver = model.with_dt(dt)?.solver(&params, &state)?;
        let (samples, each) = (800, (10.0 / dt / 800.0).ceil() as usize);
        let (mut now, mut energies) = (state.clone(), vec![solver.energy(&state)?.total()]);
        for k in 0..samples {
            now = solver.advance(&now, k * each, each, Schedule::StoreAll)?;
            energies.push(solver.energy(&now)?.total());
        }
        // What a line through them gains; a step has an energy of its own, which differs from it by a vibration.
        let n = energies.len() as f64;
        let mean = energies.iter().sum::<f64>() / n;
        let middle = 0.5 * (n - 1.0);
        let slope = |k: usize| k as f64 - middle;
        let gain = energies.iter().enumerate().map(|(k, e)| slope(k) * (e - mean)).sum::<f64>();
        let drift = gain / (0..energies.len()).map(|k| slope(k).powi(2)).sum::<f64>() * n / mean;
        let most = energies.iter().map(|e| (e / mean - 1.0).abs()).fold(0.0, f64::max);
        assert!(drift.abs() < 1e-3 && most < 0.01, "{law:?}: {drift}, {most}");
    }
    Ok(())
}

/// Total energy after a block has fallen flat on a floor and left it, relative to before.
fn bounced(cells: usize, phase: f64) -> Result<f64> {
    let h = 0.1 / cells as f64;
    let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], floor(MU, LAMBDA, h));
    let body = Body { pose: Pose::at([0.0, 0.0, 0.05]), ..block(cells) }.build()?;
    let params = Params::<f64>::uniform(&device(), MU, LAMBDA, 1e3, [0.0; 3])?;
    let state = body.state(&device(), [0.0, 0.0, -0.5], [0.0; 3])?;
    let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[floor])?;
    let dt = model.max_dt(&params, &state)?;
    let state = displaced(&body, |_| [0.0, 0.0, 0.5 * phase * dt], |_| [0.0, 0.0, -0.5])?;
    let solver = model.with_dt(dt)?.solver(&params, &state)?;
    let mut end = solver.advance(&state, 0, (0.08 / dt) as usize, Schedule::Auto)?;
    assert!(end.x.to_vec()?.iter().all(|x| x.z > 0.0), "it has left");
    // The mean: in steps of this length the energy of a vibration is itself a vibration.
    let mut sum = 0.0;
    for k in 0..20 {
        end = solver.advance(&end, k, 5, Schedule::Auto)?;
        sum += solver.energy(&end)?.total() / 20.0;
    }
    Ok(sum / solver.energy(&state)?.total())
}

#[test]
fn bounces_keep_their_energy() -> Result<()> {
    // All points of the side touch in one step: what that gains or loses depends on the part of the step, and is nothing on the mean.
    let mut all = Vec::new();
    for cells in [4, 6] {
        let kept = (0..5).map(|k| bounced(cells, 0.2 * k as f64)).collect::<Result<Vec<_>>>()?;
        let mean = kept.iter().sum::<f64>() / 5.0;
        let most = kept.iter().map(|k| (k - 1.0).abs()).fold(0.0, f64::max);
        all.push((cells, mean, most));
    }
    assert!(all.iter().all(|(_, mean, most)| (mean - 1.0).abs() < 0.005 && *most < 0.015), "{all:?}");
    Ok(())
}

/// The block squeezed and moving, at one time in steps of `dt`: where it is, and how that depends on the stiffnesses.
fn in_steps_of(dt: f64) -> Result<[Vec<f64>; 2]> {
    let body = block(2).build()?;
    let mut params = Params::<f64>::uniform(&device(), MU, LAMBDA, 1e3, [0.0, 0.0, -9.81])?;
    params.mu = device().full(body.cells(), MU)?.requires_grad();
    params.damping = device().array(&[2.0])?;
    let state = displaced(&body, |[x, y, _]| [-0.1 * x + 0.05 * y, 0.02 * x, 0.0], |[x, y, _]| [-y, x, 0.2])?;
    let (tape, end) = Tape::record_value(|| {
        Model::new(&device(), &body, Law::NeoHookean, dt, &[])?.solver(&params, &state)?.advance_with(
            &state,
            Span::until(0, 0.0, 0.02, dt)?,
            |_, _| Ok(Default::default()),
            Schedule::StoreAll,
        )
    })?;
    let seed: Vec<_> = (0..end.len()).map(|k| Vec3::new((k as f64).sin(), (2.0 * k as f64).cos(), 0.3)).collect();
    tape.backward_from(&[(end.x.as_any(), device().array(&seed)?.as_any())])?;
    Ok([end.x.to_vec()?.iter().flat_map(|x| x.to_array()).collect(), params.mu.grad()?.to_vec()?])
}

#[test]
fn states_and_gradients_are_of_second_order_in_the_step() -> Result<()> {
    let runs = [1.0, 0.5, 0.25].map(|f| in_steps_of(5e-4 * f));
    let [a, b, c] = runs;
    let (a, b, c) = (a?, b?, c?);
    let apart = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
    let order = [0, 1].map(|k| (apart(&a[k], &b[k]) / apart(&b[k], &c[k])).log2());
    assert!(order.iter().all(|o| (o - 2.0).abs() < 0.1), "{order:?}");
    Ok(())
}

/// A turning block that falls on a rough floor, after 60 steps.
fn fallen<F: Float>() -> Result<Vec<f64>> {
    let pose = Pose { rotation: [0.4, 0.3, 0.0], translation: [0.0, 0.0, 0.075] };
    let body = Body { pose, corner: Some([0.011, 0.003, -0.007]), ..block(4) }.build()?;
    let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], floor(MU, LAMBDA, 0.025)).with_friction(0.3);
    let mut params = Params::<F>::uniform(&device(), MU, LAMBDA, 1e3, [0.0, 0.0, -9.81])?;
    params.viscosity = Some(device().array(&[F::from_f64(2.0)])?);
    let state = body.state::<F>(&device(), [0.3, 0.0, -1.0], [0.0, 2.0, 1.0])?;
    let model = Model::new(&device(), &body, Law::NeoHookean, 3e-4, &[floor])?;
    let end = model.solver(&params, &state)?.advance(&state, 0, 60, Schedule::Auto)?;
    let seen = Skin::new(&device(), &body)?.carried(&end.x)?.to_vec()?;
    Ok(seen.iter().flat_map(|x| x.to_array().map(F::to_f64)).collect())
}

/// The two run by other bodies of the kernels: on packs of lanes, and one position at a time.
#[test]
fn single_precision_follows_double() -> Result<()> {
    let (single, double) = (fallen::<f32>()?, fallen::<f64>()?);
    let apart = single.iter().zip(&double).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-6, "{apart} m");
    Ok(())
}
