//! Compressible neo-Hookean solid: energy `mu/2 (tr(F^T F) - d) - mu ln J + lambda/2 (ln J)^2`, `J = det F`.
//!
//! Kirchhoff stress `tau = mu (F F^T - I) + lambda ln(J) I`. Defined for `J > 0` only; [`crate::Step::check`]
//! refuses a state that has left that range.

use super::Material;
use diffkern::prelude::*;

/// The compressible neo-Hookean solid.
#[derive(Clone, Copy, Debug)]
pub struct NeoHookean;

#[diff_impl(dims(2, 3))]
impl Material for NeoHookean {
    fn kirchhoff<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> Matrix<F, D> {
        let strain = f * f.transpose() - Matrix::<F, D>::identity();
        strain * mu + Matrix::<F, D>::identity() * (lambda * f.determinant().ln())
    }

    fn energy<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> F {
        let rest = Matrix::<F, D>::identity();
        let log = f.determinant().ln();
        mu * 0.5 * (f.ddot(f) - rest.ddot(rest)) - mu * log + lambda * 0.5 * log * log
    }
}
