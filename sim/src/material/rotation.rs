//! Rotation factor of the polar decomposition `F = R S`.
//!
//! The gradient is that of the computation below, iteration included, and stays finite where singular values coincide
//! (an SVD's does not). It needs `det F != 0`; for `det F < 0` the result is the nearest reflection.

use diffkern::prelude::*;

/// Rotation of a matrix: of 2x2 in closed form, the direction of `(F00 + F11, F10 - F01)`; of 3x3 by Newton's iteration
/// `R <- (g R + R^-T / g) / 2` with Higham's Frobenius scaling `g`.
///
/// Eight iterations reach f64 rounding for condition numbers up to 1e4; convergence is quadratic.
///
/// Source: Higham, Computing the polar decomposition - with applications, 1986.
#[diff_fn(dims(2, 3))]
pub fn polar<F: Float, const D: usize>(f: Matrix<F, D>) -> Matrix<F, D> {
    let mut r = f;
    if D == 2 {
        let c = f[(0, 0)] + f[(1, 1)];
        let s = f[(1, 0)] - f[(0, 1)];
        let length = (c * c + s * s).sqrt();
        r = Mat2::new(c / length, -s / length, s / length, c / length);
    } else {
        for _iteration in 0..8 {
            let inverse = r.inverse().transpose();
            let g = (inverse.ddot(inverse) / r.ddot(r)).sqrt().sqrt();
            r = (r * g + inverse / g) * 0.5;
        }
    }
    r
}
