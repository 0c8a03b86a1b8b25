//! The fields of `scene.json` as they stand in the file, before any check of their values.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

type Rest = Map<String, Value>;

/// What every kind of scene has; fields that are not listed end up in `rest`.
#[derive(Deserialize)]
pub(super) struct Header {
    pub name: String,
    pub kind: String,
    pub duration: f64,
    pub frame_rate: f64,
    pub num_frames: u64,
    pub gravity: [f64; 3],
    pub camera: Camera,
    pub shading: Shading,
    pub object: Value,
    pub material: Option<Value>,
    pub floor: Option<Floor>,
    pub clamp: Option<Clamp>,
    pub unknowns: BTreeMap<String, Unknown>,
    #[serde(flatten)]
    pub rest: Rest,
}

#[derive(Deserialize)]
pub(super) struct Camera {
    pub model: String,
    pub position: [f64; 3],
    pub look_at: [f64; 3],
    pub up: [f64; 3],
    pub vertical_fov_deg: f64,
    pub width: u64,
    pub height: u64,
    pub near: f64,
    pub far: f64,
    #[serde(flatten)]
    pub rest: Rest,
}

#[derive(Deserialize)]
pub(super) struct Shading {
    pub light_direction_to_light: [f64; 3],
    pub light_intensity: f64,
    pub ambient: f64,
    pub albedo_rgb: [f64; 3],
    pub background_rgb: [f64; 3],
    #[serde(flatten)]
    pub rest: Rest,
}

#[derive(Deserialize)]
pub(super) struct Block {
    #[serde(rename = "type")]
    pub kind: String,
    pub block_min: [f64; 3],
    pub block_max: [f64; 3],
    pub density: f64,
    pub initial_velocity: [f64; 3],
    #[serde(default)]
    pub initial_angular_velocity: [f64; 3],
    #[serde(default)]
    pub initial_deformation: Option<String>,
    #[serde(flatten)]
    pub rest: Rest,
}

#[derive(Deserialize)]
pub(super) struct Material {
    pub model: String,
    #[serde(default)]
    pub damping: Option<Damping>,
    #[serde(default)]
    pub mu: Option<f64>,
    #[serde(default)]
    pub lambda: Option<f64>,
    #[serde(flatten)]
    pub rest: Rest,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected \"none\" or an object with a number eta")]
pub(super) enum Damping {
    Text(String),
    Viscous {
        eta: f64,
        #[serde(default)]
        known: Option<bool>,
    },
}

#[derive(Deserialize)]
pub(super) struct Floor {
    pub point: [f64; 3],
    pub normal: [f64; 3],
    pub contact: String,
    #[serde(default)]
    pub friction: Option<f64>,
    #[serde(flatten)]
    pub rest: Rest,
}

#[derive(Deserialize)]
pub(super) struct Clamp {
    pub axis: String,
    pub plane: f64,
    #[serde(default)]
    pub description: String,
}

/// Other kinds of scene may have ranges of vectors here, so the range is read by the check.
#[derive(Deserialize)]
pub(super) struct Unknown {
    pub range: Value,
}
