//! Small vectors and matrices over a [`Float`](crate::Float), laid out as plain rows of scalars.

mod mat;
mod quat;
mod vec;

pub use mat::{Mat2, Mat3};
pub use quat::Quat;
pub use vec::{Vec2, Vec3, Vec4};

/// Component-wise operators of a type that has `from_array` and `to_array` over `$n` components, `$first` and `$rest`.
///
/// One term for each component, and no loop: kernels are long functions into which all of this is inlined, and the compiler would turn, analyse and
/// unroll every loop of three in turn, each time with the whole function in view.
macro_rules! componentwise {
    ($t:ident, $elem:ident, $n:literal: $first:literal $($rest:literal)+) => {
        impl<F: Float> Add for $t<F> {
            type Output = $t<F>;
            #[inline(always)]
            fn add(self, o: $t<F>) -> $t<F> {
                let (a, b) = (self.to_array(), o.to_array());
                $t::from_array([a[$first] + b[$first], $(a[$rest] + b[$rest]),+])
            }
        }

        impl<F: Float> Sub for $t<F> {
            type Output = $t<F>;
            #[inline(always)]
            fn sub(self, o: $t<F>) -> $t<F> {
                let (a, b) = (self.to_array(), o.to_array());
                $t::from_array([a[$first] - b[$first], $(a[$rest] - b[$rest]),+])
            }
        }

        impl<F: Float> Neg for $t<F> {
            type Output = $t<F>;
            #[inline(always)]
            fn neg(self) -> $t<F> {
                let a = self.to_array();
                $t::from_array([-a[$first], $(-a[$rest]),+])
            }
        }

        impl<F: Float> Mul<F> for $t<F> {
            type Output = $t<F>;
            #[inline(always)]
            fn mul(self, s: F) -> $t<F> {
                let a = self.to_array();
                $t::from_array([a[$first] * s, $(a[$rest] * s),+])
            }
        }

        impl<F: Float> Div<F> for $t<F> {
            type Output = $t<F>;
            #[inline(always)]
            fn div(self, s: F) -> $t<F> {
                let a = self.to_array();
                $t::from_array([a[$first] / s, $(a[$rest] / s),+])
            }
        }

        componentwise!($t, f32);
        componentwise!($t, f64);

        impl<F: Float> AddAssign for $t<F> {
            #[inline(always)]
            fn add_assign(&mut self, o: $t<F>) {
                *self = *self + o;
            }
        }

        impl<F: Float> SubAssign for $t<F> {
            #[inline(always)]
            fn sub_assign(&mut self, o: $t<F>) {
                *self = *self - o;
            }
        }

        impl<F: Float> MulAssign<F> for $t<F> {
            #[inline(always)]
            fn mul_assign(&mut self, s: F) {
                *self = *self * s;
            }
        }

        impl<F: Float> DivAssign<F> for $t<F> {
            #[inline(always)]
            fn div_assign(&mut self, s: F) {
                *self = *self / s;
            }
        }

        impl<F: Float> Sum for $t<F> {
            fn sum<I: Iterator<Item = $t<F>>>(items: I) -> $t<F> {
                items.fold($t::zero(), |a, b| a + b)
            }
        }

        impl<F: Float> From<[F; $n]> for $t<F> {
            #[inline(always)]
            fn from(components: [F; $n]) -> $t<F> {
                $t::from_array(components)
            }
        }

        impl<F: Float> From<$t<F>> for [F; $n] {
            #[inline(always)]
            fn from(value: $t<F>) -> [F; $n] {
                value.to_array()
            }
        }

        impl<F: Float> Sealed for $t<F> {}

        // SAFETY: `repr(C)` over exactly `$n` scalars, of which any bits are valid.
        unsafe impl<F: Float> Element for $t<F> {
            type Scalar = F;
            const COMPONENTS: usize = $n;
            const ELEM: ElemTy = ElemTy::$elem;
            const ZERO: $t<F> = $t::from_array([F::ZERO; $n]);

            #[inline(always)]
            fn plus(self, other: $t<F>) -> $t<F> {
                self + other
            }
        }

        impl<F: Float> $t<F> {
            /// The sum of the products of components, in storage order.
            #[inline(always)]
            fn contract(self, o: $t<F>) -> F {
                let (a, b) = (self.to_array(), o.to_array());
                a[$first] * b[$first] $(+ a[$rest] * b[$rest])+
            }

            /// All components 0.
            #[inline(always)]
            pub const fn zero() -> $t<F> {
                $t::from_array([F::ZERO; $n])
            }

            /// Component `k` in storage order; panics when there is none.
            #[inline(always)]
            pub fn get(self, k: usize) -> F {
                self.to_array()[k]
            }

            /// A copy with component `k` (in storage order) replaced; panics when there is none.
            #[inline(always)]
            #[must_use]
            pub fn with(self, k: usize, value: F) -> $t<F> {
                let mut components = self.to_array();
                components[k] = value;
                $t::from_array(components)
            }
        }
    };
    ($t:ident, $f:ident) => {
        impl Mul<$t<$f>> for $f {
            type Output = $t<$f>;
            #[inline(always)]
            fn mul(self, v: $t<$f>) -> $t<$f> {
                v * self
            }
        }
    };
}
use componentwise;

#[cfg(test)]
mod tests;
