//! Material laws, each a device function from a deformation gradient to a Kirchhoff stress.
//!
//! A new law is one file with its two functions, one [`Law`] variant and one branch in each function below.

mod fixed_corotated;
mod neo_hookean;
mod polar;
mod viscous;

pub use fixed_corotated::{fixed_corotated_2d, fixed_corotated_3d};
pub use neo_hookean::{neo_hookean_2d, neo_hookean_3d};
pub use polar::{polar_2d, polar_3d};
pub use viscous::{viscous_2d, viscous_3d};

use diffkern::prelude::*;

/// The elastic law of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Law {
    /// Compressible neo-Hookean, see [`neo_hookean_3d()`].
    #[default]
    NeoHookean,
    /// Fixed corotated, see [`fixed_corotated_3d()`].
    FixedCorotated,
}

impl Law {
    /// The number by which kernels select the law.
    pub fn selector(self) -> u32 {
        match self {
            Law::NeoHookean => 0,
            Law::FixedCorotated => 1,
        }
    }
}

/// Elastic and viscous Kirchhoff stress in the plane; `q = (mu, lambda, eta, _)`, `l` the velocity gradient.
#[diff_fn]
pub fn kirchhoff_2d<F: Float>(f: Mat2<F>, l: Mat2<F>, q: Vec4<F>, law: u32) -> Mat2<F> {
    let j = f.determinant();
    let viscous: Mat2<F> = viscous_2d::<F>(l, j, q.z);
    let mut elastic = Mat2::zero();
    if law == 0 {
        let tau: Mat2<F> = neo_hookean_2d::<F>(f, q.x, q.y);
        elastic = tau;
    } else {
        let tau: Mat2<F> = fixed_corotated_2d::<F>(f, q.x, q.y);
        elastic = tau;
    }
    elastic + viscous
}

/// Elastic and viscous Kirchhoff stress; `q = (mu, lambda, eta, _)`, `l` the velocity gradient.
#[diff_fn]
pub fn kirchhoff_3d<F: Float>(f: Mat3<F>, l: Mat3<F>, q: Vec4<F>, law: u32) -> Mat3<F> {
    let j = f.determinant();
    let viscous: Mat3<F> = viscous_3d::<F>(l, j, q.z);
    let mut elastic = Mat3::zero();
    if law == 0 {
        let tau: Mat3<F> = neo_hookean_3d::<F>(f, q.x, q.y);
        elastic = tau;
    } else {
        let tau: Mat3<F> = fixed_corotated_3d::<F>(f, q.x, q.y);
        elastic = tau;
    }
    elastic + viscous
}
