//! How many intervals of `identify` hold the truth, on videos by a program that is not the one that fits.
//!
//! Each video has its own body, throw, camera, ranges and material, and 8 bits with 0 to 2 % of noise. Half of them are made by total Lagrangian MPM and
//! fitted by finite elements, half the other way round, each with twice as many cells across the thinnest side as what fits it. Rows are kept in `coverage.json` one by one: a campaign that was stopped goes on.

use anyhow::{Context, Result};
use benches::drawn::{Drawn, Kind, LAMBDA, MU, doubts, ended_early, fits, maker, median};
use clap::Parser;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use train::experiment::{Identify, Prepared};
use train::job::{Flow, Progress, Simulator, Stop};

/// What the intervals promise to hold.
const CONFIDENCE: f64 = 0.95;

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
    /// Fit the videos that an earlier campaign left in `--out`, in place of making them again: where what fits has changed alone.
    #[arg(long)]
    filmed: bool,
    /// Folder for videos and for the table, which goes on from the rows that it holds.
    #[arg(long, default_value = "out/coverage")]
    out: PathBuf,
}

/// What became of all seeds.
#[derive(Default, Serialize, Deserialize)]
struct Campaign {
    rows: Vec<Row>,
    without_video: Vec<WithoutVideo>,
}

impl Campaign {
    fn has(&self, seed: u64) -> bool {
        self.rows.iter().any(|row| row.seed == seed) || self.without_video.iter().any(|own| own.seed == seed)
    }
}

/// A scene that the other simulator could not move to its end.
#[derive(Serialize, Deserialize)]
struct WithoutVideo {
    seed: u64,
    why: String,
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
    /// Seconds of these until the answer was found; the others are for how sure it is.
    searched: f64,
    iou: Option<f64>,
    outlines: Option<f64>,
    parameters: BTreeMap<String, Fitted>,
    warnings: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Fitted {
    truth: f64,
    found: f64,
    interval: (f64, f64),
    /// By the noise of the pixels alone.
    by_noise: Option<(f64, f64)>,
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
    fn score(&self, (low, high): (f64, f64)) -> f64 {
        let (low, high, truth) = (low.ln(), high.ln(), self.truth.ln());
        (high - low) + 2.0 / (1.0 - CONFIDENCE) * ((low - truth).max(0.0) + (truth - high).max(0.0))
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    fs::create_dir_all(&args.out).with_context(|| format!("cannot make {}", args.out.display()))?;
    let file = args.out.join("coverage.json");
    let mut campaign: Campaign = match fs::read_to_string(&file) {
        Ok(text) => serde_json::from_str(&text).with_context(|| format!("cannot parse {}", file.display()))?,
        Err(_) => Campaign::default(),
    };
    for seed in (args.seed..).take(usize::try_from(args.count)?) {
        let by = fits(seed);
        if args.by.is_some_and(|only| only != by) || campaign.has(seed) {
            continue;
        }
        let folder = args.out.join(format!("seed_{seed}"));
        let drawn = Drawn::new(Kind::Thrown, seed)?;
        match drawn.video(&folder, by, args.filmed) {
            Ok(video) => campaign.rows.push(one(&folder, video, drawn, by).with_context(|| format!("seed {seed}"))?),
            Err(error) if ended_early(&folder) => {
                campaign.without_video.push(WithoutVideo { seed, why: format!("{error:#}") });
            }
            Err(error) => return Err(error.context(format!("seed {seed}"))),
        }
        campaign.rows.sort_by_key(|row| row.seed);
        campaign.without_video.sort_by_key(|own| own.seed);
        fs::write(&file, serde_json::to_string_pretty(&campaign)?)?;
        fs::write(args.out.join("coverage.md"), table(&campaign)?)?;
    }
    print!("{}", table(&campaign)?);
    Ok(())
}

/// Fits the video of a seed.
fn one(folder: &Path, video: PathBuf, drawn: Drawn, by: Simulator) -> Result<Row> {
    let found = folder.join("found");
    if found.exists() {
        fs::remove_dir_all(&found)?;
    }
    let job = Identify { out: Some(found), simulator: Some(by), ..Identify::new(video) };
    let mut searched = None;
    let mut watch = |progress: &Progress, seconds| {
        if progress.stage == "pictures" {
            searched.get_or_insert(seconds);
        }
        Flow::Continue
    };
    let finished = Prepared::new(&job)?.run(&mut watch, &Stop::default())?;
    let mut parameters = BTreeMap::new();
    for parameter in &finished.outcome.parameters {
        let name = parameter.name.to_string();
        let ends = |k: usize| drawn.scene["unknowns"][&name]["range"][k].as_f64().context("a range has two ends");
        let range = (ends(0)?, ends(1)?);
        let truth = *drawn.truth.get(&parameter.name).context("what is found was drawn")?;
        let interval = parameter.interval.unwrap_or(range);
        parameters
            .insert(name, Fitted { truth, found: parameter.found, interval, by_noise: parameter.by_noise, range });
    }
    let outcome = finished.outcome;
    Ok(Row {
        seed: drawn.seed,
        by,
        shape: drawn.shape,
        noise: drawn.noise,
        seconds: finished.seconds,
        searched: searched.unwrap_or(finished.seconds),
        iou: outcome.iou,
        outlines: outcome.outlines,
        parameters,
        warnings: outcome.warnings,
    })
}

/// How many intervals hold, with their scores and widths, for each that fits and each parameter.
fn table(Campaign { rows, without_video }: &Campaign) -> Result<String> {
    let mut text = String::from(
        "| fitted by | made by | parameter | videos | intervals that hold | mean score | of noise alone | error, median | half interval, median |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for by in [Simulator::Fem, Simulator::Mpm] {
        for name in [MU, LAMBDA] {
            let own = rows.iter().filter(|row| row.by == by);
            let own: Vec<&Fitted> = own.filter_map(|row| row.parameters.get(name)).collect();
            if own.is_empty() {
                continue;
            }
            let hold = own.iter().filter(|fitted| fitted.holds()).count();
            let score = own.iter().map(|fitted| fitted.score(fitted.interval)).sum::<f64>() / own.len() as f64;
            let noise: Vec<f64> = own.iter().filter_map(|fitted| Some(fitted.score(fitted.by_noise?))).collect();
            let noise = match noise.len() == own.len() {
                true => format!("{:.3}", noise.iter().sum::<f64>() / noise.len() as f64),
                false => String::new(),
            };
            let [error, half] = [|f: &Fitted| (f.found / f.truth - 1.0).abs(), Fitted::half]
                .map(|of| 100.0 * median(own.iter().map(|fitted| of(fitted)).collect()));
            let short = name.rsplit('.').next().unwrap_or(name);
            let (by, of, count) = (by.name(), maker(by).name(), own.len());
            writeln!(
                text,
                "| {by} | {of} | {short} | {count} | {hold} | {score:.3} | {noise} | {error:.1} % | {half:.1} % |"
            )?;
        }
    }
    let accused = rows.iter().filter(|row| row.warnings.iter().any(|warning| doubts(warning))).count();
    let after: Vec<f64> = rows.iter().map(|row| (row.seconds - row.searched) / row.searched).collect();
    if !after.is_empty() {
        let after = 100.0 * median(after);
        let (videos, without) = (rows.len(), without_video.len());
        writeln!(
            text,
            "\n{accused} of {videos} scenes were called wrong; {without} more could not be simulated. What follows a search takes {after:.0} % of its time, median."
        )?;
    }
    Ok(text)
}
