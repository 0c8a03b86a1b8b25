//! The splines of a cell along one axis, at `s` from 0 to 1 across it.
//!
//! Control point `a` of 0, 1, 2 is at `s = a - 1/2`. Values sum to one and have the first moment `sum N_a (a - 1/2) = s`, as
//! polynomials, so that both hold beyond the cell too.

use diffkern::prelude::*;

/// `N_0 = (1 - s)^2 / 2`, `N_1 = 1/2 + s (1 - s)`, `N_2 = s^2 / 2`.
#[diff_fn]
pub fn spline_values<F: Float>(s: F) -> Vec3<F> {
    let t = 1.0 - s;
    Vec3::new(0.5 * t * t, 0.5 + s * t, 0.5 * s * s)
}

/// Their derivatives by `s`.
#[diff_fn]
pub fn spline_slopes<F: Float>(s: F) -> Vec3<F> {
    Vec3::new(s - 1.0, 1.0 - 2.0 * s, s)
}
