//! The films of a scene.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A film of the scene: `frame_0000.png` and so on in a folder for each kind of picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Video {
    /// Name of the camera; the only one where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<String>,
    /// Name of the take; the only one where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub take: Option<String>,
    /// Folder of the silhouettes, relative to that of the scene and inside it.
    pub silhouette: String,
    /// Folder of the shaded pictures.
    pub shaded: String,
    /// Folder of the masks, white where pixels count; all count where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub masks: Option<String>,
    /// Frames of depth; none where nothing is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<Depth>,
    /// How much each kind of picture counts.
    pub weights: Weights,
}

/// Frames of a depth camera: grey pictures of 16 bits, 0 where nothing was measured, named as the other pictures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Depth {
    /// Folder of the pictures.
    pub folder: String,
    /// Depth along the optical axis that a count stands for \[length\]; a millimetre where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// Standard deviation of a depth \[length\].
    pub deviation: f64,
}

impl Default for Video {
    fn default() -> Self {
        Self {
            camera: None,
            take: None,
            silhouette: "silhouette".into(),
            shaded: "shaded".into(),
            masks: None,
            depth: None,
            weights: Weights::default(),
        }
    }
}

/// How much each kind of picture counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Weights {
    /// Of the silhouettes; 1 where none is given.
    pub silhouette: f64,
    /// Of the colours of the shaded pictures; 0 where none is given.
    pub shaded: f64,
    /// Of the depths; 1 where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<f64>,
}

impl Default for Weights {
    fn default() -> Self {
        Self { silhouette: 1.0, shaded: 0.0, depth: None }
    }
}
