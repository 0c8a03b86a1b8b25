//! From logarithms to moduli, and from places to residuals.

use diffkern::prelude::*;

/// Lamé parameters of the logarithms of Young's moduli: `mu = by_mu exp(x)`, `lambda = by_lambda exp(x)`.
#[diff_kernel]
pub(super) fn moduli<F: Float>(x: &Array<F>, mu: &mut Array<F>, lambda: &mut Array<F>, by_mu: F, by_lambda: F) {
    let e = ABSOLUTE_POS;
    let young = x[e].exp();
    mu[e] = by_mu * young;
    lambda[e] = by_lambda * young;
}

/// Residuals of the coordinates of places, `weight (place - seen)`.
#[diff_kernel]
pub(super) fn misfits<F: Float>(place: &Array<Vec3<F>>, seen: &Array<Vec3<F>>, residual: &mut Array<F>, weight: F) {
    let i = ABSOLUTE_POS;
    let off = (place[i] - seen[i]) * weight;
    residual[3 * i] = off.x;
    residual[3 * i + 1] = off.y;
    residual[3 * i + 2] = off.z;
}
