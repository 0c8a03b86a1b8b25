//! Constitutive models: the stress of a solid by its deformation.
//!
//! A model is a type that implements [`Material`], and kernels take it as a type parameter. Which one a simulation has is chosen
//! when it runs, by a [`Law`]. A new model is one file and one row of the [list](Law).

mod fixed_corotated;
mod law;
mod neo_hookean;
mod polar;
mod viscous;

pub use fixed_corotated::FixedCorotated;
pub use law::Law;
pub(crate) use law::with_law;
pub use neo_hookean::NeoHookean;
pub use polar::{polar_2d, polar_3d};
pub use viscous::{viscous_2d, viscous_3d};

use diffkern::prelude::*;

/// A constitutive model of an elastic solid with Lamé parameters `mu`, `lambda` \[Pa\].
#[diff_trait]
pub trait Material {
    /// Kirchhoff stress \[Pa\] of a plane deformation gradient `f`.
    fn kirchhoff_2d<F: Float>(f: Mat2<F>, mu: F, lambda: F) -> Mat2<F>;
    /// Kirchhoff stress \[Pa\] of a deformation gradient `f`.
    fn kirchhoff_3d<F: Float>(f: Mat3<F>, mu: F, lambda: F) -> Mat3<F>;
}

/// Elastic and viscous Kirchhoff stress in the plane; `q = (mu, lambda, eta, _)`, `l` the velocity gradient.
#[diff_fn]
pub fn kirchhoff_2d<F: Float, M: Material>(f: Mat2<F>, l: Mat2<F>, q: Vec4<F>) -> Mat2<F> {
    let viscous: Mat2<F> = viscous_2d::<F>(l, f.determinant(), q.z);
    let elastic: Mat2<F> = M::kirchhoff_2d(f, q.x, q.y);
    elastic + viscous
}

/// Elastic and viscous Kirchhoff stress; `q = (mu, lambda, eta, _)`, `l` the velocity gradient.
#[diff_fn]
pub fn kirchhoff_3d<F: Float, M: Material>(f: Mat3<F>, l: Mat3<F>, q: Vec4<F>) -> Mat3<F> {
    let viscous: Mat3<F> = viscous_3d::<F>(l, f.determinant(), q.z);
    let elastic: Mat3<F> = M::kirchhoff_3d(f, q.x, q.y);
    elastic + viscous
}
