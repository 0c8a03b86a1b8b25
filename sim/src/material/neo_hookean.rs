//! Compressible neo-Hookean solid: energy `mu/2 (tr(F^T F) - d) - mu ln J + lambda/2 (ln J)^2`, `J = det F`.
//!
//! Kirchhoff stress `tau = mu (F F^T - I) + lambda ln(J) I`. Defined for `J > 0` only; [`crate::mpm::Solver::check`]
//! refuses a state that has left that range.

use diffkern::prelude::*;

/// Kirchhoff stress \[Pa\] of a plane deformation gradient `f`, with Lamé parameters `mu`, `lambda` \[Pa\].
#[diff_fn]
pub fn neo_hookean_2d<F: Float>(f: Mat2<F>, mu: F, lambda: F) -> Mat2<F> {
    let strain = f * f.transpose() - Mat2::identity();
    strain * mu + Mat2::identity() * (lambda * f.determinant().ln())
}

/// Kirchhoff stress \[Pa\] of a deformation gradient `f`, with Lamé parameters `mu`, `lambda` \[Pa\].
#[diff_fn]
pub fn neo_hookean_3d<F: Float>(f: Mat3<F>, mu: F, lambda: F) -> Mat3<F> {
    let strain = f * f.transpose() - Mat3::identity();
    strain * mu + Mat3::identity() * (lambda * f.determinant().ln())
}
