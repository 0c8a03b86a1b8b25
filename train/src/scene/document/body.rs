//! What moves, and what it is made of.

use super::shape::{BodyShape, Pose};
use super::{Colour, Vector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A body: elastic and stress free at rest, or rigid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// What it looks like at rest.
    pub shape: BodyShape,
    /// Where it is when the video begins; not with a box that is given by `min` and `max`.
    #[serde(default)]
    pub pose: Pose,
    /// Velocity of its centre of mass when the video begins \[length/time\].
    #[serde(default)]
    pub velocity: Vector,
    /// Angular velocity about its centre of mass when the video begins \[angle/time\].
    #[serde(default)]
    pub angular_velocity: Vector,
    /// Density \[density\]. Of a rigid body that has a mass or density to be found it may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Mass of a rigid body \[kg\], spread evenly, in place of its density.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// What it is made of.
    pub material: Material,
    /// Its colour: the part of red, green and blue light that it gives back.
    pub albedo: Colour,
    /// Parts of it that are held.
    #[serde(default)]
    pub clamps: Vec<Clamp>,
    /// A weight that hangs on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Load>,
}

/// A point mass that moves with a point of an elastic body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// The point when the video begins, on or in the body \[length\].
    pub at: Vector,
    /// Its mass \[kg\]; may be left out where `unknowns` lists it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
}

/// A constitutive model and its constants: `mu` and `lambda`, or `young` and `poisson`. Those that `unknowns` lists may be left
/// out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// The constitutive model.
    pub law: LawName,
    /// Shear modulus, first Lame parameter \[pressure\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mu: Option<f64>,
    /// Second Lame parameter \[pressure\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// Young's modulus \[pressure\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub young: Option<f64>,
    /// Poisson's ratio, in 0..0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poisson: Option<f64>,
    /// Newtonian viscosity eta of the stress `eta (L + L^T)` \[pressure time\].
    #[serde(default)]
    pub viscosity: f64,
    /// Rate at which velocities decay, Rayleigh's damping by mass \[1/time\].
    #[serde(default)]
    pub damping: f64,
    /// A spring and a dashpot in series beside the elastic law (Maxwell).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relaxation: Option<Relaxation>,
}

/// What a material is stiffer by when it is deformed fast, and how soon it forgets that. Both may be left out where `unknowns` lists them: `{}` then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Relaxation {
    /// Shear modulus of the spring \[pressure\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modulus: Option<f64>,
    /// Relaxation time: of a stress by a deformation that is held, a part of 1/e of what the spring adds is left after it \[time\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
}

/// A constitutive model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LawName {
    /// Energy `mu/2 (tr(F^T F) - 3) - mu ln J + lambda/2 (ln J)^2`.
    NeoHookean,
    /// Energy `mu |F - R|^2 + lambda/2 (J - 1)^2`.
    FixedCorotated,
    /// Stable neo-Hookean.
    StableNeoHookean,
    /// None: the body is rigid, and has no constants.
    Rigid,
}

/// The part of a body on one side of a plane, in the position at rest, which does not move.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clamp {
    /// The axis that the plane is normal to.
    pub axis: Axis,
    /// Where the plane is on the axis \[length\].
    pub plane: f64,
    /// The side that is held.
    pub side: Side,
}

/// An axis of the coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

/// A side of a plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Smaller coordinates than the plane.
    Below,
    /// Greater coordinates than the plane.
    Above,
}
