//! Square matrices of 2 and 3 rows, row-major.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Index, IndexMut, Mul, MulAssign, Neg, Sub, SubAssign};

use super::{Vec2, Vec3, componentwise};
use crate::element::{Element, sealed::Sealed};
use crate::float::Float;
use crate::kernel::ElemTy;

macro_rules! matrix {
    ($(#[$doc:meta])* $m:ident, $v:ident, $n:literal, $nn:literal, $nalgebra:ident, $elem:ident:
     $($k:literal $c:ident)+, $($r:ident)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        pub struct $m<F> {
            components: [F; $nn],
        }

        impl<F: Float> $m<F> {
            /// From its components, row by row.
            #[allow(clippy::too_many_arguments, reason = "one per component; only the larger matrix has too many")]
            #[inline(always)]
            pub const fn new($($c: F),+) -> $m<F> {
                $m { components: [$($c),+] }
            }

            /// From its components, row by row.
            #[inline(always)]
            pub const fn from_array(components: [F; $nn]) -> $m<F> {
                $m { components }
            }

            /// Its components, row by row.
            #[inline(always)]
            pub const fn to_array(self) -> [F; $nn] {
                self.components
            }

            /// From its columns.
            #[inline(always)]
            pub fn from_cols($($r: $v<F>),+) -> $m<F> {
                $m::from_rows($($r),+).transpose()
            }

            /// The identity.
            #[inline(always)]
            pub fn identity() -> $m<F> {
                $m::from_diagonal($v::splat(F::one()))
            }

            /// Row `r`; panics when there is none.
            #[inline(always)]
            pub fn row(self, r: usize) -> $v<F> {
                self.rows()[r]
            }

            /// Column `c`; panics when there is none.
            #[inline(always)]
            pub fn col(self, c: usize) -> $v<F> {
                self.transpose().row(c)
            }

            /// The double contraction Σ aᵢⱼ bᵢⱼ.
            #[inline(always)]
            pub fn ddot(self, o: $m<F>) -> F {
                self.contract(o)
            }
        }

        impl<F: Float> Default for $m<F> {
            fn default() -> $m<F> {
                $m::zero()
            }
        }

        impl<F> Index<(usize, usize)> for $m<F> {
            type Output = F;
            #[inline(always)]
            fn index(&self, (r, c): (usize, usize)) -> &F {
                assert!(c < $n, "column {c} of a matrix of {}", $n);
                &self.components[r * $n + c]
            }
        }

        impl<F> IndexMut<(usize, usize)> for $m<F> {
            #[inline(always)]
            fn index_mut(&mut self, (r, c): (usize, usize)) -> &mut F {
                assert!(c < $n, "column {c} of a matrix of {}", $n);
                &mut self.components[r * $n + c]
            }
        }

        impl<F: Float> Mul<$v<F>> for $m<F> {
            type Output = $v<F>;
            #[inline(always)]
            fn mul(self, v: $v<F>) -> $v<F> {
                let [$($r),+] = self.rows();
                $v::new($($r.dot(v)),+)
            }
        }

        impl<F: Float> Mul for $m<F> {
            type Output = $m<F>;
            #[inline(always)]
            fn mul(self, o: $m<F>) -> $m<F> {
                // A row of a product is that row times each of the columns.
                let columns = o.transpose();
                let [$($r),+] = self.rows();
                $m::from_rows($(columns * $r),+)
            }
        }

        impl<F: Float> From<nalgebra::$nalgebra<F>> for $m<F> {
            fn from(m: nalgebra::$nalgebra<F>) -> $m<F> {
                let m = m.transpose();
                $m::from_array(std::array::from_fn(|k| m[k]))
            }
        }

        impl<F: Float> From<$m<F>> for nalgebra::$nalgebra<F> {
            fn from(m: $m<F>) -> nalgebra::$nalgebra<F> {
                nalgebra::$nalgebra::from_fn(|r, c| m[(r, c)])
            }
        }

        componentwise!($m, $elem, $nn: $($k)+);
    };
}

matrix!(
    /// A 2 x 2 matrix of reals, row-major.
    Mat2, Vec2, 2, 4, Matrix2, Mat2: 0 a 1 b 2 c 3 d, r0 r1
);
matrix!(
    /// A 3 x 3 matrix of reals, row-major.
    Mat3, Vec3, 3, 9, Matrix3, Mat3: 0 a 1 b 2 c 3 d 4 e 5 f 6 g 7 h 8 i, r0 r1 r2
);

impl<F: Float> Mat2<F> {
    /// From its rows.
    #[inline(always)]
    pub fn from_rows(a: Vec2<F>, b: Vec2<F>) -> Mat2<F> {
        Mat2::new(a.x, a.y, b.x, b.y)
    }

    /// The diagonal matrix of these entries.
    #[inline(always)]
    pub fn from_diagonal(d: Vec2<F>) -> Mat2<F> {
        Mat2::new(d.x, F::zero(), F::zero(), d.y)
    }

    #[inline(always)]
    fn rows(self) -> [Vec2<F>; 2] {
        let [a, b, c, d] = self.components;
        [Vec2::new(a, b), Vec2::new(c, d)]
    }

    /// The transpose.
    #[inline(always)]
    #[must_use]
    pub fn transpose(self) -> Mat2<F> {
        let [a, b, c, d] = self.components;
        Mat2::new(a, c, b, d)
    }

    /// The sum of the diagonal.
    #[inline(always)]
    pub fn trace(self) -> F {
        let [a, _, _, d] = self.components;
        a + d
    }

    /// The determinant.
    #[inline(always)]
    pub fn determinant(self) -> F {
        let [a, b, c, d] = self.components;
        a * d - b * c
    }

    /// The inverse; not finite when the determinant is 0.
    #[inline(always)]
    #[must_use]
    pub fn inverse(self) -> Mat2<F> {
        let [a, b, c, d] = self.components;
        Mat2::new(d, -b, -c, a) * (F::one() / self.determinant())
    }
}

impl<F: Float> Mat3<F> {
    /// From its rows.
    #[inline(always)]
    pub fn from_rows(a: Vec3<F>, b: Vec3<F>, c: Vec3<F>) -> Mat3<F> {
        Mat3::new(a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z)
    }

    /// The diagonal matrix of these entries.
    #[inline(always)]
    pub fn from_diagonal(d: Vec3<F>) -> Mat3<F> {
        let zero = F::zero();
        Mat3::new(d.x, zero, zero, zero, d.y, zero, zero, zero, d.z)
    }

    #[inline(always)]
    fn rows(self) -> [Vec3<F>; 3] {
        let [a, b, c, d, e, f, g, h, i] = self.components;
        [Vec3::new(a, b, c), Vec3::new(d, e, f), Vec3::new(g, h, i)]
    }

    /// The transpose.
    #[inline(always)]
    #[must_use]
    pub fn transpose(self) -> Mat3<F> {
        let [a, b, c, d, e, f, g, h, i] = self.components;
        Mat3::new(a, d, g, b, e, h, c, f, i)
    }

    /// The sum of the diagonal.
    #[inline(always)]
    pub fn trace(self) -> F {
        let [a, _, _, _, e, _, _, _, i] = self.components;
        a + e + i
    }

    /// The determinant.
    #[inline(always)]
    pub fn determinant(self) -> F {
        let [a, b, c] = self.rows();
        a.dot(b.cross(c))
    }

    /// The inverse, by cofactors; not finite when the determinant is 0.
    #[inline(always)]
    #[must_use]
    pub fn inverse(self) -> Mat3<F> {
        let [a, b, c] = self.rows();
        Mat3::from_cols(b.cross(c), c.cross(a), a.cross(b)) * (F::one() / self.determinant())
    }
}
