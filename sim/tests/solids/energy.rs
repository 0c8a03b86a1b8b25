//! What a run keeps of its energy, and how fast it comes to the motion.

use super::*;
use diffkern_sim::Model as _;
use diffkern_sim::contact::{Collider, Contact};
use diffkern_sim::fem::lattice::contact_stiffness;
use diffkern_sim::mesh::Pose;
use diffkern_sim::shape::{Cuboid, Primitive};

const MU: f64 = 2e4;
const LAMBDA: f64 = 3e4;

fn block(cells: usize) -> Body {
    Body::new(Primitive::Cuboid(Cuboid { sides: [0.1; 3] }), 0.1 / cells as f64)
}

#[test]
fn ten_seconds_of_free_vibration_keep_their_energy() -> Result<()> {
    let body = block(3).build()?;
    let params = Params::uniform(&device(), MU, LAMBDA, 1e3, [0.0; 3])?;
    // Squeezed by 3 %, sheared and turning.
    let u = |[x, y, z]: [f64; 3]| [-0.03 * x + 0.02 * y, 0.02 * x, 0.03 * z + 1.0 * x * y];
    let v = |[x, y, z]: [f64; 3]| [0.3 - y, x - 0.5 * z, 0.5 * y];
    let state = displaced(&body, u, v)?;
    for law in Law::ALL {
        let model = Model::new(&device(), &body, law, 1.0, &[])?;
        let dt = model.max_dt(&params, &state)?;
        let solver = model.with_dt(dt)?.solver(&params, &state)?;
        let (mut now, mut means, mut steps) = (state.clone(), Vec::new(), 0);
        let second = (1.0 / dt).ceil() as usize;
        for _ in 0..10 {
            // The mean over some steps of each second: what remains is drift.
            let mut sum = 0.0;
            for _ in 0..10 {
                now = solver.advance(&now, steps, second / 10, Schedule::StoreAll)?;
                steps += second / 10;
                sum += solver.energy(&now)?.total() / 10.0;
            }
            means.push(sum);
        }
        let drift = means.iter().map(|e| (e / means[0] - 1.0).abs()).fold(0.0, f64::max);
        println!("{law:?}: {steps} steps of {dt:.2e} s, drift {drift:.2e}, {means:?}");
        assert!(drift < 1e-3, "{law:?}: {means:?}");
    }
    Ok(())
}

#[test]
fn bounces() -> Result<()> {
    for (cells, factor) in [(4, 1.0), (4, 4.0), (8, 1.0), (8, 4.0)] {
        let h = 0.1 / cells as f64;
        let stiffness = factor * contact_stiffness(MU, LAMBDA, h);
        let body = Body { pose: Pose::at([0.0, 0.0, 0.0501]), ..block(cells) }.build()?;
        let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], Contact::Penalty { stiffness });
        let params = Params::uniform(&device(), MU, LAMBDA, 1e3, [0.0; 3])?;
        let state = body.state(&device(), [0.0, 0.0, -1.0], [0.0; 3])?;
        let model = Model::new(&device(), &body, Law::NeoHookean, 1.0, &[floor])?;
        let dt = model.max_dt(&params, &state)?;
        let solver = model.with_dt(dt)?.solver(&params, &state)?;
        let start = solver.energy(&state)?;
        let mut now = state.clone();
        let mut left = 0.0;
        let mut low: f64 = 1.0;
        for k in 0..(0.08 / dt) as usize {
            now = solver.advance(&now, k, 1, Schedule::StoreAll)?;
            let bottom = now.x.to_vec()?.iter().map(|x| x.z).fold(1.0, f64::min) + 0.5 * h;
            low = low.min(bottom);
            if bottom < 0.0 { left = k as f64 * dt; }
        }
        let end = solver.energy(&now)?;
        let rebound = now.v.to_vec()?.iter().map(|v| v.z).sum::<f64>() / now.len() as f64;
        println!("bounce {cells} x{factor}: dt {dt:.2e} dt c/h {:.3} contact until {left:.5} s, depth {low:.5}, energy {:.5}, elastic part {:.4}, rebound {rebound:.3}",
            dt * 8.37 / h, end.total() / start.total(), end.elastic / end.total());
    }
    Ok(())
}
