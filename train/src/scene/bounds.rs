//! Bounds of the numbers of a scene, and why they are.
//!
//! They are wide of everything that can be filmed. Beyond them squares, products and quotients of these numbers leave the
//! range of reals, or pictures show nothing.

/// Least and most of a value.
#[derive(Debug)]
pub(in crate::scene) struct Bounds {
    pub(in crate::scene) least: f64,
    pub(in crate::scene) most: f64,
    unit: &'static str,
    why: &'static str,
}

impl Bounds {
    /// What was expected, and why.
    pub(in crate::scene) fn expected(&self) -> String {
        let Self { least, most, unit, why } = self;
        format!("expected {least:?} to {most:?}{unit}: {why}")
    }
}

const fn bounds(least: f64, most: f64, unit: &'static str, why: &'static str) -> Bounds {
    Bounds { least, most, unit, why }
}

pub(in crate::scene) const FRAME_RATE: Bounds = bounds(1e-6, 1e9, " 1/s", "no camera is slower or faster");
pub(in crate::scene) const GRAVITY: Bounds = bounds(0.0, 1e12, " m/s^2", "a neutron star has no more");
pub(in crate::scene) const DENSITY: Bounds =
    bounds(1e-3, 1e6, " kg/m^3", "gases are denser than that, and metals a hundred times lighter");
pub(in crate::scene) const MASS: Bounds =
    bounds(1e-12, 1e18, " kg", "dust is heavier than that, and mountains are lighter");
pub(in crate::scene) const PUSH: Bounds =
    bounds(0.0, 1e18, "", "squares of more are beyond the reals of the simulator");
pub(in crate::scene) const RESTITUTION: Bounds = bounds(0.0, 1.0, "", "nothing bounces higher than it fell");
pub(in crate::scene) const SIDE: Bounds =
    bounds(1e-6, 1e6, " m", "cells would be too small or too large for their positions");
pub(in crate::scene) const PLACE: Bounds =
    bounds(0.0, 1e6, " m", "further out, positions are too coarse for the cells of a block");
pub(in crate::scene) const TURN: Bounds =
    bounds(0.0, 1e6, " rad", "a turn of that many revolutions has lost its digits");
pub(in crate::scene) const SPEED: Bounds = bounds(0.0, 3e8, " m/s", "nothing is faster than light");
pub(in crate::scene) const SPIN: Bounds = bounds(0.0, 1e12, " rad/s", "its corners would be faster than light");
pub(in crate::scene) const MODULUS: Bounds = bounds(1e-3, 1e13, " Pa", "diamond is softer, and foam is stiffer");
pub(in crate::scene) const RATIO: Bounds =
    bounds(0.0, 0.499, "", "at 0.5 a body cannot be compressed, and steps would be endlessly short");
pub(in crate::scene) const VISCOSITY: Bounds = bounds(0.0, 1e12, " Pa s", "glass that sets has no more");
pub(in crate::scene) const BRANCH: Bounds = bounds(0.0, 1e13, " Pa", "diamond is softer");
pub(in crate::scene) const RELAXATION_TIME: Bounds =
    bounds(1e-9, 1e9, " s", "a shorter one is a viscosity, and a longer one a stiffer solid");
pub(in crate::scene) const DAMPING: Bounds = bounds(0.0, 1e9, " 1/s", "nothing moves against more");
pub(in crate::scene) const LOAD: Bounds = bounds(0.0, 1e18, " kg", "mountains are lighter");
pub(in crate::scene) const FRICTION: Bounds = bounds(0.0, 1e3, "", "more holds as well");
pub(in crate::scene) const FIELD_OF_VIEW: Bounds = bounds(
    0.01,
    170.0,
    " degrees",
    "a narrower one sees less than a telescope, and a wider one has its edges at infinity",
);
pub(in crate::scene) const ANGLE_OF_VIEW: Bounds = bounds(
    1.7e-4,
    2.97,
    " rad",
    "a narrower one sees less than a telescope, and a wider one has its edges at infinity",
);
pub(in crate::scene) const DISTANCE: Bounds = bounds(1e-9, 1e9, " m", "depths would no longer be told apart");
pub(in crate::scene) const DEVIATION: Bounds =
    bounds(1e-9, 1e3, " m", "nothing is measured better than that, and nothing is told by what is worse");
pub(in crate::scene) const EXPOSURE: Bounds = bounds(1e-3, 1e3, "", "pictures would be black or white");
pub(in crate::scene) const DISTORTION: Bounds = bounds(0.0, 10.0, "", "no lens that shows a picture has more");
pub(in crate::scene) const NOISE: Bounds =
    bounds(0.0, 1.0, "", "more than white and black are apart leaves no picture");
pub(in crate::scene) const WEIGHT: Bounds = bounds(0.0, 1e6, "", "beside it nothing else would count");
pub(in crate::scene) const LIGHT: Bounds = bounds(0.0, 1e3, "", "colours are clipped at 1, so that all would be white");
