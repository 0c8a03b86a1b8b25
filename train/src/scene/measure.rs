//! Units of what a document holds, and their SI units.

use crate::scene::document::Units;

/// What a number measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scene) enum Measure {
    /// Without a unit.
    Ratio,
    Length,
    Time,
    Angle,
    Density,
    /// In kilograms in every document.
    Mass,
    Pressure,
    Viscosity,
    Velocity,
    AngularVelocity,
    Acceleration,
    /// Of a decay.
    Rate,
}

impl Measure {
    /// Its SI unit.
    pub(in crate::scene) fn unit(self) -> &'static str {
        match self {
            Self::Ratio => "1",
            Self::Length => "m",
            Self::Time => "s",
            Self::Angle => "rad",
            Self::Density => "kg/m^3",
            Self::Mass => "kg",
            Self::Pressure => "Pa",
            Self::Viscosity => "Pa s",
            Self::Velocity => "m/s",
            Self::AngularVelocity => "rad/s",
            Self::Acceleration => "m/s^2",
            Self::Rate => "1/s",
        }
    }

    /// SI units in one unit of a document.
    fn factor(self, units: &Units) -> f64 {
        let (length, time, angle) = (units.length.metres(), units.time.seconds(), units.angle.radians());
        match self {
            Self::Ratio | Self::Mass => 1.0,
            Self::Length => length,
            Self::Time => time,
            Self::Angle => angle,
            Self::Density => units.density.kilograms_per_cubic_metre(),
            Self::Pressure => units.pressure.pascals(),
            Self::Viscosity => units.pressure.pascals() * time,
            Self::Velocity => length / time,
            Self::AngularVelocity => angle / time,
            Self::Acceleration => length / (time * time),
            Self::Rate => 1.0 / time,
        }
    }

    /// A value in its SI unit.
    pub(in crate::scene) fn si(self, value: f64, units: &Units) -> f64 {
        let factor = self.factor(units);
        let digits = factor.log10().round();
        match (factor / 10f64.powf(digits) - 1.0).abs() < 1e-12 {
            true => shifted(value, digits as i32),
            false => value * factor,
        }
    }
}

/// The number whose decimal point is `digits` further right. A product would be rounded: 9.81 is not a thousand times the number
/// next to 0.00981.
fn shifted(value: f64, digits: i32) -> f64 {
    let text = format!("{value:e}");
    let moved = text.split_once('e').and_then(|(decimals, exponent)| {
        let exponent: i32 = exponent.parse().ok()?;
        format!("{decimals}e{}", exponent + digits).parse().ok()
    });
    moved.unwrap_or(value)
}
