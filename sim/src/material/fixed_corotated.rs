//! Fixed corotated solid: energy `mu |F - R|^2 + lambda/2 (J - 1)^2`, `R` the rotation of `F`.
//!
//! Kirchhoff stress `tau = 2 mu (F - R) F^T + lambda (J - 1) J I`.
//!
//! Source: Stomakhin, Howes, Schroeder, Teran: Energetically consistent invertible elasticity, 2012.

use super::Material;
use super::polar::{polar_2d, polar_3d};
use diffkern::prelude::*;

/// The fixed corotated solid.
#[derive(Clone, Copy, Debug)]
pub struct FixedCorotated;

#[diff_impl]
impl Material for FixedCorotated {
    fn kirchhoff_2d<F: Float>(f: Mat2<F>, mu: F, lambda: F) -> Mat2<F> {
        let r: Mat2<F> = polar_2d::<F>(f);
        let j = f.determinant();
        (f - r) * f.transpose() * (mu * 2.0) + Mat2::identity() * (lambda * (j - 1.0) * j)
    }

    fn kirchhoff_3d<F: Float>(f: Mat3<F>, mu: F, lambda: F) -> Mat3<F> {
        let r: Mat3<F> = polar_3d::<F>(f);
        let j = f.determinant();
        (f - r) * f.transpose() * (mu * 2.0) + Mat3::identity() * (lambda * (j - 1.0) * j)
    }
}
