//! Checks of numbers and vectors.

use crate::scene::bounds::Bounds;
use crate::scene::document::{Colour, Vector};
use crate::scene::tree::Fault;
pub(super) use crate::text::rounded;

pub(super) fn wrong<T>(path: &str, problem: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::new(path, problem))
}

/// Refuses a value outside its bounds, and says why they are.
pub(super) fn within(path: &str, value: f64, bounds: &Bounds) -> Result<(), Fault> {
    positive(path, value)?;
    let value = rounded(value);
    match (bounds.least..=bounds.most).contains(&value) {
        true => Ok(()),
        false => wrong(path, format!("{value:?}, {}", bounds.expected())),
    }
}

/// Refuses a vector with a component beyond a bound.
pub(super) fn at_most(path: &str, v: Vector, bounds: &Bounds) -> Result<(), Fault> {
    let v = v.map(rounded);
    match v.iter().all(|x| x.abs() <= bounds.most) {
        true => Ok(()),
        false => wrong(path, format!("{v:?}, {}", bounds.expected())),
    }
}

/// Refuses a value that is negative or beyond a bound.
pub(super) fn share(path: &str, value: f64, bounds: &Bounds) -> Result<(), Fault> {
    not_negative(path, value)?;
    match value <= bounds.most {
        true => Ok(()),
        false => wrong(path, format!("{value:?}, {}", bounds.expected())),
    }
}

pub(super) fn positive(path: &str, value: f64) -> Result<(), Fault> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => wrong(path, format!("{}, expected a positive number", rounded(value))),
    }
}

pub(super) fn not_negative(path: &str, value: f64) -> Result<(), Fault> {
    match value.is_finite() && value >= 0.0 {
        true => Ok(()),
        false => wrong(path, format!("{}, expected zero or a positive number", rounded(value))),
    }
}

pub(super) fn colour(path: &str, rgb: Colour) -> Result<(), Fault> {
    match rgb.iter().all(|v| (0.0..=1.0).contains(v)) {
        true => Ok(()),
        false => wrong(path, format!("{rgb:?}, expected red, green and blue in 0..1")),
    }
}

/// The unit vector along `v`.
pub(super) fn unit(path: &str, v: Vector) -> Result<Vector, Fault> {
    // Squares of what is very long or short are not finite, or zero.
    let largest = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let scaled = v.map(|x| x / largest);
    let length = dot(scaled, scaled).sqrt();
    match length.is_finite() && largest > 1e-9 {
        true => Ok(scaled.map(|x| x / length)),
        false => wrong(path, format!("{v:?}, expected a direction other than zero")),
    }
}

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
