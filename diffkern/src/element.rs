//! What an array may hold: scalars, and small vectors and matrices of them.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::kernel::{ElemTy, ScalarTy};

pub(crate) mod sealed {
    /// Keeps [`super::Element`] to the types of this crate.
    pub trait Sealed {}
}

/// A scalar that arrays can hold: `f32`, `f64`, `u32` or `i32`.
pub trait Scalar: Element<Scalar = Self> + Default {
    /// Which one.
    const TY: ScalarTy;

    /// A relaxed atomic store: threads that write one element race without undefined behaviour.
    ///
    /// # Safety
    /// `at` is valid for writes, aligned, and meanwhile accessed by atomic operations only.
    #[doc(hidden)]
    unsafe fn store_relaxed(at: *mut Self, value: Self);

    /// A relaxed atomic load.
    ///
    /// # Safety
    /// As [`Scalar::store_relaxed`], and `at` is initialised.
    #[doc(hidden)]
    unsafe fn load_relaxed(at: *mut Self) -> Self;
}

/// What an [`Array`](crate::Array) may hold: `f32`, `f64`, `u32`, `i32`, and vectors and matrices of the first two.
///
/// # Safety
/// The type is exactly `COMPONENTS` values of `Scalar` in a row, without padding, aligned like `Scalar`, and any bits
/// are a valid value.
pub unsafe trait Element: Copy + Debug + PartialEq + Send + Sync + 'static + sealed::Sealed {
    /// What it is made of.
    type Scalar: Scalar;
    /// How many of them.
    const COMPONENTS: usize;
    /// Its shape, or that of the parts that make it up.
    const ELEM: ElemTy;
    /// How many parts of the shape `ELEM` it has: more than one only for a struct, which is as many scalars.
    #[doc(hidden)]
    const PARTS: usize = 1;
    /// All components 0.
    const ZERO: Self;

    /// Component-wise sum; integers wrap.
    #[doc(hidden)]
    fn plus(self, other: Self) -> Self;
}

macro_rules! scalar {
    ($t:ident, $ty:ident, $elem:ident, $zero:literal, $atomic:ident, $bits:ident,
     |$a:ident, $b:ident| $plus:expr, $to:expr, $from:expr) => {
        impl sealed::Sealed for $t {}

        impl Scalar for $t {
            const TY: ScalarTy = ScalarTy::$ty;

            #[inline(always)]
            unsafe fn store_relaxed(at: *mut $t, value: $t) {
                let to_bits: fn($t) -> $bits = $to;
                // SAFETY: valid and aligned by the caller's promise; the atomic has the size and alignment of the
                // scalar on every supported target.
                unsafe { $atomic::from_ptr(at.cast()) }.store(to_bits(value), Ordering::Relaxed);
            }

            #[inline(always)]
            unsafe fn load_relaxed(at: *mut $t) -> $t {
                let from_bits: fn($bits) -> $t = $from;
                // SAFETY: as above.
                from_bits(unsafe { $atomic::from_ptr(at.cast()) }.load(Ordering::Relaxed))
            }
        }

        // SAFETY: a scalar is one of itself, and any bits are valid.
        unsafe impl Element for $t {
            type Scalar = $t;
            const COMPONENTS: usize = 1;
            const ELEM: ElemTy = ElemTy::$elem;
            const ZERO: $t = $zero;

            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                let ($a, $b) = (self, other);
                $plus
            }
        }
    };
}

scalar!(f32, F32, Real, 0.0, AtomicU32, u32, |a, b| a + b, f32::to_bits, f32::from_bits);
scalar!(f64, F64, Real, 0.0, AtomicU64, u64, |a, b| a + b, f64::to_bits, f64::from_bits);
scalar!(u32, U32, U32, 0, AtomicU32, u32, |a, b| a.wrapping_add(b), |x| x, |x| x);
scalar!(i32, I32, I32, 0, AtomicU32, u32, |a, b| a.wrapping_add(b), |x| x as u32, |x| x as i32);
const _: () = assert!(align_of::<AtomicU64>() == align_of::<f64>());

/// The elements as plain bytes.
pub(crate) fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    debug_assert_eq!(size_of::<T>(), T::COMPONENTS * <T::Scalar as Scalar>::TY.bytes());
    // SAFETY: an element is scalars in a row without padding, by the contract of `Element`.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}
