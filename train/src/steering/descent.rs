//! Steps along the negative gradient.

use super::scene::{Evaluated, Scene};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// How long steps are: `x - s g / |g|`, `s` in the units of the controls.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Descent {
    /// From the best controls so far. A step that lowers the loss is kept, and the next is longer; one that does not is taken back, and tried shorter.
    Monotone {
        /// Length of the first step.
        first: f64,
        /// What a length is multiplied with after a step that was kept.
        grow: f64,
        /// And after one that was not.
        shrink: f64,
    },
    /// All steps are kept, the last ones shorter: `first (1 - k / n)` of `n`.
    Steady {
        /// Length of the first step.
        first: f64,
    },
}

/// What a search has found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Descended {
    /// The best controls.
    pub(super) controls: Vec<f64>,
    /// The outcome before the search and after each of its evaluations.
    pub(super) curve: Vec<f64>,
    /// That of the best controls.
    pub(super) best: f64,
}

impl Descent {
    /// What is wrong, if anything.
    pub(super) fn check(self) -> std::result::Result<(), String> {
        let (first, fits) = match self {
            Self::Monotone { first, grow, shrink } => {
                (first, (1.0..=10.0).contains(&grow) && shrink > 0.0 && shrink < 1.0)
            }
            Self::Steady { first } => (first, true),
        };
        match fits && first > 0.0 && first.is_finite() {
            true => Ok(()),
            false => Err(format!("{self:?}, expected a positive first step, grow from 1 to 10, and shrink below 1")),
        }
    }

    /// From these controls, with so many evaluations after the first.
    ///
    /// # Errors
    /// When a launch fails or `tell` ends it.
    pub(super) fn run(
        self,
        scene: &dyn Scene,
        controls: Vec<f64>,
        iterations: usize,
        tell: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Descended> {
        let mut length = match self {
            Self::Monotone { first, .. } | Self::Steady { first } => first,
        };
        let (mut at, mut here) = (controls.clone(), scene.evaluate(&controls)?);
        if !here.loss.is_finite() {
            let problem = format!(
                "the loss is {} where the search begins, expected a number: shorter steps of the scene, or softer springs",
                here.loss
            );
            return Err(Error::Compute(problem));
        }
        let (mut best, mut controls) = (here.clone(), controls);
        let mut curve = vec![here.outcome];
        for k in 0..iterations {
            tell()?;
            let Some(next) = stepped(&at, &here, length) else {
                curve.push(here.outcome);
                continue;
            };
            let there = scene.evaluate(&next)?;
            // Not `>=`: NaN is refused too.
            let lower = there.loss < here.loss;
            if there.loss < best.loss {
                (best, controls) = (there.clone(), next.clone());
            }
            match self {
                Self::Monotone { grow, .. } if lower => (at, here, length) = (next, there, length * grow),
                Self::Monotone { shrink, .. } => length *= shrink,
                Self::Steady { first } => {
                    (at, here) = (next, there);
                    length = first * (1.0 - (k + 1) as f64 / iterations as f64);
                }
            }
            curve.push(here.outcome);
        }
        Ok(Descended { controls, curve, best: best.outcome })
    }
}

/// The controls after a step of this length; none where the gradient has no direction.
fn stepped(controls: &[f64], here: &Evaluated, length: f64) -> Option<Vec<f64>> {
    let size = here.gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
    let step = |(x, g): (&f64, &f64)| x - length * g / size;
    (size > 0.0 && size.is_finite()).then(|| controls.iter().zip(&here.gradient).map(step).collect())
}
