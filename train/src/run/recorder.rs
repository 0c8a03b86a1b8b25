//! Listens to a running identification and keeps its records on disk.

use super::checkpoint::Checkpoint;
use super::dir::RunDir;
use super::metrics::Metric;
use crate::error::{Error, Result};
use crate::identify::Observer;
use crate::identify::State;
use crate::job::{Flow, Progress, Record, Stop};
use std::time::Instant;

/// What the screen is told: the progress and the time since the start \[s\].
pub type Screen<'a> = dyn FnMut(&Progress, f64) -> Flow + 'a;

/// Writes metrics, the best values and checkpoints, and passes progress on to the screen.
pub(crate) struct Recorder<'a> {
    run: &'a RunDir,
    screen: &'a mut Screen<'a>,
    stop: Stop,
    begun: Instant,
    /// Seconds of the runs that this one resumes.
    before: f64,
    /// What `best.json` holds.
    best: Option<Record>,
    /// A metric that could not be written ends the job at the next checkpoint.
    failed: Option<Error>,
}

impl<'a> Recorder<'a> {
    pub(crate) fn new(run: &'a RunDir, screen: &'a mut Screen<'a>, stop: Stop, before: f64) -> Self {
        Self { run, screen, stop, begun: Instant::now(), before, best: None, failed: None }
    }

    /// Time since the start, without pauses \[s\].
    pub(crate) fn seconds(&self) -> f64 {
        self.before + self.begun.elapsed().as_secs_f64()
    }

    /// The first write that failed, if one did.
    pub(crate) fn finish(self) -> Result<()> {
        self.failed.map_or(Ok(()), Err)
    }

    fn record(&self, progress: &Progress) -> Result<()> {
        self.run.log(&Metric::new(self.seconds(), progress))
    }
}

impl Observer for Recorder<'_> {
    fn stop(&self) -> Stop {
        self.stop.clone()
    }

    fn progress(&mut self, progress: &Progress) -> Flow {
        if progress.finished && self.failed.is_none() {
            self.failed = self.record(progress).err();
        }
        let seconds = self.seconds();
        let flow = (self.screen)(progress, seconds);
        if self.failed.is_some() { Flow::Stop } else { flow }
    }

    fn checkpoint(&mut self, state: &State) -> Result<()> {
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        if state.best() != self.best.as_ref() {
            self.best = state.best().cloned();
            self.best.as_ref().map_or(Ok(()), |best| self.run.save_best(best))?;
        }
        self.run.save(&Checkpoint { seconds: self.seconds(), state: state.clone() })
    }
}
