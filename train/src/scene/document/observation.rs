//! What was measured of the bodies, beside videos.

use super::Vector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measurement of a body, one place for each frame at which there is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Observation {
    /// Where points of a body are.
    Markers(Markers),
    /// Where the centre of mass of a body is.
    CentreOfMass(CentreOfMass),
}

/// Points of a body that were followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Markers {
    /// Name of the body; the only one where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Name of the take; the only one where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take: Option<String>,
    /// A table with the columns `frame`, `marker`, `x`, `y` and `z`, relative to the folder of the scene and inside it.
    pub file: String,
    /// Where the markers are when the video begins \[length\]; where the table has them at frame 0 if none are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<Vector>>,
    /// Standard deviation of each coordinate \[length\].
    pub deviation: f64,
}

/// A centre of mass that was followed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CentreOfMass {
    /// Name of the body; the only one where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Name of the take; the only one where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take: Option<String>,
    /// A table with the columns `frame`, `x`, `y` and `z`, relative to the folder of the scene and inside it.
    pub file: String,
    /// Standard deviation of each coordinate \[length\].
    pub deviation: f64,
}
