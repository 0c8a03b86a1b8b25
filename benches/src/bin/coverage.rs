//! How many intervals of `identify` hold the truth, on videos by a program that is not the one that fits.
//!
//! Each video has its own body, throw, camera, ranges and material, and 8 bits with 0 to 2 % of noise. Half of them are made by the material point method and
//! fitted by finite elements, half the other way round, each with twice as many cells across the thinnest side as what fits it. Rows are kept one by one: a campaign that was stopped goes on.

use anyhow::{Context, Result, anyhow};
use clap::Parser;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use train::experiment::{Identify, Prepared, Simulate, Simulation};
use train::identify;
use train::job::{Flow, Simulator, Stop, Values};
use train::scene::{Name, Scene};

/// What the intervals promise to hold.
const CONFIDENCE: f64 = 0.95;
const MU: &str = "bodies.jelly.material.mu";
const LAMBDA: &str = "bodies.jelly.material.lambda";

#[derive(Parser)]
#[command(version, about = "How many intervals hold the truth on videos by another program than the one that fits")]
struct Args {
    /// Number of videos.
    #[arg(long, default_value_t = 60)]
    count: u64,
    /// Seed of the first; the next has the next.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Those alone that are fitted by fem or by mpm.
    #[arg(long)]
    by: Option<Simulator>,
    /// Folder for videos, rows and the table.
    #[arg(long, default_value = "out/coverage")]
    out: PathBuf,
}

/// What became of a video.
#[derive(Serialize, Deserialize)]
struct Row {
    seed: u64,
    /// What fitted it.
    by: Simulator,
    shape: String,
    noise: f64,
    seconds: f64,
    iou: Option<f64>,
    parameters: BTreeMap<String, Fitted>,
    warnings: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Fitted {
    truth: f64,
    found: f64,
    interval: (f64, f64),
    range: (f64, f64),
}

impl Fitted {
    fn holds(&self) -> bool {
        (self.interval.0..=self.interval.1).contains(&self.truth)
    }

    /// Half of the interval as a part of the value.
    fn half(&self) -> f64 {
        0.5 * (self.interval.1 - self.interval.0) / self.found
    }

    /// The score of an interval (Gneiting and Raftery 2007), of logarithms: its width, and what the truth is beyond it times 2 / 0.05.
    fn score(&self) -> f64 {
        let (low, high, truth) = (self.interval.0.ln(), self.interval.1.ln(), self.truth.ln());
        (high - low) + 2.0 / (1.0 - CONFIDENCE) * ((low - truth).max(0.0) + (truth - high).max(0.0))
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    let mut rows = Vec::new();
    for seed in (args.seed..).take(usize::try_from(args.count)?) {
        let by = if seed % 2 == 1 { Simulator::Fem } else { Simulator::Mpm };
        if args.by.is_some_and(|only| only != by) {
            continue;
        }
        let file = args.out.join(format!("row_{seed}.json"));
        let row = match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text).with_context(|| format!("cannot parse {}", file.display()))?,
            Err(_) => {
                let row = one(&args.out, seed, by).with_context(|| format!("seed {seed}"))?;
                fs::write(&file, serde_json::to_string_pretty(&row)?)?;
                row
            }
        };
        println!("{}", serde_json::to_string(&row)?);
        rows.push(row);
        fs::write(args.out.join("coverage.json"), serde_json::to_string_pretty(&rows)?)?;
        fs::write(args.out.join("coverage.md"), table(&rows)?)?;
    }
    print!("{}", table(&rows)?);
    Ok(())
}

/// Makes the video of a seed by the other simulator, twice as fine, and fits it.
fn one(out: &Path, seed: u64, by: Simulator) -> Result<Row> {
    let mut random = fastrand::Rng::with_seed(seed);
    let folder = out.join(format!("seed_{seed}"));
    let Drawn { scene, shape, truth, noise } = drawn(&mut random)?;
    let source = folder.join("scene");
    fs::create_dir_all(&source)?;
    fs::write(source.join("scene.json"), format!("{scene:#}"))?;
    let (video, found) = (folder.join("video"), folder.join("found"));
    let maker = match by {
        Simulator::Mpm => Simulator::Fem,
        Simulator::Fem | Simulator::Rigid => Simulator::Mpm,
    };
    let cells = 2 * identify::cells(&Scene::read(&source)?, by);
    let simulate = Simulate {
        simulator: Some(maker),
        out: Some(video.clone()),
        set: truth.clone().into_iter().collect(),
        cells: Some(cells),
        noise,
        seed,
        ..Simulate::new(source)
    };
    Simulation::replacing(&simulate)?.run(&mut |_| Flow::Continue, &Stop::default())?;
    if found.exists() {
        fs::remove_dir_all(&found)?;
    }
    let job = Identify { out: Some(found), simulator: Some(by), ..Identify::new(video) };
    let finished = Prepared::new(&job)?.run(&mut |_, _| Flow::Continue, &Stop::default())?;
    let mut parameters = BTreeMap::new();
    for parameter in &finished.outcome.parameters {
        let name = parameter.name.to_string();
        let ends = |k: usize| scene["unknowns"][&name]["range"][k].as_f64().context("a range has two ends");
        let range = (ends(0)?, ends(1)?);
        let truth = *truth.get(&parameter.name).context("what is found was drawn")?;
        let interval = parameter.interval.unwrap_or(range);
        parameters.insert(name, Fitted { truth, found: parameter.found, interval, range });
    }
    let outcome = finished.outcome;
    Ok(Row {
        seed,
        by,
        shape,
        noise,
        seconds: finished.seconds,
        iou: outcome.iou,
        parameters,
        warnings: outcome.warnings,
    })
}

