//! What generated code calls besides operators: signs, and integer semantics that are the same on every backend.

use super::Float;

/// -1, 0 or 1; of NaN, NaN.
#[inline(always)]
pub fn sign<F: Float>(x: F) -> F {
    if x > F::zero() {
        F::one()
    } else if x < F::zero() {
        -F::one()
    } else {
        x * F::zero()
    }
}

/// `a / b`, 0 where `b` is 0.
#[inline(always)]
pub fn udiv(a: u32, b: u32) -> u32 {
    a.checked_div(b).unwrap_or(0)
}

/// `a % b`, 0 where `b` is 0.
#[inline(always)]
pub fn urem(a: u32, b: u32) -> u32 {
    a.checked_rem(b).unwrap_or(0)
}

/// `a / b` towards zero, wrapping, 0 where `b` is 0.
#[inline(always)]
pub fn idiv(a: i32, b: i32) -> i32 {
    if b == 0 { 0 } else { a.wrapping_div(b) }
}

/// `a % b` with the sign of `a`, 0 where `b` is 0.
#[inline(always)]
pub fn irem(a: i32, b: i32) -> i32 {
    if b == 0 { 0 } else { a.wrapping_rem(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_zero_is_zero_and_overflow_wraps() {
        assert_eq!((udiv(7, 0), urem(7, 0), idiv(-7, 0), irem(-7, 0)), (0, 0, 0, 0));
        assert_eq!((udiv(7, 2), urem(7, 2), idiv(-7, 2), irem(-7, 2)), (3, 1, -3, -1));
        assert_eq!((idiv(i32::MIN, -1), irem(i32::MIN, -1)), (i32::MIN, 0));
    }

    #[test]
    fn the_sign_of_zero_is_zero_and_nan_stays() {
        assert_eq!((sign(-2.5f64), sign(0.0f64), sign(0.1f64)), (-1.0, 0.0, 1.0));
        assert!(sign(f64::NAN).is_nan());
    }
}
