//! Places that a search has evaluated, and the best of them.

use crate::job::Record;
use diffkern_optim::dense::NormalEquations;
use serde::{Deserialize, Serialize};

/// A place that was evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    /// In the search's own coordinates.
    pub(crate) at: Vec<f64>,
    /// One per width of blur.
    pub(crate) normals: Vec<NormalEquations>,
    /// Intersection over union, mean over the frames in use.
    pub(crate) iou: f64,
    /// Whether it was evaluated in single precision.
    #[serde(default)]
    pub(crate) rough: bool,
}

/// The best so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Best {
    pub(crate) record: Record,
    /// None while the search is there.
    pub(crate) place: Option<Place>,
}
