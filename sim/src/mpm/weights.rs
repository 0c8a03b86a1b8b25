//! Quadratic B-spline weights of the three nodes around a coordinate, one axis at a time.

use diffkern::prelude::*;

/// Weights of the nodes at offsets 0, 1, 2 from the base node; `f` is the distance to the base node in cells, in
/// `[0.5, 1.5)`. They sum to one, and the first moment `sum w_o (o - f)` is zero.
#[diff_fn]
pub fn quadratic<F: Float>(f: F) -> Vec3<F> {
    let a = 1.5 - f;
    let b = f - 1.0;
    let c = f - 0.5;
    Vec3::new(0.5 * a * a, 0.75 - b * b, 0.5 * c * c)
}
