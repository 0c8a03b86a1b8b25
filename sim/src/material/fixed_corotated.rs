//! Fixed corotated solid: energy `mu |F - R|^2 + lambda/2 (J - 1)^2`, `R` the rotation of `F`.
//!
//! Kirchhoff stress `tau = 2 mu (F - R) F^T + lambda (J - 1) J I`.
//!
//! Source: Stomakhin, Howes, Schroeder, Teran: Energetically consistent invertible elasticity, 2012.

use super::Material;
use super::rotation::polar;
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
