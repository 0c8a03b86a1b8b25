//! Stable neo-Hookean solid: energy `m/2 (I_C - 3) + l/2 (J - a)^2 - m/2 ln(I_C + 1)`, `I_C` the sum of all squared entries of `F`,
//! `a = 1 + 3 m / (4 l)`, with `m = 4/3 mu` and `l = lambda + 5/6 mu`: at rest free of stress, and there the solid of Lamé parameters
//! `mu` and `lambda`.
//!
//! Kirchhoff stress `tau = m (1 - 1 / (I_C + 1)) F F^T + l (J - a) J I`, where `l a = l + mu`. It is defined for all `F`, also flat and
//! inverted ones. In the plane `F` is that of plane strain, `F_zz = 1`: the same numbers as the solid in space.
//!
//! Source: Smith, de Goes, Kim: Stable neo-Hookean flesh simulation, 2018.

use super::{Material, Principal, areas, volumetric};
use diffkern::prelude::*;

/// The stable neo-Hookean solid.
#[derive(Clone, Copy, Debug)]
pub struct StableNeoHookean;

#[diff_impl(dims(2, 3))]
impl Material for StableNeoHookean {
    fn kirchhoff<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> Matrix<F, D> {
        let mut square = f.ddot(f);
        if D == 2 {
            square = square + 1.0;
        }
        let j = f.determinant();
        // Exactly `mu` at rest, so that the stress there is exactly zero.
        let shear = mu * (4.0 * square / (3.0 * (square + 1.0)));
        let pressure = ((lambda + mu * (5.0 / 6.0)) * (j - 1.0) - mu) * j;
        f * f.transpose() * shear + Matrix::<F, D>::identity() * pressure
    }

    fn energy<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> F {
        let mut square = f.ddot(f);
        if D == 2 {
            square = square + 1.0;
        }
        let growth = f.determinant() - 1.0;
        // `l/2 (J - a)^2` without its value at rest is `l/2 (J - 1)^2 - mu (J - 1)`.
        let volume = (lambda + mu * (5.0 / 6.0)) * 0.5 * growth * growth - mu * growth;
        mu * (2.0 / 3.0) * (square - 3.0 - ((square + 1.0) * 0.25).ln()) + volume
    }
}

#[diff_impl]
impl Principal for StableNeoHookean {
    fn stresses<F: Float>(s: Vec3<F>, mu: F, lambda: F) -> Vec3<F> {
        let square = s.norm_squared();
        let shear = mu * (4.0 * square / (3.0 * (square + 1.0)));
        let by: Vec3<F> = areas(s);
        s * shear + by * ((lambda + mu * (5.0 / 6.0)) * (s.x * s.y * s.z - 1.0) - mu)
    }

    fn stiffness<F: Float>(s: Vec3<F>, mu: F, lambda: F) -> Mat3<F> {
        let square = s.norm_squared();
        let shear = mu * (4.0 * square / (3.0 * (square + 1.0)));
        let bulk = lambda + mu * (5.0 / 6.0);
        let volume: Mat3<F> = volumetric(s, bulk * (s.x * s.y * s.z - 1.0) - mu, bulk);
        let softening = mu * (8.0 / 3.0) / ((square + 1.0) * (square + 1.0));
        Mat3::identity() * shear + s.outer(s) * softening + volume
    }
}
