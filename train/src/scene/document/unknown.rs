//! What is to be found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value that is to be found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    /// Least and greatest value, in the unit of the value.
    pub range: Range,
    /// The coordinate in which it is searched for.
    #[serde(default)]
    pub transform: Transform,
    /// What is known of it beforehand; nothing but its range where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Prior>,
    /// Numbers of pieces along x, y and z that the box around the body is cut into, each with a value of its own, for a property of
    /// a material that varies; one value for the whole body where none are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<[u32; 3]>,
}

/// Least and greatest value of a number, or of each component of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected [least, greatest], or three of them for a vector")]
pub enum Range {
    /// Of a number.
    Number([f64; 2]),
    /// Of a vector.
    Vector([[f64; 2]; 3]),
}

/// The coordinate in which a value is searched for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// As the method prefers.
    #[default]
    Auto,
    /// The value itself.
    Linear,
    /// Its logarithm; the range is positive.
    Log,
    /// The logarithm of its distance from one end of the range over that from the other.
    Logit,
}

/// A distribution that is known beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Prior {
    /// Normal, of a number.
    Normal(Normal),
    /// Normal of the logarithm.
    LogNormal(LogNormal),
}

/// A normal distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// Its mean, in the unit of the value.
    pub mean: f64,
    /// Its standard deviation, in the unit of the value.
    pub deviation: f64,
}

/// A distribution whose logarithm is normal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogNormal {
    /// The value that half of all lie below, in the unit of the value.
    pub median: f64,
    /// Standard deviation of the logarithm.
    pub deviation: f64,
}
