//! The search by rules that follow gradients of the tape: Newton's method with conjugate gradients, and Adam.
//!
//! Stages, levels and stopping rules are those of least squares (`search`). Coordinates are measured in units of their
//! longest step. One that lies at a bound which its gradient pushes against stays there.

use super::failure::{Failure, Outcome, simulable};
use super::place::Place;
use super::reporter::Reporter;
use super::search::{Search, cost, ticking};
use super::state::{Stage, State};
use super::taped::Taped;
use crate::check::{Checked, at_most, of, require, within};
use crate::job::Flow;
use crate::optimizer::Optimizer;
use diffkern::Float;
use diffkern_optim::dense::{Adam, Prior, Step};
use diffkern_optim::{NewtonCg, NewtonStep};
use serde::{Deserialize, Serialize};

/// First trust region.
const RADIUS: f64 = 1.0;
/// First step of Adam, and the number of steps after which it has halved.
const RATE: f64 = 0.1;
const HALVED: f64 = 10.0;
/// Adam's cost goes up and down: a level ends when so many steps have not lowered the least by `GAIN` of it, or after `MOST`.
const PATIENCE: usize = 10;
const GAIN: f64 = 1e-2;
const MOST: usize = 100;
/// More steps than any level has.
const MOST_EVER: usize = 1_000_000_000;
/// So near to a bound a coordinate is at it.
const AT_BOUND: f64 = 1e-9;

/// Where a rule that follows gradients stands in its level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Descent {
    rule: Rule,
    /// Steps so far.
    turns: usize,
    /// Refused ones since the last accepted.
    refused: usize,
    /// Least cost so far, and the step that found it.
    least: f64,
    found: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Rule {
    Newton {
        region: NewtonCg,
        /// Norm of the level's first gradient.
        first: f64,
    },
    Adam(Adam),
}

impl Descent {
    fn new(optimizer: Optimizer, gradient: &[f64], cost: f64) -> Self {
        let rule = match optimizer {
            Optimizer::Adam => Rule::Adam(Adam::new(RATE, vec![1.0; gradient.len()])),
            _ => Rule::Newton {
                region: NewtonCg::new(RADIUS),
                first: gradient.iter().map(|g| g * g).sum::<f64>().sqrt(),
            },
        };
        Self { rule, turns: 0, refused: 0, least: cost, found: 0 }
    }

    /// Checks what was read from a file, of a search by `optimizer` in `coordinates` coordinates.
    pub(super) fn check(&self, coordinates: usize, optimizer: Optimizer) -> Checked {
        at_most("turns", self.turns, MOST_EVER)?;
        at_most("found", self.found, self.turns)?;
        at_most("refused", self.refused, self.turns)?;
        within("least", self.least, 0.0, f64::MAX)?;
        match (&self.rule, optimizer) {
            (Rule::Newton { region, first }, Optimizer::NewtonCg) => {
                within("rule.Newton.first", *first, 0.0, f64::MAX)?;
                of("rule.Newton.region", region.check())
            }
            (Rule::Adam(adam), Optimizer::Adam) => of("rule.Adam", adam.check(coordinates)),
            (Rule::Newton { .. } | Rule::Adam(_), _) => {
                require(false, "rule", || format!("of another optimizer, expected that of {optimizer}"))
            }
        }
    }

    /// The step cannot be simulated: shorter ones.
    fn shorten(&mut self) {
        match &mut self.rule {
            Rule::Newton { region, .. } => region.radius *= 0.25,
            Rule::Adam(_) => self.turns += HALVED as usize,
        }
    }
}

/// A quadratic pull in the cost: slope and curvature by its coordinate.
fn pull(priors: &[Prior], at: &[f64], k: usize) -> (f64, f64) {
    priors.iter().find(|p| p.parameter == k).map_or((0.0, 0.0), |p| {
        let curvature = 2.0 * p.weight / (p.width * p.width);
        (curvature * (at[k] - p.center), curvature)
    })
}

