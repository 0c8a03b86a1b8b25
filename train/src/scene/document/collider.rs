//! What bodies touch.

use super::Vector;
use super::contact::Contact;
use super::shape::{ColliderShape, Pose};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something rigid that bodies touch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Collider {
    /// What it looks like.
    pub shape: ColliderShape,
    /// Where it is when the video begins; not with a half-space, nor a box that is given by `min` and `max`.
    #[serde(default)]
    pub pose: Pose,
    /// How it moves; not at all where nothing is given.
    #[serde(default)]
    pub motion: Motion,
    /// What happens where a body touches it.
    pub contact: Contact,
    /// Coefficient of restitution of rigid bodies that bounce off it, 0 to 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub restitution: f64,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// A motion of constant velocity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Motion {
    /// Velocity of the origin of the shape \[length/time\].
    pub velocity: Vector,
    /// Angular velocity about it \[angle/time\].
    pub angular_velocity: Vector,
}
