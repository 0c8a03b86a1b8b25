//! From level to level and from stage to stage.

use super::Search;
use super::place::{Best, Place};
use super::priors::Priors;
use super::problem::{Evaluation, Precision, Recorded};
use super::reporter::Reporter;
use super::row::Kind;
use super::state::{Stage, State};
use crate::error::Error;
use crate::job::{Ending, Flow, Record};
use crate::optimizer::Optimizer;
use crate::program::{Failure, Outcome, simulable};
use diffkern_optim::dense::{Bounds, Step};

/// Steps below which the next level, or the next stage, begins: of stiffnesses and all that is not named, of Poisson's ratios, and
/// of the viscosity.
const NARROW: Enough = [0.03, 0.06, 0.1];
/// Of blurred levels of the fine stage. The edges of the last level see each other over a pixel: from farther away its steps are far too short.
const BLURRED: Enough = [4e-3, 8e-3, 0.02];
const COARSE_ENOUGH: Enough = [0.02, 0.03, f64::INFINITY];
pub(super) const FINE_ENOUGH: Enough = [1e-3, 2e-3, 4e-3];
pub(super) type Enough = [f64; 3];
/// A level of the coarse stage, one with blur of the fine stage, and that stage end when a step lowers the cost by less than this part.
const COARSE_GAIN: f64 = 0.05;
const BLURRED_GAIN: f64 = 0.02;
const LEAST_GAIN: f64 = 1e-3;
/// The fine stage where the answer is refined afterwards.
const ROUGH_GAIN: f64 = 0.25;
/// There a step is not taken that promises less: what steps bring was up to twice what they promised, so it would be the last.
pub(super) const PROMISE: f64 = 0.5 * ROUGH_GAIN;
/// Most accepted steps of the coarse stage, and refused ones in a row of any.
const COARSE_STEPS: usize = 6;
pub(super) const REFUSALS: usize = 4;
/// A coarse grid cannot tell Poisson's ratio well: there it is pulled towards common values, by this part of the misfit
/// that the grid leaves.
pub(super) const PULL: f64 = 0.3;
/// By how much stiffnesses are raised when a material cannot be simulated, and how often.
const STIFFEN: f64 = 0.3;
const STIFFENINGS: usize = 8;

/// A tape that is kept from one step to the next.
pub(super) type Tape<'p> = Option<Box<dyn Recorded + 'p>>;

impl<'p> Search<'p> {
    /// Until the stopping rule, the limit of iterations, or the observer ends it.
    pub(crate) fn run(&self, state: &mut State, reporter: &mut Reporter<'_>) -> Outcome<Ending> {
        let mut tape = None;
        // A checkpoint of version 1 does not know it.
        if state.best.is_none() && !state.normals.is_empty() && state.stage != Stage::Finished {
            state.best = Some(self.here(state));
        }
        while state.stage != Stage::Finished {
            if state.normals.is_empty() {
                self.enter(state, &mut tape, reporter)?;
            }
            if state.iteration >= self.most {
                return Ok(Ending::MaxIterations);
            }
            match self.optimizer {
                Optimizer::NewtonCg | Optimizer::Adam => self.descend(state, &mut tape, reporter)?,
                Optimizer::Auto | Optimizer::Lm => self.iterate(state, reporter)?,
            }
        }
        Ok(Ending::Converged)
    }

    /// The first evaluation of a stage; a material that is too soft for it is made stiffer.
    fn enter(&self, state: &mut State, tape: &mut Tape<'p>, reporter: &mut Reporter<'_>) -> Outcome<()> {
        if state.stage == Stage::Fine {
            self.look_around(state, reporter)?;
        }
        for _ in 0..STIFFENINGS {
            self.weigh(state, reporter)?;
            if let Some(here) = simulable(self.first_evaluation(state, tape, reporter))? {
                state.go_to(here.at(state.at.clone()));
                if state.stage == Stage::Coarse {
                    state.pull = PULL * state.normals[0].cost;
                }
                self.record(state);
                return self.tell(state, reporter);
            }
            let Some(at) = self.parametrisation().stiffer(&state.at, STIFFEN) else { break };
            state.go_to(Place { at, normals: Vec::new(), iou: state.iou, rough: false });
        }
        let values = self.parametrisation().named(&self.parametrisation().values(&state.at));
        let near: Vec<String> =
            values.iter().map(|(name, value)| format!("{name} = {value} {}", name.unit())).collect();
        let problem = format!("no stable simulation near {}, expected ranges of stiffer materials", near.join(", "));
        Err(Error::scene("unknowns", problem).into())
    }

    /// Lets frames count as they should where a stage begins, if it can be simulated there.
    fn weigh(&self, state: &mut State, reporter: &mut Reporter<'_>) -> Outcome<()> {
        let values = self.parametrisation().named(&self.parametrisation().values(&state.at));
        reporter.evaluating(state.stage, self.runs(), 1, values);
        let weights = self.problem.weights(state.stage, &state.at, &mut |part| reporter.tick(part));
        if let Some(weights) = simulable(weights)?.flatten() {
            self.problem.weigh(state.stage, &weights)?;
            state.weights = Some(weights);
            if state.stage == Stage::Fine && !self.problem.refines() {
                self.look_at_start(state, reporter)?;
            }
        }
        Ok(())
    }

    /// The misfits where a stage begins, with the derivatives that its rule needs.
    fn first_evaluation(&self, state: &State, tape: &mut Tape<'p>, reporter: &mut Reporter<'_>) -> Outcome<Evaluation> {
        match self.optimizer {
            Optimizer::NewtonCg | Optimizer::Adam => {
                let recorded = self.record_tape(state, &state.at, reporter)?;
                let evaluation = recorded.evaluation().clone();
                *tape = Some(recorded);
                Ok(evaluation)
            }
            Optimizer::Auto | Optimizer::Lm => self.linearise(state.stage, Precision::Single, &state.at, reporter),
        }
    }

