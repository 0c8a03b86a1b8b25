//! Square matrices of 2 and 3 rows, row-major.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Index, IndexMut, Mul, MulAssign, Neg, Sub, SubAssign};

use super::{Vec2, Vec3, components, componentwise};
use crate::element::{Element, sealed::Sealed};
use crate::float::Float;
use crate::kernel::ElemTy;

macro_rules! matrix {
    ($(#[$doc:meta])* $m:ident, $v:ident, $n:literal, $nn:literal, $nalgebra:ident, $elem:ident:
     $($c:ident)+, $($r:ident)+) => {
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

            /// From its rows.
            #[inline(always)]
            pub fn from_rows($($r: $v<F>),+) -> $m<F> {
                let rows = [$($r.to_array()),+];
                $m::from_fn(|r, c| rows[r][c])
            }

            /// From its columns.
            #[inline(always)]
            pub fn from_cols($($r: $v<F>),+) -> $m<F> {
                let cols = [$($r.to_array()),+];
                $m::from_fn(|r, c| cols[c][r])
            }

            /// The diagonal matrix of these entries.
            #[inline(always)]
            pub fn from_diagonal(d: $v<F>) -> $m<F> {
                let d = d.to_array();
                $m::from_fn(|r, c| if r == c { d[r] } else { F::zero() })
            }

            /// The identity.
            #[inline(always)]
            pub fn identity() -> $m<F> {
                $m::from_fn(|r, c| if r == c { F::one() } else { F::zero() })
            }

            #[inline(always)]
            fn from_fn(entry: impl Fn(usize, usize) -> F) -> $m<F> {
                $m { components: components(|k| entry(k / $n, k % $n)) }
            }

            /// Row `r`; panics when there is none.
            #[inline(always)]
            pub fn row(self, r: usize) -> $v<F> {
                $v::from_array(components(|c| self[(r, c)]))
            }

            /// Column `c`; panics when there is none.
            #[inline(always)]
            pub fn col(self, c: usize) -> $v<F> {
                $v::from_array(components(|r| self[(r, c)]))
            }

            /// The transpose.
            #[inline(always)]
            #[must_use]
            pub fn transpose(self) -> $m<F> {
                $m::from_fn(|r, c| self[(c, r)])
            }

            /// The sum of the diagonal.
            #[inline(always)]
            pub fn trace(self) -> F {
                (1..$n).fold(self[(0, 0)], |sum, k| sum + self[(k, k)])
            }

            /// The double contraction Σ aᵢⱼ bᵢⱼ.
            #[inline(always)]
            pub fn ddot(self, o: $m<F>) -> F {
                (1..$nn).fold(self.components[0] * o.components[0], |sum, k| {
                    sum + self.components[k] * o.components[k]
                })
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
                $v::from_array(components(|r| self.row(r).dot(v)))
            }
        }

        impl<F: Float> Mul for $m<F> {
            type Output = $m<F>;
            #[inline(always)]
            fn mul(self, o: $m<F>) -> $m<F> {
                $m::from_fn(|r, c| (1..$n).fold(self[(r, 0)] * o[(0, c)], |sum, k| sum + self[(r, k)] * o[(k, c)]))
            }
        }

        impl<F: Float> From<nalgebra::$nalgebra<F>> for $m<F> {
            fn from(m: nalgebra::$nalgebra<F>) -> $m<F> {
                $m::from_fn(|r, c| m[(r, c)])
            }
        }

        impl<F: Float> From<$m<F>> for nalgebra::$nalgebra<F> {
            fn from(m: $m<F>) -> nalgebra::$nalgebra<F> {
                nalgebra::$nalgebra::from_fn(|r, c| m[(r, c)])
            }
        }

        componentwise!($m, $elem, $nn);
    };
}

matrix!(
    /// A 2 x 2 matrix of reals, row-major.
    Mat2, Vec2, 2, 4, Matrix2, Mat2: a b c d, r0 r1
);
matrix!(
    /// A 3 x 3 matrix of reals, row-major.
    Mat3, Vec3, 3, 9, Matrix3, Mat3: a b c d e f g h i, r0 r1 r2
);

impl<F: Float> Mat2<F> {
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
    /// The determinant.
    #[inline(always)]
    pub fn determinant(self) -> F {
        self.row(0).dot(self.row(1).cross(self.row(2)))
    }

    /// The inverse, by cofactors; not finite when the determinant is 0.
    #[inline(always)]
    #[must_use]
    pub fn inverse(self) -> Mat3<F> {
        let [a, b, c] = [self.row(0), self.row(1), self.row(2)];
        Mat3::from_cols(b.cross(c), c.cross(a), a.cross(b)) * (F::one() / self.determinant())
    }
}
