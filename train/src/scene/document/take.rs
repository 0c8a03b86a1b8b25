//! Several runs of what a scene holds.

use super::Vector;
use super::shape::Pose;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A run of the scene: the same bodies of the same materials, begun in another way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Take {
    /// How bodies begin, by name; those that are not listed begin as `bodies` says.
    pub bodies: BTreeMap<String, Start>,
}

/// How a body begins in a take; what is not given is as `bodies` says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Start {
    /// Where the body is when the video begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pose: Option<Pose>,
    /// Velocity of its centre of mass when the video begins \[length/time\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub velocity: Option<Vector>,
    /// Angular velocity about its centre of mass when the video begins \[angle/time\].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub angular_velocity: Option<Vector>,
}
