//! The folder of a run: what was asked, how far it is, what came out.

use super::checkpoint::Checkpoint;
use super::claim::Claim;
use super::meta::Meta;
use super::metrics::{self, Metric};
use super::outputs::Outputs;
use crate::error::{Error, Result};
use crate::files;
use crate::job::{Gradcheck, Record};
use crate::report::{EVENTS, PAGE, RESULT};
use crate::scene::{from_json, read_text};
use serde::Serialize;
use std::path::{Path, PathBuf};

const CONFIG: &str = "config.ron";
const META: &str = "meta.json";
const CHECKPOINT: &str = "checkpoint.json";
const BEST: &str = "best.json";
const METRICS: &str = "metrics.jsonl";

/// What a run writes. It has something to show once it has a checkpoint.
const RUN: Outputs = Outputs {
    names: &[
        CONFIG,
        META,
        RESULT,
        CHECKPOINT,
        BEST,
        METRICS,
        "gradient.json",
        "loss.png",
        "parameters.png",
        "comparison.gif",
        "frames",
        "tracks",
        EVENTS,
        PAGE,
    ],
    first: META,
    proof: CHECKPOINT,
    aside: "former-run",
};

/// What to do about a job of the same kind whose files are in the folder already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Former {
    /// Refuse, so that nothing is lost.
    Keep,
    /// Let the new job take its place, once that has something to show.
    Replace,
}

/// A run's folder, which this process alone writes to while it is there.
#[derive(Debug)]
pub struct RunDir {
    claim: Claim,
    /// Whether a run came back here that one which was killed was to replace.
    pub came_back: bool,
}

impl RunDir {
    /// Begins a run in `path`: shows that it can be written, sets a former run aside, records the job, which `config` is as RON.
    ///
    /// # Errors
    /// When the folder cannot be written, when another process writes to it, or when it holds a run that is to be kept.
    pub fn begin(path: &Path, config: &str, meta: &Meta, former: Former) -> Result<Self> {
        let claim = Claim::take(path, |name| RUN.know(name))?;
        let came_back = RUN.recover(path)?;
        if let (Some(name), Former::Keep) = (RUN.find(path)?, former) {
            let folder = path.display();
            let problem = format!(
                "holds a run already ({name}), expected another folder, `diffkern resume {folder}` to go on with the run, or \
                 --overwrite to replace it"
            );
            return Err(Error::file(path, problem));
        }
        let run = Self { claim, came_back };
        RUN.set_aside(path)?;
        // What can be resumed has both.
        let begun = run.write_json(META, meta).and_then(|()| files::write(&run.file(CONFIG), config.as_bytes()));
        match begun {
            Ok(()) => Ok(run),
            Err(error) => Err(run.give_up(error)),
        }
    }

    /// Opens a run that was begun before, whose job `read` reads from its file.
    ///
    /// # Errors
    /// When `path` is not the folder of a run, cannot be written any more, or another process writes to it.
    pub fn open<J>(path: &Path, read: impl FnOnce(&Path) -> Result<J>) -> Result<(Self, J, Meta)> {
        let config = path.join(CONFIG);
        if !config.is_file() && !RUN.has_former(path)? {
            let problem = "no run to resume, expected a folder with config.ron and checkpoint.json";
            return Err(Error::file(path, problem));
        }
        let claim = Claim::take(path, |name| RUN.know(name))?;
        let came_back = RUN.recover(path)?;
        let job = read(&config)?;
        let meta = path.join(META);
        let meta = from_json(&meta, &read_text(&meta)?)?;
        Ok((Self { claim, came_back }, job, meta))
    }

    /// The last checkpoint, as it was written; none if the run was stopped before its first.
    ///
    /// # Errors
    /// When it is there but cannot be read, or is not as it was written.
    pub fn checkpoint(&self) -> Result<Option<Checkpoint>> {
        let file = self.file(CHECKPOINT);
        if !files::is_there(&file)? {
            return Ok(None);
        }
        Checkpoint::read(&file).map(Some)
    }

    /// Saves where to go on. A result of less than that goes, and so does the run that this one replaces.
    ///
    /// # Errors
    /// When it cannot be written; the checkpoint before stays then.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<()> {
        self.reopen()?;
        files::write(&self.file(CHECKPOINT), checkpoint.seal()?.as_bytes())?;
        RUN.discard_former(self.path())
    }

    /// Removes the result of a part of the run before it is outdated: `result.json` stands for a complete folder.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub(crate) fn reopen(&self) -> Result<()> {
        files::remove(&self.file(RESULT))
    }

    /// Leaves the folder as it was before a run that came to nothing. Returns whether a former run is back.
    ///
    /// # Errors
    /// When a file cannot be moved or removed.
    pub(crate) fn roll_back(&self) -> Result<bool> {
        RUN.roll_back(self.path())
    }

    /// As [`RunDir::roll_back`], because of `error`, if the run has come to nothing.
    pub(crate) fn give_up(&self, error: Error) -> Error {
        if matches!(RUN.is_proven(self.path()), Ok(false)) {
            // The first error is the one to tell; the next run tries again.
            let _ = self.roll_back();
        }
        error
    }

    /// Whether a former run waits for this one to have something to show.
    ///
    /// # Errors
    /// When the system does not tell.
    pub(crate) fn has_former(&self) -> Result<bool> {
        RUN.has_former(self.path())
    }

    /// Saves the values of the least loss so far.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_best(&self, best: &Record) -> Result<()> {
        self.write_json(BEST, best)
    }

    /// Saves a gradient check.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_gradient(&self, check: &Gradcheck) -> Result<()> {
        self.write_json("gradient.json", check)
    }

    /// Appends to `metrics.jsonl`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn log(&self, metric: &Metric<'_>) -> Result<()> {
        metrics::append(&self.file(METRICS), metric)
    }

    /// Goes back to `checkpoint`, or to the beginning: drops the metrics after it, which a resumed run computes again, and
    /// damaged ones; the best is the one of then. Returns what a person should know.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn rewind(&self, checkpoint: Option<&Checkpoint>) -> Result<Option<String>> {
        match checkpoint {
            None => files::remove(&self.file(BEST))?,
            Some(checkpoint) => checkpoint.state.best().map_or(Ok(()), |best| self.save_best(best))?,
        }
        metrics::rewind(&self.file(METRICS), checkpoint.and_then(|checkpoint| checkpoint.state.last_iteration()))
    }

    /// Writes a value as JSON, for people to read.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_json<T: Serialize>(&self, name: &str, value: &T) -> Result<()> {
        files::write_json(&self.file(name), value)
    }

    /// Path of a file in this folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.claim.folder()
    }
}
