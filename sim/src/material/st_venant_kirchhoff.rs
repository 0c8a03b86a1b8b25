//! Solid of St. Venant and Kirchhoff: energy `mu tr(E^2) + lambda/2 tr(E)^2`, `E = (F^T F - I) / 2` the strain of Green.
//!
//! Kirchhoff stress `tau = F S F^T`, `S = 2 mu E + lambda tr(E) I`. Defined for all `F`, and right where strains are small: under strong compression
//! it gets softer, and an inverted element is as much at rest as one that is not. It is not in the [list](super::Law), where each row is compiled for the
//! particles in two and three dimensions: kernels take the type.

use super::Material;
use diffkern::prelude::*;

/// The solid of St. Venant and Kirchhoff.
#[derive(Clone, Copy, Debug)]
pub struct StVenantKirchhoff;

#[diff_impl(dims(2, 3))]
impl Material for StVenantKirchhoff {
    fn kirchhoff<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> Matrix<F, D> {
        let strain = (f.transpose() * f - Matrix::<F, D>::identity()) * 0.5;
        let stress = strain * (mu * 2.0) + Matrix::<F, D>::identity() * (lambda * strain.trace());
        f * stress * f.transpose()
    }

    fn energy<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> F {
        let strain = (f.transpose() * f - Matrix::<F, D>::identity()) * 0.5;
        let trace = strain.trace();
        mu * strain.ddot(strain) + lambda * 0.5 * trace * trace
    }
}
