//! Compressible neo-Hookean solid: energy `mu/2 (tr(F^T F) - d) - mu ln J + lambda/2 (ln J)^2`, `J = det F`.
//!
//! Kirchhoff stress `tau = mu (F F^T - I) + lambda ln(J) I`. Defined for `J > 0` only; [`crate::Step::check`]
//! refuses a state that has left that range.

use super::{Material, Principal, areas, volumetric};
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

#[diff_impl]
impl Principal for NeoHookean {
    fn stresses<F: Float>(s: Vec3<F>, mu: F, lambda: F) -> Vec3<F> {
        let j = s.x * s.y * s.z;
        let by: Vec3<F> = areas(s);
        s * mu + by * ((lambda * j.ln() - mu) / j)
    }

    fn stiffness<F: Float>(s: Vec3<F>, mu: F, lambda: F) -> Mat3<F> {
        let j = s.x * s.y * s.z;
        let slope = (lambda * j.ln() - mu) / j;
        let volume: Mat3<F> = volumetric(s, slope, (lambda / j - slope) / j);
        Mat3::identity() * mu + volume
    }
}
