//! Fixed corotated solid: energy `mu |F - R|^2 + lambda/2 (J - 1)^2`, `R` the rotation of `F`.
//!
//! Kirchhoff stress `tau = 2 mu (F - R) F^T + lambda (J - 1) J I`.
//!
//! Source: Stomakhin, Howes, Schroeder, Teran: Energetically consistent invertible elasticity, 2012.

use super::rotation::polar;
use super::{Material, Principal, areas, volumetric};
use diffkern::prelude::*;

/// The fixed corotated solid.
#[derive(Clone, Copy, Debug)]
pub struct FixedCorotated;

#[diff_impl(dims(2, 3))]
impl Material for FixedCorotated {
    fn kirchhoff<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> Matrix<F, D> {
        let r: Matrix<F, D> = polar::<F, D>(f);
        let j = f.determinant();
        (f - r) * f.transpose() * (mu * 2.0) + Matrix::<F, D>::identity() * (lambda * (j - 1.0) * j)
    }

    fn energy<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> F {
        let r: Matrix<F, D> = polar::<F, D>(f);
        let (stretch, growth) = (f - r, f.determinant() - 1.0);
        mu * stretch.ddot(stretch) + lambda * 0.5 * growth * growth
    }
}

#[diff_impl]
impl Principal for FixedCorotated {
    fn stresses<F: Float>(s: Vec3<F>, mu: F, lambda: F) -> Vec3<F> {
        let by: Vec3<F> = areas(s);
        (s - Vec3::splat(F::new(1.0))) * (mu * 2.0) + by * (lambda * (s.x * s.y * s.z - 1.0))
    }

    fn stiffness<F: Float>(s: Vec3<F>, mu: F, lambda: F) -> Mat3<F> {
        let volume: Mat3<F> = volumetric(s, lambda * (s.x * s.y * s.z - 1.0), lambda);
        Mat3::identity() * (mu * 2.0) + volume
    }
}
