//! To start from: a kernel, a rollout of it, and gradient descent that finds its parameter from what was measured.

use diffkern::prelude::*;
use diffkern::{reduce, rollout_with};

const N: usize = 100;
const STEPS: usize = 50;
const DT: f32 = 0.02;

/// One step of exponential decay.
#[diff_kernel]
fn decay<F: Float>(x: &Array<F>, rate: &Array<F>, next: &mut Array<F>, dt: F) {
    next[ABSOLUTE_POS] = x[ABSOLUTE_POS] * (1.0 - rate[0] * dt);
}

#[diff_kernel]
fn difference<F: Float>(x: &Array<F>, y: &Array<F>, d: &mut Array<F>) {
    d[ABSOLUTE_POS] = x[ABSOLUTE_POS] - y[ABSOLUTE_POS];
}

fn simulate(start: &Array<f32>, rate: &Array<f32>) -> Result<Array<f32>> {
    rollout_with(STEPS, Schedule::Auto, start.clone(), rate, |rate, x, _| {
        let next = x.device().uninit(N)?;
        decay(N, x, rate, &next, DT)?;
        Ok(next)
    })
}

fn main() -> Result<()> {
    let dev = Device::best();
    let start = dev.full(N, 1.0)?;
    let measured = simulate(&start, &dev.array(&[0.7])?)?;

    let mut rate = 0.1;
    for round in 0..20 {
        let guess = dev.array(&[rate])?.requires_grad();
        let (tape, loss) = Tape::record_value(|| {
            let d = dev.uninit(N)?;
            difference(N, &simulate(&start, &guess)?, &measured, &d)?;
            reduce::dot(&d, &d)
        })?;
        tape.backward(&loss)?;
        println!("round {round:2}: rate {rate:.4}, loss {:.2e}", loss.to_vec()?[0]);
        rate -= 0.01 * guess.grad()?.to_vec()?[0];
    }
    assert!((rate - 0.7).abs() < 1e-3, "{rate}");
    Ok(())
}
