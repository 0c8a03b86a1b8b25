//! What does each kernel of `sim` and `render` cost, forward and adjoint, and how exact is its gradient?
//!
//! Times are those of a launch through the tape: the adjoint's include clearing and adding up the gradients. Beside each
//! stands the error of its gradient, in f64 on small inputs.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use benches::kernels::{Case, Kernel, all, declared};
use criterion::{Bencher, Criterion, Throughput};
use diffkern::Device;

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
    every_kernel_is_here()?;
    // Some fifty benches in all, to be done in a few minutes.
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(400))
        .measurement_time(Duration::from_millis(1500))
        .configure_from_args();
    let device = Device::cpu();
    for kernel in all() {
        time(&mut criterion, &device, kernel).with_context(|| format!("kernel {}", kernel.name))?;
    }
    criterion.final_summary();
    Ok(())
}

/// A kernel that is not timed here is a mistake.
fn every_kernel_is_here() -> Result<()> {
    let timed: BTreeSet<_> = all().iter().map(|k| k.name.to_owned()).collect();
    let declared: BTreeSet<_> = declared()?.into_iter().collect();
    if timed != declared {
        let (missing, unknown): (Vec<_>, Vec<_>) =
            (declared.difference(&timed).collect(), timed.difference(&declared).collect());
        bail!("add to `benches/src/kernels`: {missing:?}; take out of it: {unknown:?}");
    }
    Ok(())
}

fn time(criterion: &mut Criterion, device: &Device, kernel: Kernel) -> Result<()> {
    let case = (kernel.case)(device)?;
    let mut group = criterion.benchmark_group(kernel.name);
    if case.elements > 1 {
        group.throughput(Throughput::Elements(case.elements as u64));
    }
    // `None` unless the command line asks for it.
    let (mut forwards, mut adjoints) = (None, None);
    group.bench_function("forward", |bencher| forwards = Some(forward(bencher, &case)));
    if kernel.check.is_some() {
        group.bench_function("adjoint", |bencher| adjoints = Some(adjoint(bencher, &case)));
    }
    group.finish();
    let timed = forwards.transpose()?.or(adjoints.transpose()?).is_some();
    if let Some(check) = kernel.check.filter(|_| timed) {
        let report = check(device)?;
        println!("{} on {} {}, gradient in f64: {report}\n", kernel.name, case.elements, case.unit);
    }
    Ok(())
}

fn forward(bencher: &mut Bencher, case: &Case) -> diffkern::Result<()> {
    let mut outcome = Ok(());
    bencher.iter(|| outcome = case.forward());
    outcome
}

fn adjoint(bencher: &mut Bencher, case: &Case) -> diffkern::Result<()> {
    let tape = case.record()?;
    let mut outcome = Ok(());
    bencher.iter(|| outcome = case.backward(&tape));
    outcome
}
