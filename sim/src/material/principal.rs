//! Isotropic energies by principal stretches.
//!
//! The second derivative of an isotropic energy at `F = U diag(s) V^T` is block-diagonal in the axes of `U` and `V` (Smith, de Goes, Kim:
//! Analytic eigensystems for isotropic distortion energies, 2019): a 3 by 3 block among the stretches, which is
//! [`Principal::stiffness`], and for each pair of axes a *flip* with eigenvalue `(t_i - t_j) / (s_i - s_j)` and a *twist* with
//! `(t_i + t_j) / (s_i + s_j)`, `t` the [`Principal::stresses`].

use diffkern::prelude::*;

/// Derivatives of the energy of a [`Material`](super::Material) in space by the principal stretches `s`, of which the last has the sign of
/// the determinant.
#[diff_trait]
pub trait Principal {
    /// Principal first Piola-Kirchhoff stresses `t_i = dE/ds_i` \[Pa\].
    fn stresses<F: Float>(s: Vec3<F>, mu: F, lambda: F) -> Vec3<F>;

    /// `d^2 E / (ds_i ds_j)` \[Pa\].
    fn stiffness<F: Float>(s: Vec3<F>, mu: F, lambda: F) -> Mat3<F>;
}

/// Derivatives of the product of the stretches by each.
#[diff_fn]
pub fn areas<F: Float>(s: Vec3<F>) -> Vec3<F> {
    Vec3::new(s.y * s.z, s.x * s.z, s.x * s.y)
}

/// Second derivatives of `f(J)`, `J` the product of the stretches, by `slope = f'` and `curvature = f''`.
#[diff_fn]
pub fn volumetric<F: Float>(s: Vec3<F>, slope: F, curvature: F) -> Mat3<F> {
    let by: Vec3<F> = areas(s);
    let mixed = Mat3::new(F::new(0.0), s.z, s.y, s.z, F::new(0.0), s.x, s.y, s.x, F::new(0.0));
    by.outer(by) * curvature + mixed * slope
}
