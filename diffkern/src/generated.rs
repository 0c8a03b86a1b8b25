//! What generated code calls besides operators: integer semantics that are the same on every backend, and the way by
//! which a kernel finds the device functions it calls.

use std::collections::HashMap;

use diffkern_ir::Id;

use crate::float::Float;
use crate::kernel::{FnDef, Program};

/// A `#[diff_fn]`, found by its path.
pub trait DiffFn: Sized {
    /// What has its forms as methods.
    const THIS: Self;

    /// How many device functions it runs.
    const RECURSION_IS_REFUSED: usize;

    /// Its programs.
    fn def() -> &'static FnDef;
    /// What keeps its primal from being called by bodies of lanes.
    const PRIMAL_LACKS: Option<&'static str>;
    /// The same of its replay.
    const REPLAY_LACKS: Option<&'static str>;
    /// The same of its vjp.
    const VJP_LACKS: Option<&'static str>;
    /// The same of its jvp.
    const JVP_LACKS: Option<&'static str>;
}

/// The first that there is.
pub const fn first_lack(lacks: &[Option<&'static str>]) -> Option<&'static str> {
    let mut k = 0;
    while k < lacks.len() {
        if lacks[k].is_some() {
            return lacks[k];
        }
        k += 1;
    }
    None
}

/// What a device function takes and gives: by this a call finds the function, so that a call that says otherwise is one
/// error, on the name of the function, for all forms of the caller.
#[diagnostic::on_unimplemented(
    message = "the device function `{Self}` does not take these arguments, or gives something else",
    label = "called with `{A}`, for a result of `{R}`",
    note = "`Real` is the kernel's real type, usually `F`; `usize` is a `u32` here, and a struct is its fields one by one"
)]
pub trait Takes<A, R> {
    /// The function.
    type Function;
    /// What has its forms as methods.
    const FUNCTION: Self::Function;
}

/// The real type of whoever calls.
pub enum Real {}

/// An array of `T`.
pub struct ArrayOf<T>(std::marker::PhantomData<T>);

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

/// The text of a program with the names of its values, which `names` gives as `3 sum 7 sum_bar`.
pub fn with_names(program: &Program, names: &str) -> String {
    let mut words = names.split(' ');
    let mut by_id = HashMap::new();
    while let (Some(id), Some(name)) = (words.next(), words.next()) {
        by_id.extend(id.parse().map(|id| (Id(id), name)));
    }
    diffkern_ir::with_names(program.text, |id| by_id.get(&id).copied())
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
