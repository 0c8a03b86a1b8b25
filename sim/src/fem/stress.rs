//! Stress where elements are integrated: the one kernel over the law.

use crate::material::{Material, viscous_3d};
use diffkern::prelude::*;

/// First Piola stress times volume, `V P = V tau F^-T`; `q = (V mu, V lambda, V eta, _)` of each point.
#[diff_kernel]
pub fn stress<F: Float, M: Material>(f: &Array<Mat3<F>>, q: &Array<Vec4<F>>, p: &mut Array<Mat3<F>>) {
    let i = ABSOLUTE_POS;
    let deformation = f[i];
    let tau: Mat3<F> = M::kirchhoff_3d(deformation, q[i].x, q[i].y);
    p[i] = tau * deformation.inverse().transpose();
}

/// Adds the viscous part, of the rate `F'` of the deformation gradient: `V J eta (L + L^T) F^-T`, `L = F' F^-1`.
#[diff_kernel]
pub fn add_viscous_stress<F: Float>(
    f: &Array<Mat3<F>>,
    rate: &Array<Mat3<F>>,
    q: &Array<Vec4<F>>,
    p: &mut Array<Mat3<F>>,
) {
    let i = ABSOLUTE_POS;
    let deformation = f[i];
    let inverse = deformation.inverse();
    let tau: Mat3<F> = viscous_3d(rate[i] * inverse, deformation.determinant(), q[i].z);
    p[i] += tau * inverse.transpose();
}
