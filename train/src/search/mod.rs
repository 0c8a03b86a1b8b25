//! Coarse to fine least squares, for any [`Problem`].
//!
//! A scan on a coarse grid finds the valley from anywhere; Levenberg-Marquardt follows it there, then on the final grid,
//! each time through levels from the easiest to the one that counts.
//!
//! On the final grid a viscosity beside the scene's is fitted along. Real things lose energy in ways that a scene does
//! not tell, and so do simulators, each by its grid and step; a model that may not lose as much as the video shows takes
//! the loss for stiffness. The viscosity may be a little below zero, where the video loses less than the simulator.

mod row;
mod parametrisation;
mod descent;
mod place;
mod state;
mod problem;
mod observer;
mod reporter;
mod priors;
mod checked;
mod scan;
mod stages;
mod least_squares;
mod gradients;

pub(crate) use checked::{Shape, refused};
pub use observer::Observer;
pub(crate) use parametrisation::Parametrisation;
pub(crate) use priors::Priors;
pub(crate) use problem::{Evaluation, Precision, Problem, Recorded, Tick};
pub(crate) use reporter::{Passes, REFINED, Reporter};
pub(crate) use row::{Map, Row};
pub(crate) use scan::SCANNED;
pub(crate) use state::Stage;
pub use state::State;

use crate::job::{IdentifyOptions, Runs};
use crate::optimizer::Optimizer;

/// A search under way.
pub(crate) struct Search<'a> {
    pub(crate) problem: &'a dyn Problem,
    most: usize,
    optimizer: Optimizer,
    /// What a job starts from.
    start: Vec<f64>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(problem: &'a dyn Problem, options: &IdentifyOptions) -> Self {
        let coordinates = problem.parametrisation();
        let start = coordinates.at(&coordinates.initial(options));
        Self { problem, most: options.max_iterations.unwrap_or(usize::MAX), optimizer: options.optimizer, start }
    }

    /// What was run so far, on the coarse grid and on the final one.
    pub(crate) fn runs(&self) -> [Runs; 2] {
        self.problem.runs()
    }

    /// Where a job starts.
    pub(crate) fn start(&self) -> &[f64] {
        &self.start
    }

    fn parametrisation(&self) -> &'a Parametrisation {
        self.problem.parametrisation()
    }
}
