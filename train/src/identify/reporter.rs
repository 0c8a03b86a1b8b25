//! Signs of life, with an estimate of how much is done.

use super::state::Stage;
use crate::error::Result;
use crate::identify::State;
use crate::job::{Flow, Observer, Progress, Values};

/// Shares of the whole work: the scan, the coarse stage, the rest.
const SCAN: f64 = 0.05;
const COARSE: f64 = 0.15;
const FINE: f64 = 0.95;
/// Part of what is left that one evaluation of a stage takes.
const EACH: f64 = 0.25;

pub(super) struct Reporter<'a> {
    observer: &'a mut dyn Observer,
    now: Progress,
    /// Part of the work that is done when the evaluation in hand begins and ends.
    span: (f64, f64),
}

impl<'a> Reporter<'a> {
    pub(super) fn new(observer: &'a mut dyn Observer) -> Self {
        let now = Progress {
            stage: "start".into(),
            iteration: 0,
            fraction: 0.0,
            loss: None,
            values: Values::new(),
            finished: false,
        };
        Self { observer, now, span: (0.0, SCAN) }
    }

    /// The evaluation number `done` of `all` in the scan begins.
    pub(super) fn scanning(&mut self, done: usize, all: usize, values: Values) {
        let share = |k: usize| SCAN * k as f64 / all.max(1) as f64;
        self.span = (share(done), share(done + 1));
        self.now.values = values;
    }

    /// An evaluation of a stage begins.
    pub(super) fn evaluating(&mut self, stage: Stage, values: Values) {
        let end = if stage == Stage::Coarse { COARSE } else { FINE };
        let begin = if stage == Stage::Coarse { SCAN } else { COARSE };
        let from = self.now.fraction.max(begin);
        self.span = (from, from + EACH * (end - from).max(0.0));
        // That of the last iteration tells the level too.
        if !self.now.stage.starts_with(stage.name()) {
            self.now.stage = stage.name().into();
        }
        self.now.values = values;
    }

    /// The pictures of the answer are drawn.
    pub(super) fn drawing(&mut self) {
        self.now.stage = "pictures".into();
        self.span = (self.now.fraction.max(FINE), 1.0);
    }

    /// Somewhere inside an evaluation.
    pub(super) fn tick(&mut self, part: f64) -> Flow {
        let fraction = self.span.0 + (self.span.1 - self.span.0) * part.clamp(0.0, 1.0);
        self.now.fraction = self.now.fraction.max(fraction);
        self.observer.progress(&self.now)
    }

    /// An iteration is finished; saves it.
    pub(super) fn iteration(&mut self, state: &State) -> Result<Flow> {
        let Some(record) = state.history.last() else { return Ok(Flow::Continue) };
        let progress = Progress {
            stage: record.stage.clone(),
            iteration: record.iteration,
            fraction: self.now.fraction,
            loss: Some(record.loss),
            values: record.values.clone(),
            finished: true,
        };
        self.now = Progress { finished: false, ..progress.clone() };
        let flow = self.observer.progress(&progress);
        self.observer.checkpoint(state)?;
        Ok(flow)
    }

    /// Saves a change of level or stage.
    pub(super) fn save(&mut self, state: &State) -> Result<()> {
        self.observer.checkpoint(state)
    }
}
