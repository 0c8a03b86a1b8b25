//! Vectors of 2, 3 and 4 reals.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Index, IndexMut, Mul, MulAssign, Neg, Sub, SubAssign};

use super::{Mat2, Mat3, componentwise};
use crate::element::{Element, sealed::Sealed};
use crate::float::{Float, Linear};
use crate::kernel::ElemTy;

macro_rules! vector {
    ($(#[$doc:meta])* $v:ident, $n:literal, $nalgebra:ident: $($c:ident $k:tt),+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        #[repr(C)]
        pub struct $v<F> {
            $(#[doc = concat!("Component ", $k, ".")] pub $c: F,)+
        }

        impl<F: Float> $v<F> {
            /// From its components.
            #[inline(always)]
            pub const fn new($($c: F),+) -> $v<F> {
                $v { $($c),+ }
            }

            /// From its components in order.
            #[inline(always)]
            pub const fn from_array([$($c),+]: [F; $n]) -> $v<F> {
                $v { $($c),+ }
            }

            /// Its components in order.
            #[inline(always)]
            pub const fn to_array(self) -> [F; $n] {
                [$(self.$c),+]
            }

            /// All components `x`.
            #[inline(always)]
            pub const fn splat(x: F) -> $v<F> {
                $v::from_array([x; $n])
            }

            /// The inner product.
            #[inline(always)]
            pub fn dot(self, o: $v<F>) -> F {
                self.contract(o)
            }

            /// The component-wise product.
            #[inline(always)]
            pub fn mul_elem(self, o: $v<F>) -> $v<F> {
                $v { $($c: self.$c * o.$c),+ }
            }

            /// Euclidean length, by the square root of [`Self::dot`].
            #[inline(always)]
            pub fn norm(self) -> F {
                Float::sqrt(self.dot(self))
            }

            /// [`Self::norm`], under CubeCL's name.
            #[inline(always)]
            pub fn magnitude(self) -> F {
                self.norm()
            }

            /// The square of [`Self::norm`].
            #[inline(always)]
            pub fn norm_squared(self) -> F {
                self.dot(self)
            }

            /// `self / self.norm()`: NaN for a zero vector.
            #[inline(always)]
            #[must_use]
            pub fn normalize(self) -> $v<F> {
                self / self.norm()
            }
        }

        impl<F> Index<usize> for $v<F> {
            type Output = F;
            #[inline(always)]
            fn index(&self, k: usize) -> &F {
                [$(&self.$c),+][k]
            }
        }

        impl<F> IndexMut<usize> for $v<F> {
            #[inline(always)]
            fn index_mut(&mut self, k: usize) -> &mut F {
                match k {
                    $($k => &mut self.$c,)+
                    _ => panic!("component {k} of a vector of {}", $n),
                }
            }
        }

        impl<F: Float> From<nalgebra::$nalgebra<F>> for $v<F> {
            fn from(v: nalgebra::$nalgebra<F>) -> $v<F> {
                $v::from_array(v.into())
            }
        }

        impl<F: Float> From<$v<F>> for nalgebra::$nalgebra<F> {
            fn from(v: $v<F>) -> nalgebra::$nalgebra<F> {
                v.to_array().into()
            }
        }

        componentwise!($v, $v, $n: $($k)+);

        impl<F: Float> Linear for $v<F> {
            type Real = F;
        }
    };
}

vector!(
    /// A vector of two reals.
    Vec2, 2, Vector2: x 0, y 1
);
vector!(
    /// A vector of three reals.
    Vec3, 3, Vector3: x 0, y 1, z 2
);
vector!(
    /// A vector of four reals.
    Vec4, 4, Vector4: x 0, y 1, z 2, w 3
);

impl<F: Float> Vec2<F> {
    /// The matrix `self oᵀ`.
    #[inline(always)]
    pub fn outer(self, o: Vec2<F>) -> Mat2<F> {
        Mat2::from_rows(o * self.x, o * self.y)
    }
}

impl<F: Float> Vec3<F> {
    /// The matrix `self oᵀ`.
    #[inline(always)]
    pub fn outer(self, o: Vec3<F>) -> Mat3<F> {
        Mat3::from_rows(o * self.x, o * self.y, o * self.z)
    }

    /// The vector product.
    #[inline(always)]
    pub fn cross(self, o: Vec3<F>) -> Vec3<F> {
        Vec3::new(self.y * o.z - self.z * o.y, self.z * o.x - self.x * o.z, self.x * o.y - self.y * o.x)
    }
}
