//! Bounds of the numbers of a scene, and why they are.
//!
//! They are wide of everything that can be filmed. Beyond them squares, products and quotients of these numbers leave the
//! range of reals, or pictures show nothing.

/// Least and most of a value.
pub(super) struct Bounds {
    pub(super) least: f64,
    pub(super) most: f64,
    unit: &'static str,
    why: &'static str,
}

impl Bounds {
    /// What was expected, and why.
    pub(super) fn expected(&self) -> String {
        let Self { least, most, unit, why } = self;
        format!("expected {least:?} to {most:?}{unit}: {why}")
    }
}

const fn bounds(least: f64, most: f64, unit: &'static str, why: &'static str) -> Bounds {
    Bounds { least, most, unit, why }
}

pub(super) const FRAME_RATE: Bounds = bounds(1e-6, 1e9, " 1/s", "no camera is slower or faster");
pub(super) const GRAVITY: Bounds = bounds(0.0, 1e12, " m/s^2", "a neutron star has no more");
pub(super) const DENSITY: Bounds =
    bounds(1e-3, 1e6, " kg/m^3", "gases are denser than that, and metals a hundred times lighter");
pub(super) const SIDE: Bounds = bounds(1e-6, 1e6, " m", "cells would be too small or too large for their positions");
pub(super) const PLACE: Bounds =
    bounds(0.0, 1e6, " m", "further out, positions are too coarse for the cells of a block");
pub(super) const TURN: Bounds = bounds(0.0, 1e6, " rad", "a turn of that many revolutions has lost its digits");
pub(super) const SPEED: Bounds = bounds(0.0, 3e8, " m/s", "nothing is faster than light");
pub(super) const SPIN: Bounds = bounds(0.0, 1e12, " rad/s", "its corners would be faster than light");
pub(super) const MODULUS: Bounds = bounds(1e-3, 1e13, " Pa", "diamond is softer, and foam is stiffer");
pub(super) const VISCOSITY: Bounds = bounds(0.0, 1e12, " Pa s", "glass that sets has no more");
pub(super) const FRICTION: Bounds = bounds(0.0, 1e3, "", "more holds as well");
pub(super) const FIELD_OF_VIEW: Bounds = bounds(
    0.01,
    170.0,
    " degrees",
    "a narrower one sees less than a telescope, and a wider one has its edges at infinity",
);
pub(super) const DISTANCE: Bounds = bounds(1e-9, 1e9, " m", "depths would no longer be told apart");
pub(super) const NOISE: Bounds = bounds(0.0, 1.0, "", "more than white and black are apart leaves no picture");
pub(super) const LIGHT: Bounds = bounds(0.0, 1e3, "", "colours are clipped at 1, so that all would be white");
