//! Shapes of bodies and colliders, and where they are.

use super::Vector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a body looks like at rest. Its centre is the origin, which the body's pose moves; its axis, if it has one, is z.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BodyShape {
    /// A box.
    Box(BoxShape),
    /// A sphere.
    Sphere(Sphere),
    /// An ellipsoid.
    Ellipsoid(Ellipsoid),
    /// A cylinder with a half sphere at each end.
    Capsule(Capsule),
    /// A cylinder.
    Cylinder(Cylinder),
    /// A ring.
    Torus(Torus),
    /// A closed surface of triangles from a file.
    Mesh(MeshFile),
}

/// What a collider looks like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColliderShape {
    /// Everything below a plane, such as a floor.
    HalfSpace(HalfSpace),
    /// A box.
    Box(BoxShape),
    /// A sphere.
    Sphere(Sphere),
    /// A cylinder with a half sphere at each end.
    Capsule(Capsule),
}

/// A box: `size`, or the corners `min` and `max`, which say where it is as well.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoxShape {
    /// Lengths along x, y and z \[length\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Vector>,
    /// Corner with the smallest coordinates \[length\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Vector>,
    /// Corner with the greatest coordinates \[length\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Vector>,
}

/// A sphere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    /// Radius \[length\].
    pub radius: f64,
}

/// An ellipsoid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ellipsoid {
    /// Half axes along x, y and z \[length\].
    pub radii: Vector,
}

/// A cylinder along z with a half sphere at each end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capsule {
    /// Radius of the cylinder and of the half spheres \[length\].
    pub radius: f64,
    /// Length of the cylinder \[length\]; the capsule is longer by two radii.
    pub length: f64,
}

/// A cylinder along z.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    /// Radius \[length\].
    pub radius: f64,
    /// Height \[length\].
    pub height: f64,
}

/// A ring about z.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// Distance of the middle of the tube from the axis \[length\].
    pub radius: f64,
    /// Radius of the tube \[length\], less than `radius`.
    pub tube: f64,
}

/// A surface from a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshFile {
    /// The file, relative to the folder of the scene and inside it.
    pub file: String,
    /// Size of a unit of the file \[length\].
    #[serde(default = "one")]
    pub scale: f64,
}

/// Everything below a plane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HalfSpace {
    /// Direction out of the half-space, of any length.
    pub normal: Vector,
    /// A point of the plane \[length\]; the origin where none is given.
    #[serde(default)]
    pub point: Vector,
}

/// A rotation about the origin, then a translation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pose {
    /// Where the origin of the shape comes to be \[length\].
    pub position: Vector,
    /// Rotation vector: its direction is the axis, its length the angle \[angle\], by the right-hand rule.
    pub rotation: Vector,
}

fn one() -> f64 {
    1.0
}
