//! What sums with the same bits in each run cost: `cargo run --release -p diffkern --features wgpu --example ordered_sums`.
//!
//! Positions add to elements of a grid, 8 each, as particles do; and the adjoint of a gather does the same. Times are those
//! of the fastest of some runs, the device waited for.

use std::time::{Duration, Instant};

use diffkern::prelude::*;

#[diff_kernel]
fn scatter<F: Float>(x: &Array<F>, at: &Array<u32>, grid: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let first = at[i] as usize;
    for k in 0..8 {
        grid[first + k] += x[i] * F::cast_from(k as u32);
    }
}

#[diff_kernel]
fn gather<F: Float>(grid: &Array<F>, at: &Array<u32>, y: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    let first = at[i] as usize;
    let mut sum = F::new(0.0);
    for k in 0..8 {
        sum += grid[first + k] * grid[first + k];
    }
    y[i] = sum;
}

/// The fastest of some runs.
fn fastest(dev: &Device, mut run: impl FnMut() -> Result<Array<f32>>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..7 {
        dev.zeros::<f32>(1)?.to_vec()?;
        let begun = Instant::now();
        let done = run()?;
        done.slice(..1)?.to_vec()?;
        best = best.min(begun.elapsed());
    }
    Ok(best)
}

fn main() -> Result<()> {
    for name in ["wgpu", "cuda"] {
        let Ok(dev) = Device::by_name(name) else { continue };
        for (positions, elements) in
            [(1_000, 1_000), (30_000, 1_000), (30_000, 30_000), (30_000, 300_000), (300_000, 300_000)]
        {
            let at: Vec<u32> = (0..positions).map(|k| (k * 7919 % (elements - 8)) as u32).collect();
            let (at, x) = (dev.array(&at)?, dev.full(positions, 0.5f32)?);
            let grid = dev.full(elements, 0.25f32)?.requires_grad();
            let (y, seed) = (dev.uninit(positions)?, dev.full(positions, 1.0f32)?);
            let mut times = Vec::new();
            for ordered in [false, true] {
                dev.set_deterministic(ordered);
                let sum = dev.zeros(elements)?;
                let forward = fastest(&dev, || scatter(positions, &x, &at, &sum).map(|()| sum.clone()))?;
                let tape = Tape::record(|| gather(positions, &grid, &at, &y))?;
                let backward = fastest(&dev, || {
                    grid.zero_grad();
                    tape.backward_from(&[(y.as_any(), seed.as_any())])?;
                    grid.grad()
                })?;
                times.push((forward, backward));
            }
            dev.set_deterministic(false);
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            println!(
                "{name}: {positions:>7} positions, {elements:>7} elements: scatter {:.2} ms atomic, {:.2} ms ordered; \
                 adjoint of gather {:.2} ms, {:.2} ms",
                ms(times[0].0),
                ms(times[1].0),
                ms(times[0].1),
                ms(times[1].1)
            );
        }
    }
    Ok(())
}
