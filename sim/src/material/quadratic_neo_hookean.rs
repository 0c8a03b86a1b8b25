//! Neo-Hookean solid whose volume costs a square: energy `mu/2 (I_C - d) - mu ln J + lambda/2 (J - 1)^2`, `J = det F`, `I_C` the sum of
//! all squared entries of `F`, `d` the number of dimensions.
//!
//! Kirchhoff stress `tau = mu (F F^T - I) + lambda (J - 1) J I`. Defined for `J > 0` only, as the [neo-Hookean solid](super::NeoHookean), and
//! softer than it under compression: the barrier at `J = 0` is that of `mu` alone. It is not in the [list](super::Law), where each row is
//! compiled for the particles in two and three dimensions: kernels take the type.

use super::Material;
use diffkern::prelude::*;

/// The neo-Hookean solid with `lambda/2 (J - 1)^2`.
#[derive(Clone, Copy, Debug)]
pub struct QuadraticNeoHookean;

#[diff_impl(dims(2, 3))]
impl Material for QuadraticNeoHookean {
    fn kirchhoff<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> Matrix<F, D> {
        let j = f.determinant();
        let strain = f * f.transpose() - Matrix::<F, D>::identity();
        strain * mu + Matrix::<F, D>::identity() * (lambda * (j - 1.0) * j)
    }

    fn energy<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> F {
        let rest = Matrix::<F, D>::identity();
        let j = f.determinant();
        mu * 0.5 * (f.ddot(f) - rest.ddot(rest)) - mu * j.ln() + lambda * 0.5 * (j - 1.0) * (j - 1.0)
    }
}