impl<F: Float> Search<'_, F> {
    /// One step, accepted or refused, or a change of level or stage.
    pub(super) fn descend(
        &self,
        state: &mut State,
        tape: &mut Option<Taped<F>>,
        reporter: &mut Reporter<'_>,
    ) -> Outcome<()> {
        let program = self.program(state.stage);
        let taped = match tape.take() {
            Some(taped) => taped,
            // A new level, or a resumed run.
            None => self.record_tape(state, &state.at, reporter)?,
        };
        let (priors, bounds) = (self.priors(state), self.bounds(state.stage));
        let data = taped.gradient(program)?;
        let slope: Vec<f64> = (0..data.len()).map(|k| data[k] + pull(&priors, &state.at, k).0).collect();
        let held = |k: usize| {
            let (x, low, high) = (state.at[k], bounds.low[k] + AT_BOUND, bounds.high[k] - AT_BOUND);
            bounds.high[k] - bounds.low[k] < AT_BOUND || (x <= low && slope[k] > 0.0) || (x >= high && slope[k] < 0.0)
        };
        // Zero where held: the step and the products leave those coordinates alone.
        let units: Vec<f64> = (0..slope.len()).map(|k| if held(k) { 0.0 } else { bounds.trust[k] }).collect();
        let scaled: Vec<f64> = slope.iter().zip(&units).map(|(g, u)| g * u).collect();
        let cost_at = |data: f64, at: &[f64]| data + cost(&priors, at);
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
                    let image = taped.product(program, &v)?;
                    let whole = |k: usize| (image[k] + pull(&priors, &state.at, k).1 * v[k]) * units[k];
                    Ok((0..v.len()).map(whole).collect())
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
        if self.small(state, &moved, last) || self.stuck(&descent) {
            self.level_ends(state, last, reporter)?;
            return Ok(reporter.save(state)?);
        }
        let Some(there) = simulable(self.record_tape(state, &trial, reporter))? else {
            descent.shorten();
            descent.refused += 1;
            (state.descent, *tape) = (Some(descent), Some(taped));
            return Ok(());
        };
        let normals = self.misfit(state.stage).costs(&there.coverage)?;
        let after = cost_at(normals[state.level].cost, &trial);
        if !judge(&mut descent, newton.as_ref(), before - after) {
            (state.descent, *tape) = (Some(descent), Some(taped));
            return Ok(());
        }
        if after < descent.least * (1.0 - GAIN) {
            (descent.least, descent.found) = (after, descent.turns);
        }
        let gain = if newton.is_some() { before - after } else { f64::INFINITY };
        state.go_to(Place { at: trial, normals, iou: self.iou(&there.coverage)? });
        (state.descent, *tape) = (Some(descent), Some(there));
        self.record(state);
        if let Some(last) = self.settled(state, gain, before) {
            *tape = None;
            self.level_ends(state, last, reporter)?;
        }
        self.tell(state, reporter)
    }

    pub(super) fn record_tape(&self, state: &State, at: &[f64], reporter: &mut Reporter<'_>) -> Outcome<Taped<F>> {
        let values = self.coordinates.values(at);
        reporter.evaluating(state.stage, self.runs(), 2, self.coordinates.named(&values));
        let level = self.misfit(state.stage).level(state.level);
        let tick = &mut ticking(reporter, self.frames);
        self.program(state.stage).taped(&self.coordinates, at, level, self.frames, tick)
    }

    fn stuck(&self, descent: &Descent) -> bool {
        let waited =
            matches!(descent.rule, Rule::Adam(_)) && (descent.turns > descent.found + PATIENCE || descent.turns > MOST);
        descent.refused >= super::search::REFUSALS || waited
    }

    /// The next level or stage. At the very end, the derivatives of all pixels, for the intervals.
    fn level_ends(&self, state: &mut State, last: bool, reporter: &mut Reporter<'_>) -> Outcome<()> {
        state.descent = None;
        // Adam's cost goes up and down.
        state.go_to_best();
        if last
            && state.stage == Stage::Fine
            && let Some(linear) = simulable(self.linearise(state.stage, &state.at, reporter))?
        {
            state.normals = self.misfit(state.stage).normals(&linear)?;
        }
        self.advance(state, last)
    }
}

/// Whether to take a step by which the cost fell by `fall`.
fn judge(descent: &mut Descent, newton: Option<&NewtonStep<Vec<f64>>>, fall: f64) -> bool {
    let taken = match (&mut descent.rule, newton) {
        (Rule::Newton { region, .. }, Some(step)) => region.judge(step, fall) && fall > 0.0,
        _ => !fall.is_nan(),
    };
    descent.refused = if taken { 0 } else { descent.refused + 1 };
    taken
}
