//! Two and three dimensions, for host code that is generic over them.

use std::fmt::Debug;

use crate::element::Element;
use crate::error::{Error, Result};
use crate::float::Float;
use crate::math::{Mat2, Mat3, Vec2, Vec3, Vec4};

mod sealed {
    pub trait Sealed {}
}

/// A number of axes, [`Dim2`] or [`Dim3`]: what host code is generic over that launches kernels over the dimension.
///
/// ```
/// use diffkern::prelude::*;
///
/// #[diff_kernel(dims(2, 3))]
/// fn drift<F: Float, const D: usize>(v: &Array<Vector<F, D>>, x: &Array<Vector<F, D>>, next: &mut Array<Vector<F, D>>, dt: F) {
///     next[ABSOLUTE_POS] = x[ABSOLUTE_POS] + v[ABSOLUTE_POS] * dt;
/// }
///
/// fn moved<D: Dimension>(device: &Device, x: D::Coords, v: D::Coords) -> Result<D::Coords> {
///     let [x, v] = [x, v].map(|point| device.array(&[D::vector::<f64>(&point)]));
///     let next = device.uninit(1)?;
///     drift::<f64, D>(1, &v?, &x?, &next, 0.5)?;
///     Ok(D::coords::<f64>(next.to_vec()?[0]))
/// }
///
/// assert_eq!(moved::<Dim2>(&Device::cpu(), [0.0, 1.0], [2.0, 2.0])?, [1.0, 2.0]);
/// assert_eq!(moved::<Dim3>(&Device::cpu(), [0.0, 1.0, 2.0], [2.0, 2.0, 2.0])?, [1.0, 2.0, 3.0]);
/// # Ok::<(), Error>(())
/// ```
pub trait Dimension: Copy + Debug + Default + PartialEq + Send + Sync + Sized + sealed::Sealed + 'static {
    /// How many axes.
    const AXES: usize;
    /// A point on the host, `[f64; AXES]`.
    type Coords: Copy + Debug + PartialEq + Send + Sync + AsRef<[f64]> + AsMut<[f64]> + Default;
    /// A number for each axis, `[usize; AXES]`.
    type Counts: Copy + Debug + PartialEq + Send + Sync + AsRef<[usize]> + AsMut<[usize]> + Default;
    /// `Vector<F, D>` of the kernel language: [`Vec2`] or [`Vec3`].
    type Vector<F: Float>: Element<Scalar = F>;
    /// `Matrix<F, D>`: [`Mat2`] or [`Mat3`].
    type Matrix<F: Float>: Element<Scalar = F>;
    /// `Vector<F, { D + 1 }>`, such as homogeneous coordinates: [`Vec3`] or [`Vec4`].
    type Homogeneous<F: Float>: Element<Scalar = F>;
    /// The first type in two dimensions, the second in three.
    type Choose<A, B>;

    /// A point as a device vector.
    fn vector<F: Float>(coords: &Self::Coords) -> Self::Vector<F>;
    /// A device vector as a point.
    fn coords<F: Float>(vector: Self::Vector<F>) -> Self::Coords;
    /// The identity.
    fn identity<F: Float>() -> Self::Matrix<F>;
    /// Determinant, in f64.
    fn determinant<F: Float>(matrix: Self::Matrix<F>) -> f64;
}

macro_rules! dimension {
    ($(#[$doc:meta] $dim:ident: $axes:literal, $vector:ident, $matrix:ident, $homogeneous:ident, $choice:ident;)*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $dim;

        impl sealed::Sealed for $dim {}

        impl Dimension for $dim {
            const AXES: usize = $axes;
            type Coords = [f64; $axes];
            type Counts = [usize; $axes];
            type Vector<F: Float> = $vector<F>;
            type Matrix<F: Float> = $matrix<F>;
            type Homogeneous<F: Float> = $homogeneous<F>;
            type Choose<A, B> = $choice;

            fn vector<F: Float>(coords: &[f64; $axes]) -> $vector<F> {
                $vector::from_array(coords.map(F::from_f64))
            }

            fn coords<F: Float>(vector: $vector<F>) -> [f64; $axes] {
                vector.to_array().map(F::to_f64)
            }

            fn identity<F: Float>() -> $matrix<F> {
                $matrix::identity()
            }

            fn determinant<F: Float>(matrix: $matrix<F>) -> f64 {
                $matrix::<f64>::from_array(matrix.to_array().map(F::to_f64)).determinant()
            }
        }
    )*};
}

dimension! {
    /// Two dimensions.
    Dim2: 2, Vec2, Mat2, Vec3, A;
    /// Three dimensions.
    Dim3: 3, Vec3, Mat3, Vec4, B;
}

/// A value whose type depends on a dimension that has been told apart, by the type that it then is.
#[doc(hidden)]
pub fn same<A: 'static, B: 'static>(value: &A) -> Result<&B> {
    let any: &dyn std::any::Any = value;
    any.downcast_ref().ok_or_else(|| Error::other(format!("`{}` in another dimension", std::any::type_name::<A>())))
}

/// The dimension of functions for the plane only.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this function is for two dimensions only and called in three",
    note = "write `dims(2, 3)` where it is defined, or call it under `if D == 2`"
)]
pub trait InPlane {
    /// The function.
    type Of<A>;
}

impl InPlane for Dim2 {
    type Of<A> = A;
}

/// The dimension of functions for space only.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this function is for three dimensions only and called in two",
    note = "write `dims(2, 3)` where it is defined, or call it under `if D == 3`"
)]
pub trait InSpace {
    /// The function.
    type Of<A>;
}

impl InSpace for Dim3 {
    type Of<A> = A;
}
