//! Units and axes of a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Units of the values of a scene. A velocity is in `length/time`, an acceleration in `length/time^2`, an angular velocity in
/// `angle/time`, a viscosity in `pressure time`. Frame rates are always in 1/s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Units {
    /// Of lengths and positions.
    pub length: Length,
    /// Of times.
    pub time: Time,
    /// Of angles.
    pub angle: Angle,
    /// Of densities.
    pub density: Density,
    /// Of moduli.
    pub pressure: Pressure,
}

/// A unit of length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Length {
    /// Metre.
    #[default]
    #[serde(rename = "m")]
    Metre,
    /// Centimetre.
    #[serde(rename = "cm")]
    Centimetre,
    /// Millimetre.
    #[serde(rename = "mm")]
    Millimetre,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Time {
    /// Second.
    #[default]
    #[serde(rename = "s")]
    Second,
    /// Millisecond.
    #[serde(rename = "ms")]
    Millisecond,
}

/// A unit of angles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Angle {
    /// Radian.
    #[default]
    #[serde(rename = "rad")]
    Radian,
    /// Degree.
    #[serde(rename = "deg")]
    Degree,
}

/// A unit of density.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Density {
    /// Kilogram per cubic metre.
    #[default]
    #[serde(rename = "kg/m^3")]
    KilogramPerCubicMetre,
    /// Gram per cubic centimetre.
    #[serde(rename = "g/cm^3")]
    GramPerCubicCentimetre,
}

/// A unit of pressure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Pressure {
    /// Pascal.
    #[default]
    #[serde(rename = "Pa")]
    Pascal,
    /// Kilopascal.
    #[serde(rename = "kPa")]
    Kilopascal,
    /// Megapascal.
    #[serde(rename = "MPa")]
    Megapascal,
}

/// Directions of the coordinates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Axes {
    /// The axis that points up.
    pub up: Up,
    /// Whether x, y and z are as thumb, index and middle finger of the right hand.
    pub handedness: Handedness,
}

/// The axis that points up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Up {
    /// As in engineering: `(x, y, z)` is taken as it is.
    #[default]
    Z,
    /// As in most programs for pictures: `(x, y, z)` becomes `(x, -z, y)`.
    Y,
}

/// The hand by whose fingers x, y and z point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Handedness {
    /// The right hand, the only one that is taken.
    #[default]
    Right,
}

impl Length {
    /// Metres of one unit.
    pub fn metres(self) -> f64 {
        match self {
            Self::Metre => 1.0,
            Self::Centimetre => 1e-2,
            Self::Millimetre => 1e-3,
        }
    }
}

impl Time {
    /// Seconds of one unit.
    pub fn seconds(self) -> f64 {
        match self {
            Self::Second => 1.0,
            Self::Millisecond => 1e-3,
        }
    }
}

impl Angle {
    /// Radians of one unit.
    pub fn radians(self) -> f64 {
        match self {
            Self::Radian => 1.0,
            Self::Degree => std::f64::consts::PI / 180.0,
        }
    }
}

impl Density {
    /// Kilograms per cubic metre of one unit.
    pub fn kilograms_per_cubic_metre(self) -> f64 {
        match self {
            Self::KilogramPerCubicMetre => 1.0,
            Self::GramPerCubicCentimetre => 1e3,
        }
    }
}

impl Pressure {
    /// Pascals of one unit.
    pub fn pascals(self) -> f64 {
        match self {
            Self::Pascal => 1.0,
            Self::Kilopascal => 1e3,
            Self::Megapascal => 1e6,
        }
    }
}
