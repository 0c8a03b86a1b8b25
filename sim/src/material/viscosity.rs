//! Newtonian viscosity: Cauchy stress `eta (L + L^T)`, `L` the spatial velocity gradient.

use diffkern::prelude::*;

/// Kirchhoff stress `J eta (L + L^T)` \[Pa\]; `eta` \[Pa s\], `l` \[1/s\].
#[diff_fn(dims(2, 3))]
pub fn viscous<F: Float, const D: usize>(l: Matrix<F, D>, j: F, eta: F) -> Matrix<F, D> {
    (l + l.transpose()) * (j * eta)
}
