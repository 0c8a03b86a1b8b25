//! Units of what a document holds, and their SI units.

use crate::scene::document::Units;

/// What a number measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scene) enum Measure {
    /// Without a unit.
    Ratio,
    Length,
    Angle,
    Density,
    Pressure,
    Viscosity,
    Velocity,
    AngularVelocity,
    Acceleration,
}

impl Measure {
    /// SI units in one unit of a document.
    fn factor(self, units: &Units) -> f64 {
        let (length, time, angle) = (units.length.metres(), units.time.seconds(), units.angle.radians());
        match self {
            Self::Ratio => 1.0,
            Self::Length => length,
            Self::Angle => angle,
            Self::Density => units.density.kilograms_per_cubic_metre(),
            Self::Pressure => units.pressure.pascals(),
            Self::Viscosity => units.pressure.pascals() * time,
            Self::Velocity => length / time,
            Self::AngularVelocity => angle / time,
            Self::Acceleration => length / (time * time),
        }
    }

    /// A value in its SI unit.
    pub(super) fn si(self, value: f64, units: &Units) -> f64 {
        let factor = self.factor(units);
        // A thousandth is no binary number, a thousand is: so 155 mm become the number that 0.155 m are.
        if factor < 1.0 { value / (1.0 / factor).round_if_whole() } else { value * factor.round_if_whole() }
    }
}

trait Whole {
    /// The whole number that this is but for rounding.
    fn round_if_whole(self) -> Self;
}

impl Whole for f64 {
    fn round_if_whole(self) -> Self {
        let whole = self.round();
        if (self / whole - 1.0).abs() < 1e-12 { whole } else { self }
    }
}
