//! Quaternions.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use super::{Mat3, Vec3, componentwise};
use crate::element::{Element, sealed::Sealed};
use crate::float::Float;
use crate::kernel::ElemTy;

/// A quaternion `w + x i + y j + z k`, in this order in memory. Those of length 1 are rotations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Quat<F> {
    /// Real part.
    pub w: F,
    /// Part of i.
    pub x: F,
    /// Part of j.
    pub y: F,
    /// Part of k.
    pub z: F,
}

impl<F: Float> Quat<F> {
    /// From its parts, the real one first.
    #[inline(always)]
    pub const fn new(w: F, x: F, y: F, z: F) -> Quat<F> {
        Quat { w, x, y, z }
    }

    /// From its parts, the real one first.
    #[inline(always)]
    pub const fn from_array([w, x, y, z]: [F; 4]) -> Quat<F> {
        Quat { w, x, y, z }
    }

    /// Its parts, the real one first.
    #[inline(always)]
    pub const fn to_array(self) -> [F; 4] {
        [self.w, self.x, self.y, self.z]
    }

    /// The rotation that changes nothing.
    #[inline(always)]
    pub fn identity() -> Quat<F> {
        Quat::new(F::one(), F::zero(), F::zero(), F::zero())
    }

    /// The rotation by `angle` \[rad\] about `axis`, a unit vector.
    #[inline(always)]
    pub fn from_axis_angle(axis: Vec3<F>, angle: F) -> Quat<F> {
        let half = angle * F::from_f64(0.5);
        let v = axis * Float::sin(half);
        Quat::new(Float::cos(half), v.x, v.y, v.z)
    }

    /// The rotation by `|v|` \[rad\] about `v`: the exponential of `v / 2`.
    #[inline(always)]
    pub fn from_rotation_vector(v: Vec3<F>) -> Quat<F> {
        let square = v.dot(v);
        let series = |[a, b, c]: [f64; 3]| {
            let [a, b, c] = [a, b, c].map(F::from_f64);
            a + (b + c * square) * square
        };
        let (cos, sinc) = if square < F::from_f64(1e-4) {
            (series([1.0, -1.0 / 8.0, 1.0 / 384.0]), series([0.5, -1.0 / 48.0, 1.0 / 3840.0]))
        } else {
            let angle = Float::sqrt(square);
            let half = angle * F::from_f64(0.5);
            (Float::cos(half), Float::sin(half) / angle)
        };
        Quat::new(cos, v.x * sinc, v.y * sinc, v.z * sinc)
    }

    /// The parts of i, j and k.
    #[inline(always)]
    pub const fn vector(self) -> Vec3<F> {
        Vec3::new(self.x, self.y, self.z)
    }

    /// The inner product as vectors of four.
    #[inline(always)]
    pub fn dot(self, o: Quat<F>) -> F {
        self.contract(o)
    }

    /// Length.
    #[inline(always)]
    pub fn norm(self) -> F {
        Float::sqrt(self.dot(self))
    }

    /// Square of the length.
    #[inline(always)]
    pub fn norm_squared(self) -> F {
        self.dot(self)
    }

    /// Of length 1: NaN for zero.
    #[inline(always)]
    #[must_use]
    pub fn normalize(self) -> Quat<F> {
        self / self.norm()
    }

    /// `w - x i - y j - z k`: the inverse rotation, of a unit quaternion.
    #[inline(always)]
    #[must_use]
    pub fn conjugate(self) -> Quat<F> {
        Quat::new(self.w, -self.x, -self.y, -self.z)
    }

    /// The inverse: NaN for zero.
    #[inline(always)]
    #[must_use]
    pub fn inverse(self) -> Quat<F> {
        self.conjugate() / self.dot(self)
    }

    /// `v` turned by a unit quaternion.
    #[inline(always)]
    pub fn rotate(self, v: Vec3<F>) -> Vec3<F> {
        let a = self.vector();
        let half = a.cross(v);
        let t = half + half;
        v + t * self.w + a.cross(t)
    }

    /// The rotation matrix of a unit quaternion.
    #[inline(always)]
    pub fn to_mat3(self) -> Mat3<F> {
        let (zero, one) = (F::zero(), F::one());
        Mat3::from_cols(
            self.rotate(Vec3::new(one, zero, zero)),
            self.rotate(Vec3::new(zero, one, zero)),
            self.rotate(Vec3::new(zero, zero, one)),
        )
    }
}

impl<F: Float> Mul<Quat<F>> for Quat<F> {
    type Output = Quat<F>;

    /// Hamilton's product: first the rotation on the right, then the one on the left.
    #[inline(always)]
    fn mul(self, o: Quat<F>) -> Quat<F> {
        let (a, b) = (self.vector(), o.vector());
        let v = b * self.w + a * o.w + a.cross(b);
        Quat::new(self.w * o.w - a.dot(b), v.x, v.y, v.z)
    }
}

impl<F: Float> From<nalgebra::Quaternion<F>> for Quat<F>
where
    F: nalgebra::Scalar,
{
    fn from(q: nalgebra::Quaternion<F>) -> Quat<F> {
        let [x, y, z, w] = q.coords.into();
        Quat { w, x, y, z }
    }
}

impl<F: Float> From<Quat<F>> for nalgebra::Quaternion<F>
where
    F: nalgebra::Scalar,
{
    fn from(q: Quat<F>) -> nalgebra::Quaternion<F> {
        nalgebra::Quaternion { coords: nalgebra::Vector4::new(q.x, q.y, q.z, q.w) }
    }
}

componentwise!(Quat, Vec4, 4: 0 1 2 3);
