//! Places that a search has evaluated, and the best of them.

use crate::job::Record;
use diffkern_optim::dense::NormalEquations;
use serde::{Deserialize, Serialize};

/// A place that was evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Place {
    /// In the search's own coordinates.
    pub(super) at: Vec<f64>,
    /// One per width of blur.
    pub(super) normals: Vec<NormalEquations>,
    /// Intersection over union, mean over the frames in use.
    pub(super) iou: f64,
}

/// The best so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Best {
    pub(super) record: Record,
    /// None while the search is there.
    pub(super) place: Option<Place>,
}
