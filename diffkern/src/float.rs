//! The real scalars: `f32` and `f64` behind one trait, with the semantics that every backend shares; and packs of them.

pub(crate) mod integers;
pub(crate) mod lanes;

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::element::{Element, Scalar};
use crate::kernel::ScalarTy;
use lanes::{Lanes, Portable};

/// Elements that can be added and scaled: `f32`, `f64`, and [`Vec2`](crate::Vec2), [`Vec3`](crate::Vec3),
/// [`Vec4`](crate::Vec4) of them.
///
/// The functions of [`arith`](crate::arith) and of [`reduce`](crate::reduce) are generic over it.
pub trait Linear: Element {
    /// The scalars of the space.
    type Real: Float;
}

impl Linear for f32 {
    type Real = f32;
}

impl Linear for f64 {
    type Real = f64;
}

/// A real scalar, `f32` or `f64`. Kernels are generic over it.
///
/// Rounding is to nearest even; casts to integers saturate and map NaN to 0.
pub trait Float:
    Scalar
    + Debug
    + Display
    + PartialOrd
    + Sum
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Linear<Real = Self>
{
    /// Which of the scalars this is.
    const SCALAR: ScalarTy;
    /// The packs for machines with AVX-512, where there are any; else those for all machines.
    #[doc(hidden)]
    type Wide: Lanes<F = Self>;
    /// The packs for machines with AVX2, where there are any; else those for all machines.
    #[doc(hidden)]
    type Narrow: Lanes<F = Self>;

    /// The nearest value of this type.
    fn from_f64(x: f64) -> Self;
    /// Exact.
    fn to_f64(self) -> f64;
    /// The nearest value of this type; what kernels write for a literal.
    #[inline(always)]
    fn new(x: f64) -> Self {
        Self::from_f64(x)
    }
    /// 0.
    fn zero() -> Self;
    /// 1.
    fn one() -> Self;
    /// The nearest value of this type.
    fn from_u32(x: u32) -> Self;
    /// The nearest value of this type.
    fn from_i32(x: i32) -> Self;
    /// Towards zero, saturating; NaN gives 0.
    fn to_u32(self) -> u32;
    /// Towards zero, saturating; NaN gives 0.
    fn to_i32(self) -> i32;

    /// e^x.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// ln(1 + x), accurate near 0.
    fn log1p(self) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// x^y with a real exponent.
    fn powf(self, y: Self) -> Self;
    /// x^n by repeated squaring; the same bits whether `n` is known at compile time or not.
    fn powi(self, n: i32) -> Self;
    /// Sine \[rad\].
    fn sin(self) -> Self;
    /// Cosine \[rad\].
    fn cos(self) -> Self;
    /// Tangent \[rad\].
    fn tan(self) -> Self;
    /// Inverse sine \[rad\].
    fn asin(self) -> Self;
    /// Inverse cosine \[rad\].
    fn acos(self) -> Self;
    /// Inverse tangent \[rad\].
    fn atan(self) -> Self;
    /// Angle of the point (x = `other`, y = `self`) \[rad\].
    fn atan2(self, other: Self) -> Self;
    /// Hyperbolic sine.
    fn sinh(self) -> Self;
    /// Hyperbolic cosine.
    fn cosh(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The error function 2/√π ∫₀ˣ e^(−t²) dt.
    fn erf(self) -> Self;
    /// |x|; the derivative is [`Float::signum`].
    fn abs(self) -> Self;
    /// −1, 0 for a zero, or 1; NaN for NaN.
    fn signum(self) -> Self;
    /// The smaller; a NaN loses against a number.
    fn min(self, other: Self) -> Self;
    /// The larger; a NaN loses against a number.
    fn max(self, other: Self) -> Self;
    /// `self` limited to `lo ..= hi`; NaN stays NaN and `lo > hi` gives `hi`.
    fn clamp(self, lo: Self, hi: Self) -> Self;
    /// Largest integer that is not above.
    fn floor(self) -> Self;
    /// Smallest integer that is not below.
    fn ceil(self) -> Self;
    /// Nearest integer, halves to even.
    fn round(self) -> Self;
    /// √(x² + y²) without overflow of the squares.
    fn hypot(self, other: Self) -> Self;
    /// `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Whether it is not a number.
    fn is_nan(self) -> bool;
    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
}

macro_rules! float {
    ($f:ident, $scalar:ident, $erf:path, $wide:ty, $narrow:ty) => {
        impl Float for $f {
            const SCALAR: ScalarTy = ScalarTy::$scalar;
            type Wide = $wide;
            type Narrow = $narrow;

            float!($f: from_f64(x: f64) = x as $f, zero() = 0.0, one() = 1.0, from_u32(x: u32) = x as $f,
                from_i32(x: i32) = x as $f);
            float!($f, self: exp() = $f::exp(self), ln() = $f::ln(self), log1p() = $f::ln_1p(self),
                sqrt() = $f::sqrt(self), powf(y) = $f::powf(self, y), sin() = $f::sin(self), cos() = $f::cos(self),
                tan() = $f::tan(self), asin() = $f::asin(self), acos() = $f::acos(self), atan() = $f::atan(self),
                atan2(o) = $f::atan2(self, o), sinh() = $f::sinh(self), cosh() = $f::cosh(self),
                tanh() = $f::tanh(self), erf() = $erf(self), abs() = $f::abs(self), min(o) = $f::min(self, o),
                max(o) = $f::max(self, o), floor() = $f::floor(self), ceil() = $f::ceil(self),
                round() = $f::round_ties_even(self), hypot(o) = $f::hypot(self, o),
                mul_add(a, b) = $f::mul_add(self, a, b));

            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }

            #[inline(always)]
            fn to_u32(self) -> u32 {
                self as u32
            }

            #[inline(always)]
            fn to_i32(self) -> i32 {
                self as i32
            }

            #[inline(always)]
            fn powi(self, n: i32) -> $f {
                let (mut base, mut left, mut power) = (self, n.unsigned_abs(), 1.0);
                while left != 0 {
                    if left & 1 == 1 {
                        power *= base;
                    }
                    base *= base;
                    left >>= 1;
                }
                if n < 0 { 1.0 / power } else { power }
            }

            #[inline(always)]
            fn signum(self) -> $f {
                if self > 0.0 {
                    1.0
                } else if self < 0.0 {
                    -1.0
                } else {
                    self * 0.0
                }
            }

            #[inline(always)]
            fn clamp(self, lo: $f, hi: $f) -> $f {
                let above = if self < lo { lo } else { self };
                if above > hi { hi } else { above }
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                $f::is_nan(self)
            }

            #[inline(always)]
            fn is_finite(self) -> bool {
                $f::is_finite(self)
            }
        }
    };
    ($f:ident: $($name:ident($($arg:ident: $ty:ty)?) = $e:expr),*) => {
        $(#[inline(always)] fn $name($($arg: $ty)?) -> $f { $e })*
    };
    ($f:ident, $self:ident: $($name:ident($($arg:ident),*) = $e:expr),*) => {
        $(#[inline(always)] fn $name($self $(, $arg: $f)*) -> $f { $e })*
    };
}

#[cfg(target_arch = "x86_64")]
float!(f32, F32, libm::erff, lanes::Avx512, lanes::Avx2);
#[cfg(not(target_arch = "x86_64"))]
float!(f32, F32, libm::erff, Portable<f32>, Portable<f32>);
float!(f64, F64, libm::erf, Portable<f64>, Portable<f64>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_saturate_and_drop_nan() {
        assert_eq!(Float::to_u32(-1.5f32), 0);
        assert_eq!(Float::to_u32(1e20f32), u32::MAX);
        assert_eq!(Float::to_i32(-1e20f64), i32::MIN);
        assert_eq!(Float::to_i32(f64::NAN), 0);
        assert_eq!(Float::to_i32(-2.9f64), -2);
    }

    #[test]
    fn rounding_is_half_to_even() {
        let halves = [-2.5f32, -1.5, -0.5, 0.5, 1.5, 2.5];
        assert_eq!(halves.map(Float::round), [-2.0, -2.0, 0.0, 0.0, 2.0, 2.0]);
    }

    #[test]
    fn extrema_prefer_numbers_and_clamp_keeps_nan() {
        assert_eq!(Float::max(f32::NAN, 1.0), 1.0);
        assert_eq!(Float::min(1.0, f32::NAN), 1.0);
        assert!(Float::is_nan(Float::clamp(f64::NAN, 0.0, 1.0)));
        assert_eq!(Float::clamp(3.0f64, 2.0, 1.0), 1.0);
    }

    #[test]
    fn signum_of_zero_is_zero() {
        assert_eq!([3.0f32, -2.0, 0.0, -0.0].map(Float::signum), [1.0, -1.0, 0.0, 0.0]);
        assert!(Float::is_nan(Float::signum(f32::NAN)));
        assert_eq!(Float::signum(f32::NEG_INFINITY), -1.0);
    }

    #[test]
    fn powers_by_squaring() {
        assert_eq!(Float::powi(2.0f64, 10), 1024.0);
        assert_eq!(Float::powi(2.0f64, -2), 0.25);
        assert_eq!(Float::powi(0.0f64, 0), 1.0);
        assert_eq!(Float::powi(-1.0f64, i32::MIN), 1.0);
    }

    #[test]
    fn erf_at_one() {
        assert!((Float::erf(1.0f64) - 0.842_700_792_949_714_9).abs() < 1e-15);
    }
}
