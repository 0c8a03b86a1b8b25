//! A scene as its author writes it, version 1: names, units and axes as in the file. `docs/scene.md` describes it to users.

mod units;
mod shape;
mod contact;
mod body;
mod collider;
mod push;
mod view;
mod take;
mod video;
mod observation;
mod unknown;
mod schema;

pub use body::{Axis, Body, Clamp, LawName, Load, Material, Relaxation, Side};
pub use collider::{Collider, Motion};
pub use contact::Contact;
pub use observation::{CentreOfMass, Markers, Observation};
pub use push::{At, Force, Impulse, Push};
pub use shape::{
    BodyShape, BoxShape, Capsule, ColliderShape, Cylinder, Ellipsoid, HalfSpace, MeshFile, Pose, Sphere, Torus,
};
pub use take::{Start, Take};
pub use units::{Angle, Axes, Density, Handedness, Length, Pressure, Time, Units, Up};
pub use unknown::{LogNormal, Normal, Prior, Range, Transform, Unknown};
pub use video::{Depth, Video, Weights};
pub use view::{Camera, Distortion, Light, Shutter};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Three components along x, y and z.
pub type Vector = [f64; 3];
/// Red, green and blue, linear, in 0..1.
pub type Colour = [f64; 3];

/// A scene: what moves, what it touches, who films it, and what is to be found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Version of this schema: 1.
    pub version: u32,
    /// Name of the scene, of which output folders are named: letters, digits, `-`, `_`, `.` and blanks.
    pub name: String,
    /// Units of all values; SI where none are given.
    #[serde(default)]
    pub units: Units,
    /// Directions of the coordinates; right-handed with z up where none are given.
    #[serde(default)]
    pub axes: Axes,
    /// Frames per second \[1/s\]; frame k is the state at `k / frame_rate`.
    pub frame_rate: f64,
    /// Number of frames, 2 to 10000.
    pub frames: u64,
    /// Acceleration of gravity \[length/time^2\].
    pub gravity: Vector,
    /// What moves, by name.
    pub bodies: BTreeMap<String, Body>,
    /// How bodies touch each other; needed where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_between_bodies: Option<Contact>,
    /// What bodies touch and do not move, by name.
    #[serde(default)]
    pub colliders: BTreeMap<String, Collider>,
    /// What pushes rigid bodies, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pushes: BTreeMap<String, Push>,
    /// Who films it, by name.
    pub cameras: BTreeMap<String, Camera>,
    /// What shines on it from afar, by name.
    pub lights: BTreeMap<String, Light>,
    /// Light from everywhere, times the albedo of a body.
    #[serde(default)]
    pub ambient: f64,
    /// Colour behind the bodies; black where none is given.
    #[serde(default)]
    pub background: Colour,
    /// Runs of the same bodies that begin in other ways, by name; a single one, as `bodies` says, where none are given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub takes: BTreeMap<String, Take>,
    /// The films, by name; one by the only camera, beside the scene's file, where none are given.
    #[serde(default)]
    pub videos: BTreeMap<String, Video>,
    /// What else was measured, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub observations: BTreeMap<String, Observation>,
    /// What is to be found, by path, such as `bodies.jelly.material.mu`.
    #[serde(default)]
    pub unknowns: BTreeMap<String, Unknown>,
}

impl Document {
    /// The names of the files of meshes.
    pub fn meshes(&self) -> impl Iterator<Item = &str> {
        self.bodies.values().filter_map(|body| match &body.shape {
            BodyShape::Mesh(mesh) => Some(mesh.file.as_str()),
            BodyShape::Box(_) | BodyShape::Sphere(_) | BodyShape::Ellipsoid(_) | BodyShape::Capsule(_) => None,
            BodyShape::Cylinder(_) | BodyShape::Torus(_) => None,
        })
    }
}
