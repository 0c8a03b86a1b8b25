//! What a search sees of a problem.

use super::parametrisation::Parametrisation;
use super::place::Place;
use super::state::Stage;
use crate::job::{Flow, Runs};
use crate::program::Outcome;
use diffkern_optim::dense::NormalEquations;

/// Called while an evaluation runs, with the part of it that is done.
pub(crate) type Tick<'a> = dyn FnMut(f64) -> Flow + 'a;

/// In how many bits an evaluation computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// In 32, which is enough to find the way.
    Single,
    /// In as many as the device has, for the answer.
    Full,
}

/// Unknowns, and what is observed of them as least squares on two grids, each at several levels.
pub(crate) trait Problem {
    /// What the search moves in.
    fn parametrisation(&self) -> &Parametrisation;

    /// Levels of a stage, the easiest first.
    fn levels(&self, stage: Stage) -> usize;

    /// Cost at the first level of a stage, in single precision. It need not be looked at to the end where it is found to be more than `most`.
    fn cost(&self, stage: Stage, at: &[f64], most: f64, tick: &mut Tick<'_>) -> Outcome<f64>;

    /// Costs at all levels of a stage, without derivatives, in single precision.
    fn evaluate(&self, stage: Stage, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Evaluation>;

    /// Costs with derivatives of all residuals.
    fn linearise(&self, stage: Stage, precision: Precision, at: &[f64], tick: &mut Tick<'_>) -> Outcome<Evaluation>;

    /// Costs, with the misfit of one level on a tape, in full precision on the final grid.
    fn record<'a>(
        &'a self,
        stage: Stage,
        level: usize,
        at: &[f64],
        tick: &mut Tick<'_>,
    ) -> Outcome<Box<dyn Recorded + 'a>>;

    /// Whether an answer is refined after the search, on a grid of its own.
    fn refines(&self) -> bool {
        false
    }

    /// How much each frame should count in a stage that begins at `at`; none where that is known beforehand.
    fn weights(&self, _stage: Stage, _at: &[f64], _tick: &mut Tick<'_>) -> Outcome<Option<Vec<f64>>> {
        Ok(None)
    }

    /// Lets each frame count by so much in a stage.
    ///
    /// # Errors
    /// When memory is short.
    fn weigh(&self, _stage: Stage, _weights: &[f64]) -> diffkern::Result<()> {
        Ok(())
    }

    /// Mean squared residual of the last level where nothing of what is observed is there.
    ///
    /// # Errors
    /// When memory is short.
    fn worst(&self) -> diffkern::Result<f64>;

    /// What was run so far, on the coarse grid and on the final one.
    fn runs(&self) -> [Runs; 2];

    /// Counts on from what a run that is resumed had run.
    fn count_from(&self, runs: [Runs; 2]);
}

/// How far a point is from what is observed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Evaluation {
    /// For each level; without derivatives of no parameters.
    pub(crate) normals: Vec<NormalEquations>,
    /// In 0..1, as a person would say it; intersection over union of silhouettes.
    pub(crate) agreement: f64,
    /// Whether a better precision would give other digits.
    pub(crate) rough: bool,
}

impl Evaluation {
    /// The place `at`, where this was evaluated.
    pub(super) fn at(self, at: Vec<f64>) -> Place {
        Place { at, normals: self.normals, iou: self.agreement, rough: self.rough }
    }
}

/// The misfit of one level on a tape.
pub(crate) trait Recorded {
    /// Costs of all levels.
    fn evaluation(&self) -> &Evaluation;

    /// The misfit by the coordinates.
    fn gradient(&self) -> Outcome<&[f64]>;

    /// The misfit's Hessian times a direction.
    fn product(&self, direction: &[f64]) -> Outcome<Vec<f64>>;
}
