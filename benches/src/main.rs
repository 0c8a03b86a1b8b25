//! The workloads that are timed in other frameworks too: `workloads w1 --particles 8192 --grid 128 --steps 128`.
//!
//! Each prints one line of JSON: seconds of the forward run and of forward plus backward, and how far loss and
//! gradients are from reference values in f64, on the small case always and on the full case where its sizes are given.

mod args;

use std::process::ExitCode;

use anyhow::Result;
use benches::harness::{Sizes, Workload};
use benches::{boxes, golden, harness, mpm, saxpy, softras, springs, tets};
use diffkern::Device;
use diffkern::trace::ChromeTrace;

use args::{Args, Refusal, Which};

/// What the shell gets for arguments that make no sense.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let args = match Args::read(std::env::args_os()) {
        Ok(args) => args,
        Err(Refusal::Help(text)) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(Refusal::Wrong(message)) => return refuse(&message),
    };
    let (device, sizes) = match args.device().and_then(|device| Ok((device, args.sizes()?))) {
        Ok(found) => found,
        Err(message) => return refuse(&message),
    };
    match run(&args, &device, sizes) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(USAGE)
}

fn build(which: Which, device: &Device, sizes: Sizes) -> Result<Box<dyn Workload>> {
    Ok(match which {
        Which::W1 => Box::new(mpm::plane(device, sizes)?),
        Which::W2 => Box::new(mpm::space(device, sizes)?),
        Which::W3 => Box::new(springs::Springs::new(device, sizes)?),
        Which::W4 => Box::new(saxpy::Saxpy::new(device, sizes)?),
        Which::W5 => Box::new(softras::Softras::new(device, sizes)?),
        Which::W6 => Box::new(tets::Tets::new(device, sizes)?),
        Which::W7 => Box::new(boxes::Boxes::new(device, sizes)?),
    })
}

fn run(args: &Args, device: &Device, sizes: Sizes) -> Result<serde_json::Value> {
    let (id, name) = args.workload.name();
    let started = std::time::Instant::now();
    let workload = build(args.workload, device, sizes)?;
    let build_s = started.elapsed().as_secs_f64();
    let timing = harness::time(&*workload, args.reps)?;
    if let Some(path) = &args.trace {
        let trace = ChromeTrace::start(path)?;
        workload.forward_backward()?;
        trace.finish()?;
    }
    let mut line = serde_json::json!({
        "workload": name,
        "id": id,
        "peer": "diffkern",
        "version": env!("CARGO_PKG_VERSION"),
        "device": device.name(),
        "forward_s": timing.forward.wall,
        "forward_backward_s": timing.both.wall,
        "ratio": timing.both.wall / timing.forward.wall,
        "peak_rss_mb": harness::peak_rss_mb(),
        "compile_s": (build_s + timing.first - timing.forward.wall - timing.both.wall).max(0.0),
        "forward_user_cpu_s": timing.forward.cpu,
        "forward_backward_user_cpu_s": timing.both.cpu,
        "forward_min_max": timing.forward.range,
        "forward_backward_min_max": timing.both.range,
        "loss": timing.result.loss,
        "grad_norm_a": golden::norm(&timing.result.a),
        "grad_norm_b": golden::norm(&timing.result.b),
        "sizes": { "particles": sizes.particles, "grid": sizes.grid, "steps": sizes.steps },
    });
    if sizes == args.workload.full()
        && let Some(reference) = golden::full(id)?
    {
        line["full_vs_golden"] = golden::compare(&timing.result, &reference);
    }
    if !args.no_check {
        let small = build(args.workload, device, args.workload.small())?.result()?;
        line["check"] = golden::compare(&small, &golden::small(id)?);
    }
    Ok(line)
}
