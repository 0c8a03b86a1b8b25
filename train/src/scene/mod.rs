//! What a video's `scene.json` says: geometry, camera, light, material law, floor and unknowns.
//! All lengths, masses, times and forces are in SI units, axes right-handed with z up.

mod tree;
pub mod document;
mod convert;
mod import;
mod folder;
mod version;
mod check;
mod read;

pub use folder::Access;
pub(crate) use read::{from_json, read_text};

use crate::text::quoted;
use diffkern_sim::mpm::Law;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A scene that has passed every check of [`Scene::read`].
#[derive(Debug, Clone, PartialEq)]
pub struct Scene {
    /// Name of the sequence.
    pub name: String,
    /// Frames per second \[1/s\]; frame k is the state at `k / frame_rate`.
    pub frame_rate: f64,
    /// Number of frames, at least 2.
    pub num_frames: usize,
    /// Acceleration of gravity \[m/s^2\].
    pub gravity: [f64; 3],
    /// The camera that filmed it.
    pub camera: Camera,
    /// Light and colours.
    pub shading: Shading,
    /// The elastic block.
    pub block: Block,
    /// Its material law and the constants that are known.
    pub material: Material,
    /// The half-space below the block, if there is one.
    pub floor: Option<Floor>,
    /// Material held fixed, if any is.
    pub clamp: Option<Clamp>,
    /// The parameters to find, with the ranges they lie in.
    pub unknowns: Vec<Range>,
    /// Things a person should know, such as fields that are not understood and were ignored.
    pub warnings: Vec<String>,
}

/// A pinhole camera with square pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Camera {
    /// Centre of projection \[m\].
    pub position: [f64; 3],
    /// Point that is seen at the centre of the image \[m\].
    pub look_at: [f64; 3],
    /// Direction that is up in the image.
    pub up: [f64; 3],
    /// Vertical field of view \[rad\].
    pub vertical_fov: f64,
    /// Columns of the image.
    pub width: usize,
    /// Rows of the image.
    pub height: usize,
    /// Nearest depth that is drawn \[m\].
    pub near: f64,
    /// Farthest depth that is drawn \[m\]; a block that gets beyond is an error, not cut.
    pub far: f64,
}

/// One directional light and Lambert colours, all in 0..1, linear.
#[derive(Debug, Clone, PartialEq)]
pub struct Shading {
    /// Unit vector towards the light.
    pub to_light: [f64; 3],
    /// Intensity of the light.
    pub intensity: f64,
    /// Ambient part.
    pub ambient: f64,
    /// Colour of the object.
    pub albedo: [f64; 3],
    /// Colour behind it.
    pub background: [f64; 3],
}

/// An axis-aligned block, stress free at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Lower corner \[m\].
    pub min: [f64; 3],
    /// Upper corner \[m\].
    pub max: [f64; 3],
    /// Density \[kg/m^3\].
    pub density: f64,
    /// Velocity of the centre at t = 0 \[m/s\].
    pub velocity: [f64; 3],
    /// Angular velocity about the centre at t = 0 \[rad/s\].
    pub angular_velocity: [f64; 3],
}

/// Constitutive model with the constants that are known.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// One of the simulator's list.
    pub law: Law,
    /// Newtonian viscosity eta of the Cauchy stress `eta (L + L^T)` \[Pa s\], zero if there is none.
    pub viscosity: f64,
    /// Constants that the scene gives, for parameters that are not unknown \[Pa\].
    pub known: Vec<(Name, f64)>,
}

/// A fixed half-space.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// A point of its surface \[m\].
    pub point: [f64; 3],
    /// Unit normal, out of the floor.
    pub normal: [f64; 3],
    /// Coulomb friction, zero for a frictionless floor.
    pub friction: f64,
}

/// Material that does not move.
#[derive(Debug, Clone, PartialEq)]
pub struct Clamp {
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Where the held part ends \[m\], in the rest position.
    pub plane: f64,
    /// Whether the held part lies above the plane; below otherwise.
    pub above: bool,
}

/// A parameter that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Name {
    /// Shear modulus, first Lame parameter of the energy \[Pa\].
    Mu,
    /// Second Lame parameter \[Pa\].
    Lambda,
}

impl Name {
    /// Every parameter.
    pub const ALL: [Self; 2] = [Self::Mu, Self::Lambda];

    /// The key in `scene.json` and `result.json`.
    pub fn key(self) -> &'static str {
        match self {
            Self::Mu => "mu",
            Self::Lambda => "lambda",
        }
    }

    /// SI unit.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Mu | Self::Lambda => "Pa",
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl TryFrom<String> for Name {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.key().into()
    }
}

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::key).join(", ");
        Self::ALL
            .into_iter()
            .find(|name| name.key() == text)
            .ok_or_else(|| format!("unknown parameter {}, expected one of {}", quoted(text), known()))
    }
}

/// Where an unknown lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// Which parameter.
    pub name: Name,
    /// Least value, positive.
    pub min: f64,
    /// Greatest value.
    pub max: f64,
}
