//! Rotation factor of the polar decomposition `F = R S`.
//!
//! The gradient is that of the computation below, iteration included, and stays finite where singular values coincide
//! (an SVD's does not). It needs `det F != 0`; for `det F < 0` the result is the nearest reflection.

use diffkern::prelude::*;

/// Rotation of a 2x2 matrix, in closed form: the direction of `(F00 + F11, F10 - F01)`.
#[diff_fn]
pub fn polar_2d<F: Float>(f: Mat2<F>) -> Mat2<F> {
    let c = f[(0, 0)] + f[(1, 1)];
    let s = f[(1, 0)] - f[(0, 1)];
    let r = (c * c + s * s).sqrt();
    Mat2::new(c / r, -s / r, s / r, c / r)
}

/// Rotation of a 3x3 matrix by Newton's iteration `R <- (g R + R^-T / g) / 2` with Higham's Frobenius scaling `g`.
///
/// Eight turns reach f64 rounding for condition numbers up to 1e4; convergence is quadratic.
///
/// Source: Higham, Computing the polar decomposition - with applications, 1986.
#[diff_fn]
pub fn polar_3d<F: Float>(f: Mat3<F>) -> Mat3<F> {
    let mut r = f;
    for _turn in 0..8 {
        let inverse = r.inverse().transpose();
        let g = (inverse.ddot(inverse) / r.ddot(r)).sqrt().sqrt();
        r = (r * g + inverse / g) * 0.5;
    }
    r
}
