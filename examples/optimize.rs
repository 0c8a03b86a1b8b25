//! Which heat sources explain the temperatures that were measured along a rod? 400 unknowns by L-BFGS, on any device.
//!
//! `cargo run --release -p examples --example optimize`

use diffkern::prelude::*;
use diffkern::{arith, reduce};
use diffkern_optim::{Arrays, Ended, Lbfgs, Stop, Taped, minimise};

const N: usize = 400;

/// One step of diffusion, with the ends at 0.
#[diff_kernel]
fn spread<F: Float>(t: &Array<F>, source: &Array<F>, next: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let left = if i > 0 { t[i - 1] } else { F::new(0.0) };
    let right = if i + 1 < t.len() { t[i + 1] } else { F::new(0.0) };
    next[i] = t[i] + 0.4 * (left - 2.0 * t[i] + right) + source[i];
}

fn temperatures(source: &Array<f32>) -> Result<Array<f32>> {
    let mut t = source.device().zeros(N)?;
    for _ in 0..20 {
        let next = source.device().uninit(N)?;
        spread(N, &t, source, &next)?;
        t = next;
    }
    Ok(t)
}

fn main() -> Result<()> {
    let dev = Device::best();
    let truth: Vec<f32> = (0..N).map(|i| if (100..140).contains(&i) || i == 300 { 1.0 } else { 0.0 }).collect();
    let seen = temperatures(&dev.array(&truth)?)?;
    let mut sources: Arrays<f32> = vec![dev.zeros(N)?];
    // The misfit, and a little of the sources' squares: what the temperatures do not show stays small. No kernel for either.
    let mut loss = Taped::new(|sources: &[Array<f32>]| {
        let misfit = reduce::squared_norm(&arith::sub(&temperatures(&sources[0])?, &seen)?)?;
        arith::scaled_sum(&[(0.5, &misfit), (0.1, &reduce::squared_norm(&sources[0])?)])
    });
    let found = minimise(&mut Lbfgs::new(10), &mut loss, &mut sources, &Stop { gradient: 0.02, steps: 200 })?;
    let apart = reduce::squared_norm(&arith::sub(&sources[0], &dev.array(&truth)?)?)?.to_vec()?[0].sqrt();
    println!("loss {:.2e} after {} evaluations; sources off by {apart:.2} of 6.4", found.value, found.evaluations);
    assert!(found.ended == Ended::Converged && apart < 1.0, "{found:?}");
    Ok(())
}