    /// Whether an accepted step ended its level (false) or its stage (true).
    pub(super) fn settled(&self, state: &State, gain: f64, before: f64) -> Option<bool> {
        let last = state.level + 1 == state.normals.len();
        let coarse_steps = state.history.iter().filter(|r| r.stage.starts_with(Stage::Coarse.name())).count();
        let coarse = state.stage == Stage::Coarse;
        let enough = coarse && self.optimizer != Optimizer::Adam && coarse_steps > COARSE_STEPS;
        let least = match (coarse, last) {
            (true, _) => COARSE_GAIN,
            _ if self.problem.refines() => ROUGH_GAIN,
            (false, false) => BLURRED_GAIN,
            (false, true) => LEAST_GAIN,
        };
        (enough || gain < before * least).then_some(enough || last)
    }

    /// On to the next level, or if this is the `last` to the next stage.
    pub(super) fn advance(&self, state: &mut State, last: bool) -> Outcome<()> {
        match (last, state.stage) {
            (false, _) => {
                state.level += 1;
                state.lm = Default::default();
                state.descent = None;
                // Losses compare within a level only.
                state.best = Some(self.here(state));
            }
            (true, Stage::Coarse) => state.enter(Stage::Fine),
            (true, Stage::Fine | Stage::Finished) => {
                if self.optimizer == Optimizer::Lm {
                    self.polish(state)?;
                }
                state.enter(Stage::Finished);
            }
        }
        state.runs = self.runs();
        Ok(())
    }

    /// Where a step ends, inside the ranges.
    pub(super) fn after(&self, at: &[f64], step: &Step) -> Vec<f64> {
        let moved: Vec<f64> = at.iter().zip(&step.change).map(|(x, c)| x + c).collect();
        self.parametrisation().inside(&moved)
    }

    /// Notes a finished iteration.
    pub(super) fn record(&self, state: &mut State) {
        state.runs = self.runs();
        let here = Best { record: self.recorded(state, state.iteration), place: None };
        state.history.push(here.record.clone());
        state.iteration += 1;
        let better = |best: &Best| best.record.stage != here.record.stage || here.record.loss <= best.record.loss;
        if state.best.as_ref().is_none_or(better) {
            state.best = Some(here);
        }
    }

    /// The place where the search is, as the best.
    fn here(&self, state: &State) -> Best {
        Best { record: self.recorded(state, state.iteration.saturating_sub(1)), place: None }
    }

    fn recorded(&self, state: &State, iteration: usize) -> Record {
        let levels = state.normals.len();
        Record {
            iteration,
            stage: label(state.stage, state.level, levels),
            loss: self.loss(state),
            values: self.parametrisation().named(&self.parametrisation().values(&state.at)),
        }
    }

    /// The stage of records whose losses compare with that of the answer.
    pub(crate) fn last_level(&self) -> String {
        let levels = self.problem.levels(Stage::Fine);
        label(Stage::Fine, levels.saturating_sub(1), levels)
    }

    /// What is minimised: the mean squared residual at the level, with what pulls beside.
    fn loss(&self, state: &State) -> f64 {
        let here = &state.normals[state.level];
        let pull = self.priors(state).cost(&state.at);
        (here.cost + pull) / here.residuals.max(1) as f64
    }

    pub(super) fn tell(&self, state: &State, reporter: &mut Reporter<'_>) -> Outcome<()> {
        let flow = reporter.iteration(state)?;
        if flow == Flow::Stop { Err(Failure::Stopped) } else { Ok(()) }
    }

    pub(super) fn linearise(
        &self,
        stage: Stage,
        precision: Precision,
        at: &[f64],
        reporter: &mut Reporter<'_>,
    ) -> Outcome<Evaluation> {
        let coordinates = self.parametrisation();
        let passes = 1 + coordinates.kinds().len();
        reporter.evaluating(stage, self.runs(), passes, coordinates.named(&coordinates.values(at)));
        self.problem.linearise(stage, precision, at, &mut |part| reporter.tick(part))
    }

    /// The coarse grid damps too much itself to tell more viscosity.
    pub(super) fn bounds(&self, stage: Stage) -> Bounds {
        self.parametrisation().bounds(stage != Stage::Coarse)
    }

    pub(super) fn priors(&self, state: &State) -> Priors<'_> {
        Priors::here(self.parametrisation(), state)
    }

    pub(super) fn small(&self, state: &State, step: &Step, last: bool) -> bool {
        let limits = match (last, state.stage) {
            (false, Stage::Coarse) => NARROW,
            (false, Stage::Fine | Stage::Finished) => BLURRED,
            (true, Stage::Coarse) => COARSE_ENOUGH,
            (true, Stage::Fine | Stage::Finished) => FINE_ENOUGH,
        };
        self.within(step, limits)
    }

    pub(super) fn within(&self, step: &Step, [first, poisson, viscosity]: Enough) -> bool {
        let limits = self.parametrisation().kinds().into_iter().map(|kind| match kind {
            Kind::Stiffness | Kind::Other => first,
            Kind::Poisson => poisson,
            Kind::Viscosity => viscosity,
        });
        step.change.iter().zip(limits).all(|(change, limit)| change.abs() < limit)
    }
}

fn label(stage: Stage, level: usize, levels: usize) -> String {
    format!("{} {}/{levels}", stage.name(), level + 1)
}
