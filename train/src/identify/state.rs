//! All that a stopped identification needs to go on to the same bits.

use super::descent::Descent;
use crate::job::{Record, Runs, Values};
use crate::optim::{Lm, Normal};
use serde::{Deserialize, Serialize};

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Stage {
    /// Least squares on the coarse grid.
    Coarse,
    /// Least squares on the grid of the answer.
    Fine,
    /// By its own stopping rule.
    Finished,
}

impl Stage {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Coarse => "coarse",
            Self::Fine | Self::Finished => "fine",
        }
    }
}

/// All that a stopped identification needs to go on to the same bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub(super) stage: Stage,
    /// Where the search is, in its own coordinates.
    pub(super) at: Vec<f64>,
    /// Width of blur, counted from the widest of the stage.
    pub(super) level: usize,
    pub(super) lm: Lm,
    /// Of a rule that follows gradients, at this level; none before its first step.
    #[serde(default)]
    pub(super) descent: Option<Descent>,
    /// What was run so far, on the coarse grid and on the final one.
    #[serde(default)]
    pub(super) runs: [Runs; 2],
    /// At `at`, one per width of blur; none before the first evaluation of a stage.
    pub(super) normals: Vec<Normal>,
    /// Weight of the pull on Poisson's ratio.
    pub(super) pull: f64,
    /// Finished iterations.
    pub(super) iteration: usize,
    /// Intersection over union at `at`, mean over the frames in use.
    pub(super) iou: f64,
    pub(super) initial: Values,
    pub(super) loss_initial: f64,
    pub(super) history: Vec<Record>,
    pub(super) warnings: Vec<String>,
}

impl State {
    /// A search that is to begin at `at`.
    pub(super) fn new(at: Vec<f64>, initial: Values, loss_initial: f64) -> Self {
        Self {
            stage: Stage::Coarse,
            at,
            level: 0,
            lm: Lm::default(),
            descent: None,
            runs: [Runs::default(); 2],
            normals: Vec::new(),
            pull: 0.0,
            iteration: 0,
            iou: 0.0,
            initial,
            loss_initial,
            history: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// On to `stage`, from the same place.
    pub(super) fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        if stage != Stage::Finished {
            (self.level, self.lm, self.normals, self.pull) = (0, Lm::default(), Vec::new(), 0.0);
            self.descent = None;
        }
    }

    /// Mean squared difference from the video at `at`, at the narrowest blur of the stage.
    pub(super) fn loss(&self) -> Option<f64> {
        self.normals.last().map(|n| n.cost / n.residuals.max(1) as f64)
    }
}
