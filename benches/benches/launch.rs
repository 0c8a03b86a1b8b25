//! What do a launch, a copy and a fill of 64 elements cost beside their work, with and without a tape that records?

use std::process::ExitCode;
use std::time::{Duration, Instant};

use criterion::Criterion;
use diffkern::prelude::*;

#[diff_kernel]
fn add_product<F: Float>(a: &Array<F>, x: &Array<F>, sum: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    sum[i] += a[i] * x[i];
}

const N: usize = 64;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let device = Device::cpu();
    let (a, x) = (device.full(N, 1.5f32)?.requires_grad(), device.full(N, 0.5f32)?);
    let (sum, copy) = (device.zeros::<f32>(N)?, device.zeros::<f32>(N)?);
    let mut criterion = Criterion::default()
        .sample_size(50)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1500))
        .configure_from_args();
    let works: [(&str, &dyn Fn() -> Result<()>); 4] = [
        ("launch", &|| add_product(N, &a, &x, &sum)),
        ("copy", &|| copy.copy_from(&x)),
        ("fill", &|| copy.fill(0.25)),
        ("clear", &|| copy.fill(0.0)),
    ];
    let mut failed = Ok(());
    for (name, work) in works {
        criterion.bench_function(&format!("{name}/plain"), |bencher| {
            bencher.iter_custom(|times| timed(times, work).unwrap_or_else(|error| fail(&mut failed, error)));
        });
        criterion.bench_function(&format!("{name}/recorded"), |bencher| {
            bencher.iter_custom(|times| recorded(times, work).unwrap_or_else(|error| fail(&mut failed, error)));
        });
    }
    criterion.bench_function("launch/backward", |bencher| {
        bencher.iter_custom(|times| backward(times, works[0].1, &sum).unwrap_or_else(|error| fail(&mut failed, error)));
    });
    criterion.final_summary();
    failed
}

fn fail(failed: &mut Result<()>, error: diffkern::Error) -> Duration {
    *failed = Err(error);
    Duration::from_nanos(1)
}

fn timed(times: u64, work: &dyn Fn() -> Result<()>) -> Result<Duration> {
    let begin = Instant::now();
    (0..times).try_for_each(|_| work())?;
    Ok(begin.elapsed())
}

/// Long tapes, so that beginning one does not count; dropping them does not either.
fn tapes(times: u64, work: &dyn Fn() -> Result<()>, mut then: impl FnMut(&Tape, Duration) -> Result<()>) -> Result<()> {
    const LONG: u64 = 4096;
    let mut left = times;
    while left > 0 {
        let now = left.min(LONG);
        let mut spent = Duration::ZERO;
        let tape = Tape::record(|| {
            spent = timed(now, work)?;
            Ok(())
        })?;
        then(&tape, spent)?;
        left -= now;
    }
    Ok(())
}

fn recorded(times: u64, work: &dyn Fn() -> Result<()>) -> Result<Duration> {
    let mut total = Duration::ZERO;
    tapes(times, work, |_, spent| {
        total += spent;
        Ok(())
    })?;
    Ok(total)
}

fn backward(times: u64, work: &dyn Fn() -> Result<()>, output: &Array<f32>) -> Result<Duration> {
    let seed = output.device().full(output.len(), 1.0f32)?;
    let mut total = Duration::ZERO;
    tapes(times, work, |tape, _| {
        let begin = Instant::now();
        tape.backward_from(&[(output.as_any(), seed.as_any())])?;
        total += begin.elapsed();
        Ok(())
    })?;
    Ok(total)
}
