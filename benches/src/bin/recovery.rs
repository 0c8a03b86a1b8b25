//! How well `identify` recovers materials from videos that diffkern itself made.
//!
//! Every video has its own random block, speeds, density, ranges and material. One line of JSON for each, one with the
//! summary; exit code 1 when the errors (without noise) or the intervals (with noise) are not what they should be.

use anyhow::{Context, Result};
use clap::Parser;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use train::experiment::{Identify, Prepared, Simulate, Simulation};
use train::job::{Flow, Outcome, Stop, Values};
use train::scene::Name;
use train::video::Bits;

/// Bounds of the relative errors without noise: of the median and of the worst.
const MEDIAN: f64 = 1e-4;
const WORST: f64 = 1e-3;
/// Part of the 95 % intervals that have to hold the truth with noise.
const HELD: f64 = 0.85;

#[derive(Parser)]
#[command(version, about = "How well materials are recovered from videos that diffkern itself made")]
struct Args {
    /// Number of videos.
    #[arg(long, default_value_t = 20)]
    materials: usize,
    /// Seed of the first; the next has the next.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Standard deviation of noise on every pixel, as a part of white; with any, frames have 8 bits instead of 16.
    #[arg(long, default_value_t = 0.0)]
    noise: f64,
    /// Scene whose camera, light and floor are used.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../train/samples/jelly_drop_a"))]
    scene: PathBuf,
    /// Folder for videos and results.
    #[arg(long, default_value = "out/recovery")]
    out: PathBuf,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let mut errors: BTreeMap<Name, Vec<f64>> = BTreeMap::new();
    let mut held: BTreeMap<Name, usize> = BTreeMap::new();
    for seed in (args.seed..).take(args.materials) {
        let (truth, outcome, seconds) = one(&args, seed).with_context(|| format!("seed {seed}"))?;
        let mut line =
            json!({ "seed": seed, "loss": outcome.loss, "iterations": outcome.iterations, "seconds": seconds });
        for parameter in &outcome.parameters {
            let true_value = truth[&parameter.name];
            let error = (parameter.found / true_value - 1.0).abs();
            let holds = parameter.interval.is_some_and(|(low, high)| (low..=high).contains(&true_value));
            line[parameter.name.to_string()] = json!({
                "truth": true_value, "found": parameter.found, "error": error, "interval": parameter.interval,
                "interval_holds": holds,
            });
            errors.entry(parameter.name.clone()).or_default().push(error);
            *held.entry(parameter.name.clone()).or_default() += usize::from(holds);
        }
        println!("{line}");
    }
    let mut good = true;
    let mut summary = json!({ "materials": args.materials, "first_seed": args.seed, "noise": args.noise });
    for (name, errors) in &mut errors {
        errors.sort_by(f64::total_cmp);
        let (median, worst) =
            (0.5 * (errors[(errors.len() - 1) / 2] + errors[errors.len() / 2]), errors[errors.len() - 1]);
        let holding = held[name];
        summary[name.to_string()] =
            json!({ "median_error": median, "worst_error": worst, "intervals_holding": holding });
        good &= match args.noise > 0.0 {
            true => holding as f64 >= HELD * errors.len() as f64,
            false => median <= MEDIAN && worst <= WORST,
        };
    }
    summary["ok"] = good.into();
    println!("{summary}");
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Makes the video of a seed and identifies it: the truth, what was found, the time it took.
fn one(args: &Args, seed: u64) -> Result<(Values, Outcome, f64)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let folder = args.out.join(format!("seed_{seed}"));
    let (scene, truth) = random_scene(&args.scene, &mut random)?;
    let source = folder.join("scene");
    std::fs::create_dir_all(&source)?;
    std::fs::write(source.join("scene.json"), format!("{scene:#}"))?;
    let video = folder.join("video");
    let simulate = Simulate {
        out: Some(video.clone()),
        set: truth.clone().into_iter().collect(),
        bits: if args.noise > 0.0 { Bits::Eight } else { Bits::Sixteen },
        noise: args.noise,
        seed,
        ..Simulate::new(source)
    };
    Simulation::replacing(&simulate)?.run(&mut |_| Flow::Continue, &Stop::default())?;
    let found = folder.join("found");
    if found.exists() {
        std::fs::remove_dir_all(&found)?;
    }
    let prepared = Prepared::new(&Identify { out: Some(found), ..Identify::new(video) })?;
    let finished = prepared.run(&mut |_, _| Flow::Continue, &Stop::default())?;
    Ok((truth, finished.outcome, finished.seconds))
}

/// The scene with another block, other speeds and other ranges, and a material within them.
fn random_scene(folder: &Path, random: &mut fastrand::Rng) -> Result<(Value, Values)> {
    let file = folder.join("scene.json");
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut scene: Value = serde_json::from_str(&text).with_context(|| format!("cannot parse {}", file.display()))?;
    let mut between = |low: f64, high: f64| low + (high - low) * random.f64();
    let sides = [between(0.16, 0.24), between(0.15, 0.22), between(0.14, 0.2)];
    let min = [between(-0.24, -0.14), between(-0.14, -0.06), between(0.005, 0.02)];
    let max = [0, 1, 2].map(|a| min[a] + sides[a]);
    let (young, poisson) = ((between(8e3f64.ln(), 5e4f64.ln())).exp(), between(0.15, 0.42));
    let mu = young / (2.0 * (1.0 + poisson));
    let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    scene["name"] = "recovery".into();
    scene["object"]["block_min"] = json!(min);
    scene["object"]["block_max"] = json!(max);
    scene["object"]["density"] = between(600.0, 1500.0).into();
    scene["object"]["initial_velocity"] = json!([between(-0.5, 0.5), between(-0.5, 0.5), between(-1.6, -0.8)]);
    scene["object"]["initial_angular_velocity"] = json!([between(-2.0, 2.0), between(-2.0, 2.0), between(-2.0, 2.0)]);
    scene["frame_rate"] = 40.into();
    scene["num_frames"] = 9.into();
    scene["duration"] = (9.0 / 40.0).into();
    scene["unknowns"]["mu"]["range"] = json!([mu / between(2.0, 4.0), mu * between(1.5, 3.0)]);
    scene["unknowns"]["lambda"]["range"] = json!([lambda / between(2.0, 4.0), lambda * between(1.5, 3.0)]);
    Ok((scene, Values::from([(Name::MU, mu), (Name::LAMBDA, lambda)])))
}
