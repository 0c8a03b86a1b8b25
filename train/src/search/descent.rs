//! Rules that follow gradients: Newton's method with conjugate gradients, and Adam.

use crate::check::{Checked, at_most, of, require, within};
use crate::optimizer::Optimizer;
use diffkern_optim::dense::Adam;
use diffkern_optim::{NewtonCg, NewtonStep};
use serde::{Deserialize, Serialize};

/// First trust region.
const RADIUS: f64 = 1.0;
/// First step of Adam, and the number of steps after which it has halved.
pub(super) const RATE: f64 = 0.1;
pub(super) const HALVED: f64 = 10.0;
/// Adam's cost goes up and down: a level ends when so many steps have not lowered the least by `GAIN` of it, or after `MOST`.
const PATIENCE: usize = 10;
pub(super) const GAIN: f64 = 1e-2;
const MOST: usize = 100;
/// More steps than any level has.
const MOST_EVER: usize = 1_000_000_000;
/// So near to a bound a coordinate is at it.
pub(super) const AT_BOUND: f64 = 1e-9;

/// Where a rule that follows gradients stands in its level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Descent {
    pub(super) rule: Rule,
    /// Steps so far.
    pub(super) turns: usize,
    /// Refused ones since the last accepted.
    pub(super) refused: usize,
    /// Least cost so far, and the step that found it.
    pub(super) least: f64,
    pub(super) found: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Rule {
    Newton {
        region: NewtonCg,
        /// Norm of the level's first gradient.
        first: f64,
    },
    Adam(Adam),
}

impl Descent {
    pub(super) fn new(optimizer: Optimizer, gradient: &[f64], cost: f64) -> Self {
        let rule = match optimizer {
            Optimizer::Adam => Rule::Adam(Adam::new(RATE, vec![1.0; gradient.len()])),
            Optimizer::NewtonCg | Optimizer::Lm | Optimizer::Auto => Rule::Newton {
                region: NewtonCg::new(RADIUS),
                first: gradient.iter().map(|g| g * g).sum::<f64>().sqrt(),
            },
        };
        Self { rule, turns: 0, refused: 0, least: cost, found: 0 }
    }

    /// Checks what was read from a file, of a search by `optimizer` in `coordinates` coordinates.
    pub(crate) fn check(&self, coordinates: usize, optimizer: Optimizer) -> Checked {
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
    pub(super) fn shorten(&mut self) {
        match &mut self.rule {
            Rule::Newton { region, .. } => region.radius *= 0.25,
            Rule::Adam(_) => self.turns += HALVED as usize,
        }
    }

    /// Whether it has refused so often, or waited so long, that its level is over.
    pub(super) fn stuck(&self, refusals: usize) -> bool {
        let waited = matches!(self.rule, Rule::Adam(_)) && (self.turns > self.found + PATIENCE || self.turns > MOST);
        self.refused >= refusals || waited
    }

    /// Whether to take a step by which the cost fell by `fall`.
    pub(super) fn judge(&mut self, newton: Option<&NewtonStep<Vec<f64>>>, fall: f64) -> bool {
        let taken = match (&mut self.rule, newton) {
            (Rule::Newton { region, .. }, Some(step)) => region.judge(step, fall) && fall > 0.0,
            _ => !fall.is_nan(),
        };
        self.refused = if taken { 0 } else { self.refused + 1 };
        taken
    }
}
