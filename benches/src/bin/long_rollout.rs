//! Does a long rollout fit into a budget of memory, give the same gradient, and cost what it says?
//!
//! `long_rollout --particles 8192 --steps 10000 --budget-mib 64` differentiates an MLS-MPM simulation in three dimensions
//! within the budget, then with every step's tape kept, and prints one line of JSON. Exit code 1 when a claim does not
//! hold:
//! - `within_budget`: the most bytes that the tape kept, adjoints included, are at most the budget;
//! - `same_bits`: loss and gradients of the two are the same to the bit;
//! - `factor_as_predicted`: the steps run are those that the report announced;
//! - `time_as_implied`: the time is at most 1.1 times what the recomputed steps imply. With `F` the time of the forward
//!   run, `R` and `B` those of recording and of `backward` when everything is kept, and `k` steps run per step, it should
//!   take `(k - 1) F + R + B`, which over `R + B` is the implied ratio.

use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use benches::harness::{self, Spent};
use benches::long::{Bounce, Differentiated};
use clap::{Parser, ValueEnum};
use diffkern::{Device, Schedule};
use serde_json::{Value, json};

/// What the time may exceed the implied one by.
const SLACK: f64 = 1.1;

/// Differentiates a long rollout within a budget of memory.
#[derive(Parser)]
#[command(name = "long_rollout", version)]
struct Args {
    /// Particles of the block.
    #[arg(long, default_value_t = 8192)]
    particles: usize,
    /// Steps of the simulation.
    #[arg(long, default_value_t = 10_000)]
    steps: usize,
    /// Memory of the tape in MiB.
    #[arg(long, default_value_t = 64.0)]
    budget_mib: f64,
    /// Which time is held to the claim; both are printed. The user CPU time is disturbed less by other processes.
    #[arg(long, value_enum, default_value_t = Clock::Wall)]
    clock: Clock,
}

#[derive(Clone, Copy, ValueEnum)]
enum Clock {
    Wall,
    Cpu,
}

impl Clock {
    fn of(self, spent: Spent) -> f64 {
        match self {
            Clock::Wall => spent.wall,
            Clock::Cpu => spent.cpu,
        }
    }
}

/// Measured times of one clock, and what they should be.
struct Ratio {
    measured: f64,
    implied: f64,
}

impl Ratio {
    fn new(clock: Clock, forward: Spent, within: &Differentiated, all: &Differentiated, factor: f64) -> Ratio {
        let both = |run: &Differentiated| clock.of(run.record) + clock.of(run.backward);
        let recomputed = (factor - 1.0) * clock.of(forward);
        Ratio { measured: both(within) / both(all), implied: 1.0 + recomputed / both(all) }
    }

    fn holds(&self) -> bool {
        self.measured <= SLACK * self.implied
    }

    fn json(&self) -> Value {
        json!({ "measured": self.measured, "implied": self.implied, "over": self.measured / self.implied })
    }
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let budget = (args.budget_mib * 1_048_576.0) as usize;
    let bounce = Bounce::new(&Device::cpu(), args.particles, args.steps)?;
    // First what needs little memory, since the peak of a process never falls.
    let before = bounce.forward()?;
    let rss_forward = harness::peak_rss_mb();
    let within = bounce.differentiate(Schedule::Budget(budget))?;
    let rss_within = harness::peak_rss_mb();
    let after = bounce.forward()?;
    let forward = Spent { wall: 0.5 * (before.wall + after.wall), cpu: 0.5 * (before.cpu + after.cpu) };
    expect_memory(bounce.bytes_of_all()?)?;
    let all = bounce.differentiate(Schedule::StoreAll)?;

    let rollout = within.report.rollouts.first().context("no rollout on the tape")?;
    let [wall, cpu] = [Clock::Wall, Clock::Cpu].map(|c| Ratio::new(c, forward, &within, &all, rollout.measured_factor));
    let claims = [
        ("within_budget", within.report.peak_bytes <= budget),
        ("same_bits", within.bits == all.bits),
        ("factor_as_predicted", rollout.predicted_factor == rollout.measured_factor),
        ("time_as_implied", if let Clock::Wall = args.clock { wall.holds() } else { cpu.holds() }),
    ];
    let line = json!({
        "workload": "long_rollout",
        "version": env!("CARGO_PKG_VERSION"),
        "particles": args.particles,
        "steps": args.steps,
        "budget_mib": args.budget_mib,
        "schedule": rollout.schedule,
        "state_mib": mib(rollout.state_bytes),
        "predicted_mib": rollout.predicted_bytes.map(mib),
        "tape_peak_mib": mib(within.report.peak_bytes),
        "tape_peak_all_kept_mib": mib(all.report.peak_bytes),
        "peak_rss_mib": { "forward": rss_forward, "within_budget": rss_within, "all_kept": harness::peak_rss_mb() },
        "recompute_factor": { "predicted": rollout.predicted_factor, "measured": rollout.measured_factor },
        "seconds": {
            "forward": [before, after],
            "within_budget": { "record": within.record, "backward": within.backward },
            "all_kept": { "record": all.record, "backward": all.backward },
        },
        "time_ratio": { "wall": wall.json(), "cpu": cpu.json() },
        "loss": f32::from_bits(all.bits.loss),
        "gradient_norm": benches::golden::norm(&all.bits.gradient.iter().map(|&g| f32::from_bits(g).into()).collect::<Vec<_>>()),
        "claims": claims.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
    });
    println!("{line}");
    Ok(if claims.iter().all(|claim| claim.1) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn mib(bytes: usize) -> f64 {
    bytes as f64 / 1_048_576.0
}

/// Refuses what the machine would have to swap for.
fn expect_memory(bytes: usize) -> Result<()> {
    let available = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
        line.split_whitespace().nth(1)?.parse::<usize>().ok()
    });
    let Some(available) = available.map(|kib| 1024 * kib) else { return Ok(()) };
    ensure!(
        bytes <= available,
        "the rollout to compare with keeps every tape, {:.0} MiB, and {:.0} MiB are available: take fewer steps",
        mib(bytes),
        mib(available)
    );
    Ok(())
}
