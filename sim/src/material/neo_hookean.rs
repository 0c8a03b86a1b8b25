//! Compressible neo-Hookean solid: energy `mu/2 (tr(F^T F) - d) - mu ln J + lambda/2 (ln J)^2`, `J = det F`.
//!
//! Kirchhoff stress `tau = mu (F F^T - I) + lambda ln(J) I`. Defined for `J > 0` only; [`crate::mpm::Solver::check`]
//! refuses a state that has left that range.

use super::Material;
use diffkern::prelude::*;

/// The compressible neo-Hookean solid.
#[derive(Clone, Copy, Debug)]
pub struct NeoHookean;

#[diff_impl]
impl Material for NeoHookean {
    fn kirchhoff_2d<F: Float>(f: Mat2<F>, mu: F, lambda: F) -> Mat2<F> {
        let strain = f * f.transpose() - Mat2::identity();
        strain * mu + Mat2::identity() * (lambda * f.determinant().ln())
    }

    fn kirchhoff_3d<F: Float>(f: Mat3<F>, mu: F, lambda: F) -> Mat3<F> {
        let strain = f * f.transpose() - Mat3::identity();
        strain * mu + Mat3::identity() * (lambda * f.determinant().ln())
    }
}
