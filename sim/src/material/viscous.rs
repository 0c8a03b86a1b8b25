//! Newtonian viscosity: Cauchy stress `eta (L + L^T)`, `L` the spatial velocity gradient.

use diffkern::prelude::*;

/// Kirchhoff stress `J eta (L + L^T)` \[Pa\] in the plane; `eta` \[Pa s\], `l` \[1/s\].
#[diff_fn]
pub fn viscous_2d<F: Float>(l: Mat2<F>, j: F, eta: F) -> Mat2<F> {
    (l + l.transpose()) * (j * eta)
}

/// Kirchhoff stress `J eta (L + L^T)` \[Pa\]; `eta` \[Pa s\], `l` \[1/s\].
#[diff_fn]
pub fn viscous_3d<F: Float>(l: Mat3<F>, j: F, eta: F) -> Mat3<F> {
    (l + l.transpose()) * (j * eta)
}
