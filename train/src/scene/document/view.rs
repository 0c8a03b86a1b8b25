//! Who films it, and in what light.

use super::Vector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pinhole camera with square pixels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// Centre of projection \[length\].
    pub position: Vector,
    /// Point that is seen at the centre of the image \[length\].
    pub look_at: Vector,
    /// Direction that is up in the image; the axis that points up where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<Vector>,
    /// Vertical field of view \[angle\].
    pub vertical_fov: f64,
    /// Columns of the image, 1 to 8192.
    pub width: u64,
    /// Rows of the image, 1 to 8192.
    pub height: u64,
    /// Nearest depth that is drawn \[length\]; 0.01 m where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub near: Option<f64>,
    /// Farthest depth that is drawn \[length\]; 100 m where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub far: Option<f64>,
    /// How the lens bends straight lines; not at all where nothing is given.
    #[serde(default)]
    pub distortion: Distortion,
    /// Factor of all brightness.
    #[serde(default = "one")]
    pub exposure: f64,
    /// When light is let in; at the instants of the frames where nothing is given.
    #[serde(default)]
    pub shutter: Shutter,
    /// Standard deviation of the white noise of the sensor, as a part of white.
    #[serde(default)]
    pub noise: f64,
}

/// Radial and tangential distortion, by Brown's model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Distortion {
    /// Radial, times the square of the radius.
    pub k1: f64,
    /// Radial, times its fourth power.
    pub k2: f64,
    /// Radial, times its sixth power.
    pub k3: f64,
    /// Tangential, downwards.
    pub p1: f64,
    /// Tangential, to the right.
    pub p2: f64,
}

/// When light is let in, in intervals between frames about the time of a frame.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Shutter {
    /// When it opens, such as -0.25.
    pub open: f64,
    /// When it closes, such as 0.25.
    pub close: f64,
}

/// A light from afar, on Lambert surfaces, without shadows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Light {
    /// Direction towards the light, of any length.
    pub direction: Vector,
    /// Brightness of a white surface that faces it.
    pub intensity: f64,
}

fn one() -> f64 {
    1.0
}
