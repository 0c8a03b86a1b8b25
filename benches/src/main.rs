//! The workloads that are timed in other frameworks too: `workloads w1 --particles 8192 --grid 128 --steps 128`.
//!
//! Each prints one line of JSON: median seconds of the forward run and of forward plus backward, and how far loss and
//! gradients are from reference values in f64, on the small case always and on the full case where its sizes are given.

mod golden;
mod harness;
mod mpm;
mod saxpy;
mod springs;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use diffkern::Device;

use harness::{Sizes, Workload};

/// Times a workload and checks its gradients.
#[derive(Parser)]
#[command(name = "workloads", version)]
struct Args {
    /// Which workload.
    workload: Which,
    /// Particles, points or elements; the full size if left out.
    #[arg(long)]
    particles: Option<usize>,
    /// Grid cells per axis, or points per side of the sheet.
    #[arg(long)]
    grid: Option<usize>,
    /// Time steps, or launches of the chain.
    #[arg(long)]
    steps: Option<usize>,
    /// cpu, wgpu, cuda or best.
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Timed repetitions; the median counts.
    #[arg(long, default_value_t = 5)]
    reps: usize,
    /// Leave out the check against the reference of the small case.
    #[arg(long)]
    no_check: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Which {
    /// 2D elastic block, MLS-MPM.
    W1,
    /// 3D elastic block, MLS-MPM.
    W2,
    /// A sheet of springs.
    W3,
    /// A chain of y = a y + x.
    W4,
}

impl Which {
    fn name(self) -> (&'static str, &'static str) {
        match self {
            Which::W1 => ("w1", "mpm2d"),
            Which::W2 => ("w2", "mpm3d"),
            Which::W3 => ("w3", "springs"),
            Which::W4 => ("w4", "saxpy-chain"),
        }
    }

    fn full(self) -> Sizes {
        match self {
            Which::W1 => Sizes { particles: 8192, grid: 128, steps: 128 },
            Which::W2 => Sizes { particles: 32768, grid: 64, steps: 64 },
            Which::W3 => Sizes { particles: 4096, grid: 64, steps: 256 },
            Which::W4 => Sizes { particles: 1_000_000, grid: 0, steps: 100 },
        }
    }

    fn small(self) -> Sizes {
        match self {
            Which::W1 => Sizes { particles: 512, grid: 32, steps: 64 },
            Which::W2 => Sizes { particles: 512, grid: 16, steps: 32 },
            Which::W3 => Sizes { particles: 256, grid: 16, steps: 64 },
            Which::W4 => Sizes { particles: 4096, grid: 0, steps: 20 },
        }
    }

    fn build(self, device: &Device, sizes: Sizes) -> Result<Box<dyn Workload>> {
        Ok(match self {
            Which::W1 => Box::new(mpm::plane(device, sizes)?),
            Which::W2 => Box::new(mpm::space(device, sizes)?),
            Which::W3 => Box::new(springs::Springs::new(device, sizes)?),
            Which::W4 => Box::new(saxpy::Saxpy::new(device, sizes)?),
        })
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let device = Device::by_name(&args.device).with_context(|| format!("--device {}", args.device))?;
    let (id, name) = args.workload.name();
    let full = args.workload.full();
    let sizes = Sizes {
        particles: args.particles.unwrap_or(full.particles),
        grid: args.grid.unwrap_or(full.grid),
        steps: args.steps.unwrap_or(full.steps),
    };
    let started = std::time::Instant::now();
    let workload = args.workload.build(&device, sizes)?;
    let build_s = started.elapsed().as_secs_f64();
    let timing = harness::time(&*workload, args.reps)?;
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
    if sizes == full
        && let Some(reference) = golden::full(id)?
    {
        line["full_vs_golden"] = golden::compare(&timing.result, &reference);
    }
    if !args.no_check {
        let small = args.workload.build(&device, args.workload.small())?.forward_backward()?;
        line["check"] = golden::compare(&small, &golden::small(id)?);
    }
    println!("{line}");
    Ok(())
}
