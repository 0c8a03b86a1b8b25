//! How exact numbers of a device are.

use diffkern::Float;

/// Distance of 1 from the next larger number.
pub(crate) fn epsilon<F: Float>() -> f64 {
    [f64::from(f32::EPSILON), f64::EPSILON].into_iter().filter(|&e| F::from_f64(1.0 + e) > F::one()).fold(1.0, f64::min)
}
