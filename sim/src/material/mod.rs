//! Constitutive models: the stress of a solid by its deformation.
//!
//! A model is a type that implements [`Material`], and kernels take it as a type parameter. Which one a simulation has is chosen
//! when it runs, by a [`Law`]. A new model is one file and one row of the [list](Law); those of the list have their derivatives by
//! [principal stretches](Principal), too, for the directions of implicit steps. [`QuadraticNeoHookean`] and
//! [`StVenantKirchhoff`] are not in the list: what takes them names them.

mod principal;
mod fixed_corotated;
mod law;
mod neo_hookean;
mod quadratic_neo_hookean;
mod rotation;
mod st_venant_kirchhoff;
mod stable_neo_hookean;
mod viscosity;

pub use fixed_corotated::FixedCorotated;
pub use law::Law;
pub(crate) use law::with_law;
pub use neo_hookean::NeoHookean;
pub use principal::{Principal, areas, volumetric};
pub use quadratic_neo_hookean::QuadraticNeoHookean;
pub use rotation::{polar, polar_2d, polar_3d};
pub use st_venant_kirchhoff::StVenantKirchhoff;
pub use stable_neo_hookean::StableNeoHookean;
pub use viscosity::{viscous, viscous_2d, viscous_3d};

use diffkern::prelude::*;

/// A constitutive model of an elastic solid with Lamé parameters `mu`, `lambda` \[Pa\].
#[diff_trait(dims(2, 3))]
pub trait Material {
    /// Kirchhoff stress \[Pa\] of a deformation gradient `f`.
    fn kirchhoff<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> Matrix<F, D>;

    /// Energy by volume at rest \[J/m^3\], zero at rest, of which the stress is the derivative: `tau = dE/dF F^T`.
    fn energy<F: Float, const D: usize>(f: Matrix<F, D>, mu: F, lambda: F) -> F;
}

/// Elastic and viscous Kirchhoff stress; `q = (mu, lambda, eta, _)`, `l` the velocity gradient.
#[diff_fn(dims(2, 3))]
pub fn kirchhoff<F: Float, M: Material, const D: usize>(f: Matrix<F, D>, l: Matrix<F, D>, q: Vec4<F>) -> Matrix<F, D> {
    let viscous: Matrix<F, D> = viscous::<F, D>(l, f.determinant(), q.z);
    let elastic: Matrix<F, D> = M::kirchhoff::<F, D>(f, q.x, q.y);
    elastic + viscous
}
