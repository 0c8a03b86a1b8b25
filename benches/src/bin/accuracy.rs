//! How near `identify` comes to the truth on videos that others made, from three starts.
//!
//! One line of JSON for each start: relative errors of the start and of the answer. Exit code 1 when the answers of the
//! starts are further apart than 2 %, or the truth is not known.

use anyhow::{Context, Result};
use clap::Parser;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use train::experiment::{Identify, Prepared};
use train::job::{Flow, Stop, Values};
use train::scene::{Name, Scene};

/// How far apart the answers of the starts may be.
const APART: f64 = 0.02;

#[derive(Parser)]
#[command(version, about = "How near identify comes to the truth, from both corners of the ranges and a random point")]
struct Args {
    /// Folders of videos, each with a truth.json.
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// Seed of the random start.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder for results.
    #[arg(long, default_value = "out/accuracy")]
    out: PathBuf,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let mut agree = true;
    for folder in &args.folders {
        let scene = Scene::read(folder)?;
        let truth = truth(folder)?;
        let mut answers: Vec<Values> = Vec::new();
        for (start, values) in starts(&scene, args.seed) {
            let out = args.out.join(&scene.name).join(start);
            if out.exists() {
                std::fs::remove_dir_all(&out)?;
            }
            let from = values.clone().into_iter().collect();
            let job = Identify { out: Some(out), start: from, ..Identify::new(folder.clone()) };
            let done = Prepared::new(&job)?.run(&mut |_, _| Flow::Continue, &Stop::default())?;
            let found: Values = done.outcome.parameters.iter().map(|p| (p.name.clone(), p.found)).collect();
            let interval =
                |name: Name| done.outcome.parameters.iter().find(|p| p.name == name).and_then(|p| p.interval);
            let line = json!({
                "scene": scene.name, "start": start,
                "start_error": errors(&values, &truth), "error": errors(&found, &truth), "found": found,
                "interval_lambda": interval(Name::LAMBDA), "iou": done.outcome.iou, "loss": done.outcome.loss,
                "viscosity": done.outcome.viscosity, "iterations": done.outcome.iterations, "seconds": done.seconds,
            });
            println!("{line}");
            answers.push(found);
        }
        let apart = apart(&answers);
        agree &= apart <= APART;
        println!("{}", json!({ "scene": scene.name, "starts_apart": apart }));
    }
    Ok(if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn truth(folder: &Path) -> Result<Values> {
    let file = folder.join("truth.json");
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    let value: Value = serde_json::from_str(&text).with_context(|| format!("cannot parse {}", file.display()))?;
    serde_json::from_value(value["parameters"].clone()).with_context(|| format!("{}: parameters", file.display()))
}

/// Both corners of the ranges and a random point, even in the logarithms.
fn starts(scene: &Scene, seed: u64) -> [(&'static str, Values); 3] {
    let mut random = fastrand::Rng::with_seed(seed);
    let at = |share: &mut dyn FnMut() -> f64| -> Values {
        scene.unknowns.iter().map(|r| (r.name.clone(), r.min * (r.max / r.min).powf(share()))).collect()
    };
    // Not quite the corners: powers of the ranges must not round to outside of them.
    let edge = 1e-9;
    [("low", at(&mut || edge)), ("high", at(&mut || 1.0 - edge)), ("random", at(&mut || random.f64()))]
}

/// Relative errors of the parameters and of Young's modulus.
fn errors(values: &Values, truth: &Values) -> Value {
    let mut errors: serde_json::Map<String, Value> =
        values.iter().map(|(name, v)| (name.to_string(), (v / truth[name] - 1.0).into())).collect();
    errors.insert("E".into(), (young(values) / young(truth) - 1.0).into());
    errors.into()
}

fn young(values: &Values) -> f64 {
    let (mu, lambda) = (values[&Name::MU], values[&Name::LAMBDA]);
    mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu)
}

/// Largest relative difference between two answers, over `mu` and Young's modulus.
fn apart(answers: &[Values]) -> f64 {
    let spread = |of: &dyn Fn(&Values) -> f64| {
        let each = answers.iter().map(of);
        each.clone().fold(0.0, f64::max) / each.fold(f64::INFINITY, f64::min) - 1.0
    };
    spread(&|v| v[&Name::MU]).max(spread(&young))
}
