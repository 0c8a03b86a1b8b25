//! Steps by rules that follow gradients of the tape.
//!
//! Stages, levels and stopping rules are those of least squares. Coordinates are measured in units of their
//! longest step. One that lies at a bound which its gradient pushes against stays there.

use super::Search;
use super::descent::{AT_BOUND, Descent, GAIN, HALVED, RATE, Rule};
use super::problem::{Precision, Recorded};
use super::reporter::Reporter;
use super::stages::{REFUSALS, Tape};
use super::state::{Stage, State};
use crate::job::Flow;
use crate::program::{Failure, Outcome, simulable};
use diffkern_optim::dense::Step;

impl<'p> Search<'p> {
    /// One step, accepted or refused, or a change of level or stage.
    pub(super) fn descend(&self, state: &mut State, tape: &mut Tape<'p>, reporter: &mut Reporter<'_>) -> Outcome<()> {
        let taped = match tape.take() {
            Some(taped) => taped,
            // A new level, or a resumed run.
            None => self.record_tape(state, &state.at, reporter)?,
        };
        let (priors, bounds) = (self.priors(state), self.bounds(state.stage));
        let slope: Vec<f64> =
            taped.gradient()?.iter().zip(priors.gradient(&state.at)).map(|(g, pull)| g + pull).collect();
        let held = |k: usize| {
            let (x, low, high) = (state.at[k], bounds.low[k] + AT_BOUND, bounds.high[k] - AT_BOUND);
            bounds.high[k] - bounds.low[k] < AT_BOUND || (x <= low && slope[k] > 0.0) || (x >= high && slope[k] < 0.0)
        };
        // Zero where held: the step and the products leave those coordinates alone.
        let units: Vec<f64> = (0..slope.len()).map(|k| if held(k) { 0.0 } else { bounds.trust[k] }).collect();
        let scaled: Vec<f64> = slope.iter().zip(&units).map(|(g, u)| g * u).collect();
        let cost_at = |data: f64, at: &[f64]| data + priors.cost(at);
        let before = cost_at(state.normals[state.level].cost, &state.at);
        let mut descent = state.descent.take().unwrap_or_else(|| Descent::new(self.optimizer, &scaled, before));
        descent.turns += 1;
        let (change, newton) = match &mut descent.rule {
            Rule::Newton { region, first } => {
                let product = |v: &Vec<f64>| -> Outcome<Vec<f64>> {
                    if reporter.tick(0.0) == Flow::Stop {
                        return Err(Failure::Stopped);
                    }
                    let v: Vec<f64> = v.iter().zip(&units).map(|(v, u)| v * u).collect();
                    let (image, pull) = (taped.product(&v)?, priors.product(&state.at, &v));
                    Ok((0..v.len()).map(|k| (image[k] + pull[k]) * units[k]).collect())
                };
                let step = region.propose(&scaled, *first, product)?;
                (step.change.clone(), Some(step))
            }
            Rule::Adam(adam) => {
                adam.rate = RATE * HALVED / (HALVED + descent.turns as f64);
                (adam.step(&scaled)?, None)
            }
        };
        let change = change.iter().zip(&units).map(|(c, u)| c * u).collect();
        let trial = self.after(&state.at, &Step { change, bounded: Vec::new() });
        let moved = Step { change: trial.iter().zip(&state.at).map(|(t, x)| t - x).collect(), bounded: Vec::new() };
        let last = state.level + 1 == state.normals.len();
        if self.small(state, &moved, last) || descent.stuck(REFUSALS) {
            self.level_ends(state, last, reporter)?;
            return Ok(reporter.save(state)?);
        }
        let Some(there) = simulable(self.record_tape(state, &trial, reporter))? else {
            descent.shorten();
            descent.refused += 1;
            (state.descent, *tape) = (Some(descent), Some(taped));
            return Ok(());
        };
        let seen = there.evaluation().clone();
        let after = cost_at(seen.normals[state.level].cost, &trial);
        if !descent.judge(newton.as_ref(), before - after) {
            (state.descent, *tape) = (Some(descent), Some(taped));
            return Ok(());
        }
        if after < descent.least * (1.0 - GAIN) {
            (descent.least, descent.found) = (after, descent.turns);
        }
        let gain = if newton.is_some() { before - after } else { f64::INFINITY };
        state.go_to(seen.at(trial));
        (state.descent, *tape) = (Some(descent), Some(there));
        self.record(state);
        if let Some(last) = self.settled(state, gain, before) {
            *tape = None;
            self.level_ends(state, last, reporter)?;
        }
        self.tell(state, reporter)
    }

    pub(super) fn record_tape(
        &self,
        state: &State,
        at: &[f64],
        reporter: &mut Reporter<'_>,
    ) -> Outcome<Box<dyn Recorded + 'p>> {
        let coordinates = self.parametrisation();
        reporter.evaluating(state.stage, self.runs(), 2, coordinates.named(&coordinates.values(at)));
        self.problem.record(state.stage, state.level, at, &mut |part| reporter.tick(part))
    }

    /// The next level or stage. At the very end, the derivatives of all pixels, for the intervals.
    fn level_ends(&self, state: &mut State, last: bool, reporter: &mut Reporter<'_>) -> Outcome<()> {
        state.descent = None;
        // Adam's cost goes up and down.
        state.go_to_best();
        if last
            && state.stage == Stage::Fine
            && let Some(linear) = simulable(self.linearise(state.stage, Precision::Full, &state.at, reporter))?
        {
            (state.normals, state.rough) = (linear.normals, linear.rough);
        }
        self.advance(state, last)
    }
}
