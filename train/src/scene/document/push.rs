//! What pushes rigid bodies.

use super::Vector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that pushes a rigid body, in every take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Push {
    /// For some time.
    Force(Force),
    /// At an instant.
    Impulse(Impulse),
}

/// A constant force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Force {
    /// Name of the body; the only one where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Its components along the axes of the scene \[N\].
    pub vector: Vector,
    /// Where it acts; at the centre of mass where nothing is given.
    #[serde(default)]
    pub at: At,
    /// When it begins and ends \[time\].
    pub interval: [f64; 2],
}

/// An impulse.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Impulse {
    /// Name of the body; the only one where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Its components along the axes of the scene \[N s\].
    pub vector: Vector,
    /// Where it acts; at the centre of mass where nothing is given.
    #[serde(default)]
    pub at: At,
    /// When it acts \[time\].
    pub time: f64,
}

/// Where a push acts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// At a point in the frame of the shape, before its pose, which moves with the body \[length\]; of a box that is given by `min` and `max` from its
    /// centre.
    Body(Vector),
    /// So far from the centre of mass, along the axes of the scene however the body is turned then \[length\].
    Centre(Vector),
}

impl Default for At {
    fn default() -> Self {
        Self::Centre([0.0; 3])
    }
}
