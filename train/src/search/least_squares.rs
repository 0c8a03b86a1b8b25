//! Steps by Levenberg and Marquardt.

use super::Search;
use super::place::Place;
use super::problem::Precision;
use super::reporter::Reporter;
use super::stages::{FINE_ENOUGH, PROMISE, PULL, REFUSALS};
use super::state::{Stage, State};
use crate::program::{Outcome, simulable};
use diffkern_optim::Result;
use diffkern_optim::dense::{LevenbergMarquardt, NormalEquations, Step};

impl Search<'_> {
    /// One step, accepted or refused, or a change of level or stage.
    pub(super) fn iterate(&self, state: &mut State, reporter: &mut Reporter<'_>) -> Outcome<()> {
        let priors = self.priors(state);
        let here = &state.normals[state.level];
        let model = priors.added(here, &state.at)?;
        let step = state.lm.propose(&model, &self.bounds(state.stage), &state.at)?;
        let last = state.level + 1 == state.normals.len();
        let stuck = state.lm.refused >= REFUSALS;
        let idle = step.as_ref().map_or(Ok(false), |step| self.is_idle(state, &model, step))?;
        let Some(step) = step.filter(|step| !(stuck || self.small(state, step, last) || idle)) else {
            self.ends(state, last, reporter)?;
            return Ok(reporter.save(state)?);
        };
        let trial = self.after(&state.at, &step);
        // Once it has looked closely it goes on so.
        let precision = if state.rough { Precision::Single } else { Precision::Full };
        let Some(there) = simulable(self.linearise(state.stage, precision, &trial, reporter))? else {
            state.lm.refuse();
            return Ok(());
        };
        let (before, after) =
            (here.cost + priors.cost(&state.at), there.normals[state.level].cost + priors.cost(&trial));
        // Not `after >= before`: NaN is refused too.
        if after.partial_cmp(&before) != Some(std::cmp::Ordering::Less) {
            state.lm.refuse();
            return Ok(());
        }
        state.go_to(there.at(trial));
        state.pull = state.pull.min(PULL * state.normals[0].cost);
        state.lm.accept();
        self.record(state);
        // Before the checkpoint: one that went on from here could not tell that the stage is over.
        if let Some(last) = self.settled(state, before - after, before) {
            self.ends(state, last, reporter)?;
        }
        self.tell(state, reporter)
    }

    /// Whether a step promises so little that the refinement, which follows, may as well begin here.
    fn is_idle(&self, state: &State, model: &NormalEquations, step: &Step) -> Result<bool> {
        let refined = self.problem.refines() && state.stage == Stage::Fine;
        Ok(refined && model.fall(&step.change)? < PROMISE * model.cost)
    }

    /// A level ends. The end of all is seen in full precision: what seemed to be it in single precision may not be.
    fn ends(&self, state: &mut State, last: bool, reporter: &mut Reporter<'_>) -> Outcome<()> {
        if !(last && state.stage == Stage::Fine && state.rough) {
            return self.advance(state, last);
        }
        let here = self.linearise(state.stage, Precision::Full, &state.at, reporter)?;
        (state.normals, state.rough, state.lm) = (here.normals, false, LevenbergMarquardt::default());
        state.runs = self.runs();
        Ok(())
    }

    /// The last step, too small to be worth an evaluation: Gauss-Newton, without damping.
    pub(super) fn polish(&self, state: &mut State) -> Outcome<()> {
        let Some(here) = state.normals.last().filter(|_| state.lm.refused == 0) else { return Ok(()) };
        let plain = LevenbergMarquardt { damping: 0.0, refused: 0 };
        let here = self.priors(state).added(here, &state.at)?;
        let Some(step) = plain.propose(&here, &self.bounds(state.stage), &state.at)? else { return Ok(()) };
        if self.within(&step, FINE_ENOUGH.map(|tolerance| 2.0 * tolerance)) {
            let at = self.after(&state.at, &step);
            state.go_to(Place { at, normals: state.normals.clone(), iou: state.iou, rough: state.rough });
        }
        Ok(())
    }
}
