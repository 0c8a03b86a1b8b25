//! How does diffkern compare with another program on the same workload, run in turn on the same machine?
//!
//! Round by round `workloads wN` and the other's script run one after the other; each prints a line of JSON. Printed are
//! medians over the rounds and their ratios: wall time, user CPU time, peak memory.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use clap::Parser;
use serde_json::Value;

#[derive(Parser)]
#[command(version, about = "Compares diffkern with another program, run in turn")]
struct Args {
    /// Workloads, w1 to w5.
    #[arg(default_values_t = ["w1", "w2", "w3", "w4", "w5"].map(String::from))]
    workloads: Vec<String>,
    /// Folder of the others' scripts, named as w1_cpp.py.
    #[arg(long)]
    scripts: PathBuf,
    /// What runs the scripts.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// The other program: the part of the script's name after the workload.
    #[arg(long, default_value = "cpp")]
    peer: String,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Timed repetitions in a round.
    #[arg(long, default_value_t = 5)]
    reps: usize,
    /// Keep one core busy meanwhile.
    #[arg(long)]
    burn: bool,
    /// Other sizes for both: --particles N --grid N --steps N, after `--`.
    #[arg(last = true)]
    sizes: Vec<String>,
}

/// What is compared: the key in the line, its unit, and the factor to that unit.
const MEASURES: [(&str, &str, f64); 5] = [
    ("forward_s", "ms wall, forward", 1e3),
    ("forward_backward_s", "ms wall, forward + backward", 1e3),
    ("forward_user_cpu_s", "ms user CPU, forward", 1e3),
    ("forward_backward_user_cpu_s", "ms user CPU, forward + backward", 1e3),
    ("peak_rss_mb", "MB peak resident", 1.0),
];

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let ours = std::env::current_exe()?.with_file_name("workloads");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        if args.burn {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let result = args.workloads.iter().try_for_each(|workload| compare(&args, workload, &ours));
        done.store(true, Ordering::Relaxed);
        result
    })?;
    Ok(ExitCode::SUCCESS)
}

fn compare(args: &Args, workload: &str, ours: &PathBuf) -> Result<()> {
    let script = args.scripts.join(format!("{workload}_{}.py", args.peer));
    let reps = args.reps.to_string();
    let command = |program: &PathBuf, first: &str| {
        let mut command = Command::new(program);
        command.args([first, "--reps", &reps, "--no-check"]).args(&args.sizes);
        command
    };
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for _ in 0..args.rounds.max(1) {
        here.push(line(command(ours, workload))?);
        there.push(line(command(&args.python, &script.to_string_lossy()))?);
    }
    println!("{workload}: diffkern / {}, medians of {} rounds", args.peer, here.len());
    for (key, unit, scale) in MEASURES {
        let (a, b) = (scale * median(&here, key)?, scale * median(&there, key)?);
        println!("  {a:10.1} / {b:10.1}  = {:5.2}  {unit}", a / b);
    }
    Ok(())
}

/// The last line that a program prints, as JSON.
fn line(mut command: Command) -> Result<Value> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    serde_json::from_str(last).with_context(|| format!("{command:?} printed {last:?}"))
}

fn median(lines: &[Value], key: &str) -> Result<f64> {
    let value = |line: &Value| line[key].as_f64().with_context(|| format!("no number `{key}` in {line}"));
    let mut values = lines.iter().map(value).collect::<Result<Vec<_>>>()?;
    values.sort_by(f64::total_cmp);
    Ok(values[values.len() / 2])
}