/// A scene with the material that its video shows.
struct Drawn {
    scene: Value,
    shape: String,
    truth: Values,
    noise: f64,
}

fn drawn(random: &mut fastrand::Rng) -> Result<Drawn> {
    let mut between = |low: f64, high: f64| low + (high - low) * random.f64();
    let ball = between(0.0, 1.0) < 0.3;
    let (shape, half_height) = match ball {
        true => {
            let radius = between(0.06, 0.09);
            (json!({"sphere": {"radius": radius}}), radius)
        }
        false => {
            let sides = [between(0.14, 0.22), between(0.14, 0.2), between(0.11, 0.15)];
            (json!({"box": {"size": sides}}), 0.5 * sides[2])
        }
    };
    let (young, poisson) = (between(6e3f64.ln(), 4e4f64.ln()).exp(), between(0.2, 0.42));
    let mu = young / (2.0 * (1.0 + poisson));
    let lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
    let turn = between(-0.6, 0.6);
    let far = between(0.95, 1.15);
    let scene = json!({
        "version": 1,
        "name": "coverage",
        "frame_rate": 40.0,
        "frames": 18,
        "gravity": [0.0, 0.0, -9.81],
        "bodies": {"jelly": {
            "shape": shape,
            "pose": {"position": [between(-0.06, -0.02), between(-0.03, 0.03), half_height + between(0.02, 0.04)]},
            "velocity": [between(0.1, 0.4), between(-0.2, 0.2), between(-1.4, -0.8)],
            "density": between(700.0, 1400.0),
            "material": {"law": "neo_hookean"},
            "albedo": [0.6, 0.6, 0.8],
        }},
        "colliders": {"floor": {"shape": {"half_space": {"normal": [0, 0, 1]}}, "contact": {"friction": 0.0}}},
        "cameras": {"main": {
            "position": [far * f64::sin(turn), -far * f64::cos(turn), between(0.2, 0.5)],
            "look_at": [0.02, 0.0, 0.08], "vertical_fov": 0.45, "width": 112, "height": 96,
        }},
        "lights": {"sun": {"direction": [0.35, -0.6, 0.75], "intensity": 0.85}},
        "unknowns": {
            MU: {"range": [mu / between(2.5, 5.0), mu * between(2.0, 4.0)]},
            LAMBDA: {"range": [lambda / between(2.5, 5.0), lambda * between(2.0, 4.0)]},
        },
    });
    let noise = [0.0, 0.01, 0.02][(3.0 * between(0.0, 1.0)) as usize % 3];
    let shape = if ball { "ball" } else { "block" }.to_owned();
    let name = |path: &str| path.parse::<Name>().map_err(|problem| anyhow!("{path}: {problem}"));
    Ok(Drawn { scene, shape, truth: Values::from([(name(MU)?, mu), (name(LAMBDA)?, lambda)]), noise })
}

/// How many intervals hold, with their scores and widths, for each that fits and each parameter.
fn table(rows: &[Row]) -> Result<String> {
    let mut text = String::from(
        "| fitted by | parameter | videos | intervals that hold | mean score | error, median | half interval, median |\n|---|---|---|---|---|---|---|\n",
    );
    for by in [Simulator::Fem, Simulator::Mpm] {
        for name in [MU, LAMBDA] {
            let own: Vec<&Fitted> =
                rows.iter().filter(|row| row.by == by).filter_map(|row| row.parameters.get(name)).collect();
            if own.is_empty() {
                continue;
            }
            let hold = own.iter().filter(|fitted| fitted.holds()).count();
            let score = own.iter().map(|fitted| fitted.score()).sum::<f64>() / own.len() as f64;
            let [error, half] = [|f: &Fitted| (f.found / f.truth - 1.0).abs(), Fitted::half]
                .map(|of| 100.0 * median(own.iter().map(|fitted| of(fitted)).collect()));
            let short = name.rsplit('.').next().unwrap_or(name);
            let (by, count) = (by.name(), own.len());
            writeln!(text, "| {by} | {short} | {count} | {hold} | {score:.3} | {error:.1} % | {half:.1} % |")?;
        }
    }
    Ok(text)
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
