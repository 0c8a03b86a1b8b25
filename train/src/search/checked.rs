//! Checks a state that comes from a file against the job that is to go on from it: what passes cannot make the search
//! panic, whatever wrote it.

use super::place::{Best, Place};
use super::stages::REFUSALS;
use super::state::{Stage, State};
use crate::check::{Checked, Fault, at_most, equal, finite, of, require, within};
use crate::error::Error;
use crate::job::{IdentifyOptions, Record, Runs};
use crate::optimizer::Optimizer;
use diffkern_optim::dense::{Bounds, NormalEquations};

/// More walks or iterations than any search has.
const MOST: usize = 1_000_000_000;
/// By so much a coordinate may be out of its bounds, for rounding.
const ROUNDING: f64 = 1e-9;
/// Longest text.
const LONGEST: usize = 1000;

/// What a state of a job looks like.
pub(crate) struct Shape<'a> {
    pub(crate) options: &'a IdentifyOptions,
    pub(crate) bounds: Bounds,
    /// Residuals and blocks of each level, of the coarse stage and of the fine one.
    pub(crate) levels: [Vec<[usize; 2]>; 2],
    /// Frames that count.
    pub(crate) frames: usize,
}

impl Shape<'_> {
    /// Checks lengths, levels and ranges against the job that is to go on from here; names the field that is wrong.
    pub(crate) fn state(&self, state: &State) -> Checked {
        let levels = self.levels(state.stage).len();
        require(state.level < levels, "level", || format!("{}, expected less than {levels}", state.level))?;
        require(state.stage != Stage::Finished || state.level + 1 == levels, "level", || {
            format!("{} of a finished search, expected {}", state.level, levels - 1)
        })?;
        self.place(&state.at, &state.normals, state.iou, state.stage)?;
        let begun = !state.normals.is_empty();
        require(begun || (state.level == 0 && state.stage != Stage::Finished), "normals", || {
            "none, expected those of a stage that has begun".into()
        })?;
        of("lm", state.lm.check(REFUSALS))?;
        within("pull", state.pull, 0.0, f64::MAX)?;
        state.loss_initial.map_or(Ok(()), |loss| within("loss_initial", loss, 0.0, f64::MAX))?;
        state.runs.iter().enumerate().try_for_each(|(k, runs)| of(&format!("runs[{k}]"), counts(runs)))?;
        self.history(state)?;
        if let Some(descent) = &state.descent {
            of("descent", descent.check(self.len(), self.options.optimizer))?;
        }
        state.warnings.iter().try_for_each(|warning| text("warnings", warning))?;
        if let Some(weights) = &state.weights {
            equal("weights", weights.len(), self.frames)?;
            weights.iter().try_for_each(|weight| within("weights", *weight, 0.0, f64::MAX))?;
        }
        state.best.as_ref().map_or(Ok(()), |best| of("best", self.best(best, state)))
    }

    fn levels(&self, stage: Stage) -> &[[usize; 2]] {
        match stage {
            Stage::Coarse => &self.levels[0],
            Stage::Fine | Stage::Finished => &self.levels[1],
        }
    }

    fn len(&self) -> usize {
        self.bounds.low.len()
    }

    fn place(&self, at: &[f64], normals: &[NormalEquations], iou: f64, stage: Stage) -> Checked {
        finite("at", at, self.len())?;
        for (k, x) in at.iter().enumerate() {
            let (low, high) = (self.bounds.low[k] - ROUNDING, self.bounds.high[k] + ROUNDING);
            within(&format!("at[{k}]"), *x, low, high)?;
        }
        within("iou", iou, 0.0, 1.0)?;
        let levels = self.levels(stage);
        if !normals.is_empty() {
            equal("normals", normals.len(), levels.len())?;
        }
        for (k, (normal, &[residuals, blocks])) in normals.iter().zip(levels).enumerate() {
            let checked = normal.check(self.parameters(normal, stage), residuals, blocks);
            of(&format!("normals[{k}]"), checked)?;
        }
        Ok(())
    }

    /// A rule that follows gradients keeps the costs alone, until it is done.
    fn parameters(&self, normal: &NormalEquations, stage: Stage) -> usize {
        match (self.options.optimizer, stage) {
            (Optimizer::Auto | Optimizer::Lm, _) => self.len(),
            (Optimizer::NewtonCg | Optimizer::Adam, Stage::Coarse | Stage::Fine) => 0,
            (Optimizer::NewtonCg | Optimizer::Adam, Stage::Finished) => self.len().min(normal.parameters()),
        }
    }

    fn history(&self, state: &State) -> Checked {
        equal("iteration", state.iteration, state.history.len())?;
        for (k, record) in state.history.iter().enumerate() {
            let whole = format!("history[{k}]");
            of(&whole, equal("iteration", record.iteration, k))?;
            of(&whole, self.record(record))?;
        }
        require(!state.history.is_empty() || state.normals.is_empty(), "history", || {
            "empty, expected an iteration for each evaluation".into()
        })?;
        self.values("initial", &state.initial)
    }

    fn record(&self, record: &Record) -> Checked {
        text("stage", &record.stage)?;
        within("loss", record.loss, 0.0, f64::MAX)?;
        self.values("values", &record.values)
    }

    fn values(&self, field: &str, values: &crate::job::Values) -> Checked {
        let missing = self.options.unknowns.iter().find(|name| !values.contains_key(name));
        require(missing.is_none(), field, || format!("{missing:?} is missing, expected a value of each unknown"))?;
        values.iter().try_for_each(|(name, value)| {
            let least = if name.quantity().is_positive() { f64::MIN_POSITIVE } else { f64::MIN };
            within(&format!("{field}.{name}"), *value, least, f64::MAX)
        })
    }

    fn best(&self, best: &Best, state: &State) -> Checked {
        of("record", self.record(&best.record))?;
        let last = state.iteration.saturating_sub(1);
        of("record", at_most("iteration", best.record.iteration, last))?;
        let Some(Place { at, normals, iou, rough: _ }) = &best.place else { return Ok(()) };
        // The place of a former stage has none.
        of("place", self.place(at, normals, *iou, state.stage))
    }
}

fn counts(runs: &Runs) -> Checked {
    let Runs { forward, tangents, reverse, products } = *runs;
    let counts = [("forward", forward), ("tangents", tangents), ("reverse", reverse), ("products", products)];
    counts.into_iter().try_for_each(|(field, count)| at_most(field, count, MOST))
}

fn text(field: &str, text: &str) -> Checked {
    let plain = text.len() <= LONGEST && !text.chars().any(char::is_control);
    require(plain, field, || format!("expected at most {LONGEST} characters, none of them for control"))
}

/// The error of a state that was given to the library itself.
pub(crate) fn refused(fault: Fault) -> Error {
    Error::argument(format!("resume: {}", fault.field), fault.problem)
}
