//! All that a stopped identification needs to go on to the same bits.

use super::descent::Descent;
use super::place::{Best, Place};
use super::problem::Evaluation;
use crate::job::{Record, Runs, Values};
use diffkern_optim::dense::{LevenbergMarquardt, NormalEquations};
use serde::{Deserialize, Serialize};

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// Least squares on the coarse grid.
    Coarse,
    /// Least squares on the grid of the answer.
    Fine,
    /// By its own stopping rule.
    Finished,
}

impl Stage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Coarse => "coarse",
            Self::Fine | Self::Finished => "fine",
        }
    }
}

/// All that a stopped identification needs to go on to the same bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub(crate) stage: Stage,
    /// Where the search is, in its own coordinates.
    pub(crate) at: Vec<f64>,
    /// Width of blur, counted from the widest of the stage.
    pub(crate) level: usize,
    pub(crate) lm: LevenbergMarquardt,
    /// Of a rule that follows gradients, at this level; none before its first step.
    #[serde(default)]
    pub(crate) descent: Option<Descent>,
    /// What was run so far, on the coarse grid and on the final one.
    #[serde(default)]
    pub(crate) runs: [Runs; 2],
    /// At `at`, one per width of blur; none before the first evaluation of a stage.
    pub(crate) normals: Vec<NormalEquations>,
    /// Weight of the pull on Poisson's ratio.
    pub(crate) pull: f64,
    /// Finished iterations.
    pub(crate) iteration: usize,
    /// Intersection over union at `at`, mean over the frames in use.
    pub(crate) iou: f64,
    /// Whether `normals` were computed in single precision.
    #[serde(default)]
    pub(crate) rough: bool,
    pub(crate) initial: Values,
    /// None where it is not known yet.
    pub(crate) loss_initial: Option<f64>,
    pub(crate) history: Vec<Record>,
    pub(crate) warnings: Vec<String>,
    /// How much each frame counts in the stage; none before it has begun, and where that is known beforehand.
    #[serde(default)]
    pub(crate) weights: Option<Vec<f64>>,
    /// Of the level, or of the one before until this has its first; none before the first of all, and in checkpoints of
    /// version 1.
    #[serde(default)]
    pub(crate) best: Option<Best>,
}

impl State {
    /// A search that is to begin at `at`.
    pub(crate) fn new(at: Vec<f64>, initial: Values) -> Self {
        Self {
            stage: Stage::Coarse,
            at,
            level: 0,
            lm: LevenbergMarquardt::default(),
            descent: None,
            runs: [Runs::default(); 2],
            normals: Vec::new(),
            pull: 0.0,
            iteration: 0,
            iou: 0.0,
            rough: false,
            initial,
            loss_initial: None,
            history: Vec::new(),
            warnings: Vec::new(),
            weights: None,
            best: None,
        }
    }

    /// The best so far: the least loss of the last level that was evaluated.
    pub fn best(&self) -> Option<&Record> {
        self.best.as_ref().map(|best| &best.record)
    }

    /// Number of the last finished iteration, from 0.
    pub fn last_iteration(&self) -> Option<usize> {
        self.history.last().map(|record| record.iteration)
    }

    /// Moves the search; where the best was stays known.
    pub(crate) fn go_to(&mut self, Place { at, normals, iou, rough }: Place) {
        let before = Place {
            at: std::mem::replace(&mut self.at, at),
            normals: std::mem::replace(&mut self.normals, normals),
            iou: std::mem::replace(&mut self.iou, iou),
            rough: std::mem::replace(&mut self.rough, rough),
        };
        if let Some(best) = &mut self.best {
            best.place.get_or_insert(before);
        }
    }

    /// Moves the search to the best so far.
    pub(crate) fn go_to_best(&mut self) {
        if let Some(Place { at, normals, iou, rough }) = self.best.as_mut().and_then(|best| best.place.take()) {
            (self.at, self.normals, self.iou, self.rough) = (at, normals, iou, rough);
        }
    }

    /// Moves a finished search to a place on a finer grid.
    pub(crate) fn refined(&mut self, at: Vec<f64>, there: Evaluation, record: Record) {
        let Place { at, normals, iou, rough } = there.at(at);
        (self.at, self.normals, self.iou, self.rough) = (at, normals, iou, rough);
        self.history.push(record.clone());
        self.iteration += 1;
        self.best = Some(Best { record, place: None });
    }

    /// On to `stage`, from the same place.
    pub(crate) fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        if stage != Stage::Finished {
            (self.level, self.lm, self.normals, self.pull) = (0, LevenbergMarquardt::default(), Vec::new(), 0.0);
            (self.descent, self.weights) = (None, None);
        }
    }
}
