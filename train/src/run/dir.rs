//! The folder of a run: what was asked, how far it is, what came out.

use super::meta::Meta;
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Identify};
use crate::files;
use crate::identify::State;
use crate::job::{GradientCheck, Progress};
use crate::scene::{from_json, read_text};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// What a run writes, in so far as a former run's would mislead.
const RESULTS: [&str; 8] = [
    "result.json",
    "checkpoint.json",
    "best.json",
    "metrics.jsonl",
    "gradient.json",
    "loss.png",
    "parameters.png",
    "comparison.gif",
];

/// A run's folder.
#[derive(Debug, Clone)]
pub struct RunDir {
    path: PathBuf,
}

/// Where a stopped run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Iterations finished.
    pub iteration: usize,
    /// Time spent so far \[s\].
    pub seconds: f64,
    /// The method's own state.
    pub state: State,
}

/// A line of `metrics.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Time since the start, without pauses \[s\].
    pub seconds: f64,
    /// What the method told.
    #[serde(flatten)]
    pub progress: Progress,
}

impl RunDir {
    /// Begins a run in `path`: shows that it can be written, records the job, and removes what a
    /// former run left there.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn begin(path: &Path, job: &Identify, meta: &Meta) -> Result<Self> {
        files::prepare_folder(path)?;
        let run = Self { path: path.into() };
        for name in RESULTS {
            let old = run.file(name);
            if old.exists() {
                fs::remove_file(&old).map_err(|e| Error::write(&old, e))?;
            }
        }
        let mut job = job.clone();
        job.folder = absolute(&job.folder)?;
        job.out = Some(absolute(path)?);
        files::write(&run.file("config.ron"), Experiment::Identify(job).to_ron()?.as_bytes())?;
        run.write_json("meta.json", meta)?;
        Ok(run)
    }

    /// Opens a run that was begun before.
    ///
    /// # Errors
    /// When `path` is not the folder of an identification, or cannot be written any more.
    pub fn open(path: &Path) -> Result<(Self, Identify, Meta)> {
        let run = Self { path: path.into() };
        let config = run.file("config.ron");
        if !config.is_file() {
            let problem = "no run to resume, expected a folder with config.ron and checkpoint.json";
            return Err(Error::file(path, problem));
        }
        let Experiment::Identify(job) = Experiment::read(&config)? else {
            return Err(Error::file(&config, "holds no identification, expected Identify(..)"));
        };
        let meta = run.file("meta.json");
        let meta = from_json(&meta, &read_text(&meta)?)?;
        files::prepare_folder(path)?;
        Ok((run, job, meta))
    }

    /// The last checkpoint; none if the run was stopped before its first.
    ///
    /// # Errors
    /// When it is there but cannot be read.
    pub fn checkpoint(&self) -> Result<Option<Checkpoint>> {
        let file = self.file("checkpoint.json");
        if !file.exists() {
            return Ok(None);
        }
        from_json(&file, &read_text(&file)?).map(Some)
    }

    /// Saves where to go on.
    ///
    /// # Errors
    /// When it cannot be written; the checkpoint before stays then.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<()> {
        self.write_json("checkpoint.json", checkpoint)
    }

    /// Saves the values of the least loss so far.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_best(&self, metric: &Metric) -> Result<()> {
        self.write_json("best.json", metric)
    }

    /// Saves a gradient check.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_gradient(&self, check: &GradientCheck) -> Result<()> {
        self.write_json("gradient.json", check)
    }

    /// Appends to `metrics.jsonl`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn log(&self, metric: &Metric) -> Result<()> {
        files::append_line(&self.file("metrics.jsonl"), &to_json(metric)?)
    }

    /// Drops the metrics after `iteration`, which a resumed run computes again.
    ///
    /// # Errors
    /// When they cannot be read or written.
    pub fn rewind(&self, iteration: usize) -> Result<()> {
        let file = self.file("metrics.jsonl");
        if !file.exists() {
            return Ok(());
        }
        let mut kept = String::new();
        for line in read_text(&file)?.lines() {
            let metric: Metric = from_json(&file, line)?;
            if metric.progress.iteration <= iteration {
                kept.push_str(line);
                kept.push('\n');
            }
        }
        files::write(&file, kept.as_bytes())
    }

    /// Writes a value as JSON, for people to read.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<()> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|e| Error::Compute(format!("{name} cannot be written as JSON: {e}")))?;
        files::write(&self.file(name), (text + "\n").as_bytes())
    }

    /// Path of a file in this folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn to_json<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::Compute(format!("a record cannot be written as JSON: {e}")))
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(|e| Error::file(path, format!("has no absolute path: {e}")))
}
