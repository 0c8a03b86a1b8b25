//! What a pack of lanes can compute; what it does in memory is in [`super::memory`].

use std::array::from_fn;
use std::mem::MaybeUninit;

use crate::float::{Float, integers};

/// The most lanes of any pack.
pub const MOST: usize = 16;

/// What `of` gives for each place. Up to sixteen without a loop: those of the standard library come with the body of a kernel hundreds of times, and
/// the compiler takes each apart with all of the body in view. `of` is `Copy`, so that nothing is dropped where it panics.
#[inline(always)]
pub fn each<T, const N: usize>(of: impl Fn(usize) -> T + Copy) -> [T; N] {
    let mut all = MaybeUninit::<[T; N]>::uninit();
    let at = all.as_mut_ptr().cast::<T>();
    macro_rules! set {
        ($($k:literal)+) => {
            $(if const { $k < N } {
                // SAFETY: one of the places.
                unsafe { at.add($k).write(of($k)) };
            })+
        };
    }
    set!(0 1 2 3);
    if const { N > 4 } {
        set!(4 5 6 7);
    }
    if const { N > 8 } {
        set!(8 9 10 11 12 13 14 15);
    }
    if const { N > 16 } {
        // SAFETY: the places that are left.
        (16..N).for_each(|k| unsafe { at.add(k).write(of(k)) });
    }
    // SAFETY: all places are set.
    unsafe { all.assume_init() }
}

/// What `f` makes of each.
#[inline(always)]
pub fn map<T: Copy, U, const N: usize>(all: [T; N], f: impl Fn(T) -> U + Copy) -> [U; N] {
    each(|k| f(all[k]))
}

/// A kind of packs: `N` reals, `N` 32-bit integers or `N` truth values at a time, one per lane.
///
/// What has no faster way goes lane by lane, as the defaults here do. Methods may use instructions that not every
/// machine has, so they are called inside the function of `dispatch` for this kind only. They mean what the
/// operations of [`Float`] and of 32-bit integers mean, except that `fma` and its like may round once or twice, and
/// the elementary functions may differ from the scalar ones by some ulp.
pub trait Values: Copy + 'static {
    type F: Float;
    /// Reals.
    type R: Copy;
    /// Integers, signed or not.
    type I: Copy;
    /// Truth values.
    type M: Copy;
    const N: usize;

    fn put(a: Self::R) -> [Self::F; MOST];
    fn get(a: &[Self::F; MOST]) -> Self::R;
    fn put_i(a: Self::I) -> [u32; MOST];
    fn get_i(a: &[u32; MOST]) -> Self::I;
    /// Lane `k` in bit `k`.
    fn bits(a: Self::M) -> u32;
    /// Bits from `N` on are ignored.
    fn from_bits(bits: u32) -> Self::M;

    #[inline(always)]
    fn map(a: Self::R, f: impl Fn(Self::F) -> Self::F) -> Self::R {
        Self::get(&Self::put(a).map(f))
    }
    #[inline(always)]
    fn map2(a: Self::R, b: Self::R, f: impl Fn(Self::F, Self::F) -> Self::F) -> Self::R {
        let (a, b) = (Self::put(a), Self::put(b));
        Self::get(&from_fn(|k| f(a[k], b[k])))
    }
    #[inline(always)]
    fn map_i(a: Self::I, b: Self::I, f: impl Fn(u32, u32) -> u32) -> Self::I {
        let (a, b) = (Self::put_i(a), Self::put_i(b));
        Self::get_i(&from_fn(|k| f(a[k], b[k])))
    }
    #[inline(always)]
    fn test(a: Self::R, b: Self::R, f: impl Fn(Self::F, Self::F) -> bool) -> Self::M {
        let (a, b) = (Self::put(a), Self::put(b));
        Self::from_bits((0..Self::N).fold(0, |bits, k| bits | u32::from(f(a[k], b[k])) << k))
    }
    #[inline(always)]
    fn test_i(a: Self::I, b: Self::I, f: impl Fn(u32, u32) -> bool) -> Self::M {
        let (a, b) = (Self::put_i(a), Self::put_i(b));
        Self::from_bits((0..Self::N).fold(0, |bits, k| bits | u32::from(f(a[k], b[k])) << k))
    }

    #[inline(always)]
    fn splat(x: Self::F) -> Self::R {
        Self::get(&[x; MOST])
    }
    #[inline(always)]
    fn add(a: Self::R, b: Self::R) -> Self::R {
        Self::map2(a, b, |a, b| a + b)
    }
    #[inline(always)]
    fn sub(a: Self::R, b: Self::R) -> Self::R {
        Self::map2(a, b, |a, b| a - b)
    }
    #[inline(always)]
    fn mul(a: Self::R, b: Self::R) -> Self::R {
        Self::map2(a, b, |a, b| a * b)
    }
    #[inline(always)]
    fn div(a: Self::R, b: Self::R) -> Self::R {
        Self::map2(a, b, |a, b| a / b)
    }
    /// `a b + c`.
    #[inline(always)]
    fn fma(a: Self::R, b: Self::R, c: Self::R) -> Self::R {
        Self::add(Self::mul(a, b), c)
    }
    /// `a b - c`.
    #[inline(always)]
    fn fms(a: Self::R, b: Self::R, c: Self::R) -> Self::R {
        Self::sub(Self::mul(a, b), c)
    }
    /// `c - a b`.
    #[inline(always)]
    fn fnma(a: Self::R, b: Self::R, c: Self::R) -> Self::R {
        Self::sub(c, Self::mul(a, b))
    }
    #[inline(always)]
    fn neg(a: Self::R) -> Self::R {
        Self::map(a, |a| -a)
    }
    #[inline(always)]
    fn abs(a: Self::R) -> Self::R {
        Self::map(a, Float::abs)
    }
    #[inline(always)]
    fn sign(a: Self::R) -> Self::R {
        let zero = Self::splat(Self::F::zero());
        let one = Self::splat(Self::F::one());
        let below = Self::select(Self::lt(a, zero), Self::neg(one), Self::mul(a, zero));
        Self::select(Self::lt(zero, a), one, below)
    }
    #[inline(always)]
    fn sqrt(a: Self::R) -> Self::R {
        Self::map(a, Float::sqrt)
    }
    #[inline(always)]
    fn floor(a: Self::R) -> Self::R {
        Self::map(a, Float::floor)
    }
    #[inline(always)]
    fn ceil(a: Self::R) -> Self::R {
        Self::map(a, Float::ceil)
    }
    #[inline(always)]
    fn round(a: Self::R) -> Self::R {
        Self::map(a, Float::round)
    }
    #[inline(always)]
    fn min(a: Self::R, b: Self::R) -> Self::R {
        Self::map2(a, b, Float::min)
    }
    #[inline(always)]
    fn max(a: Self::R, b: Self::R) -> Self::R {
        Self::map2(a, b, Float::max)
    }
    #[inline(always)]
    fn exp(a: Self::R) -> Self::R {
        Self::map(a, Float::exp)
    }
    #[inline(always)]
    fn ln(a: Self::R) -> Self::R {
        Self::map(a, Float::ln)
    }
    #[inline(always)]
    fn log1p(a: Self::R) -> Self::R {
        Self::map(a, Float::log1p)
    }
    #[inline(always)]
    fn sin(a: Self::R) -> Self::R {
        Self::map(a, Float::sin)
    }
    #[inline(always)]
    fn cos(a: Self::R) -> Self::R {
        Self::map(a, Float::cos)
    }
    #[inline(always)]
    fn tan(a: Self::R) -> Self::R {
        Self::map(a, Float::tan)
    }
    #[inline(always)]
    fn asin(a: Self::R) -> Self::R {
        Self::map(a, Float::asin)
    }
    #[inline(always)]
    fn acos(a: Self::R) -> Self::R {
        Self::map(a, Float::acos)
    }
    #[inline(always)]
    fn atan(a: Self::R) -> Self::R {
        Self::map(a, Float::atan)
    }
    #[inline(always)]
    fn tanh(a: Self::R) -> Self::R {
        Self::map(a, Float::tanh)
    }
    #[inline(always)]
    fn sinh(a: Self::R) -> Self::R {
        Self::map(a, Float::sinh)
    }
    #[inline(always)]
    fn cosh(a: Self::R) -> Self::R {
        Self::map(a, Float::cosh)
    }
    #[inline(always)]
    fn erf(a: Self::R) -> Self::R {
        Self::map(a, Float::erf)
    }
    #[inline(always)]
    fn powf(a: Self::R, b: Self::R) -> Self::R {
        Self::map2(a, b, Float::powf)
    }
    #[inline(always)]
    fn atan2(a: Self::R, b: Self::R) -> Self::R {
        Self::map2(a, b, Float::atan2)
    }
    #[inline(always)]
    fn hypot(a: Self::R, b: Self::R) -> Self::R {
        Self::map2(a, b, Float::hypot)
    }
    /// The same power in all lanes.
    #[inline(always)]
    fn powi(a: Self::R, n: i32) -> Self::R {
        let one = Self::splat(Self::F::one());
        let (mut base, mut left, mut power) = (a, n.unsigned_abs(), one);
        while left != 0 {
            if left & 1 == 1 {
                power = Self::mul(power, base);
            }
            base = Self::mul(base, base);
            left >>= 1;
        }
        if n < 0 { Self::div(one, power) } else { power }
    }
    #[inline(always)]
    fn powi_each(a: Self::R, n: Self::I) -> Self::R {
        let (a, n) = (Self::put(a), Self::put_i(n));
        Self::get(&from_fn(|k| a[k].powi(n[k] as i32)))
    }
    #[inline(always)]
    fn select(m: Self::M, a: Self::R, b: Self::R) -> Self::R {
        let (m, a, b) = (Self::bits(m), Self::put(a), Self::put(b));
        Self::get(&from_fn(|k| if m >> k & 1 == 1 { a[k] } else { b[k] }))
    }
    #[inline(always)]
    fn lt(a: Self::R, b: Self::R) -> Self::M {
        Self::test(a, b, |a, b| a < b)
    }
    #[inline(always)]
    fn le(a: Self::R, b: Self::R) -> Self::M {
        Self::test(a, b, |a, b| a <= b)
    }
    #[inline(always)]
    fn eq(a: Self::R, b: Self::R) -> Self::M {
        Self::test(a, b, |a, b| a == b)
    }
    #[inline(always)]
    fn is_nan(a: Self::R) -> Self::M {
        Self::not(Self::eq(a, a))
    }
    #[inline(always)]
    fn from_i32(a: Self::I) -> Self::R {
        Self::get(&Self::put_i(a).map(|a| Self::F::from_i32(a as i32)))
    }
    #[inline(always)]
    fn from_u32(a: Self::I) -> Self::R {
        Self::get(&Self::put_i(a).map(Self::F::from_u32))
    }
    #[inline(always)]
    fn to_i32(a: Self::R) -> Self::I {
        Self::get_i(&Self::put(a).map(|a| a.to_i32() as u32))
    }
    #[inline(always)]
    fn to_u32(a: Self::R) -> Self::I {
        Self::get_i(&Self::put(a).map(Float::to_u32))
    }
    /// The sum of all lanes, in an order that is always the same.
    #[inline(always)]
    fn sum(a: Self::R) -> Self::F {
        Self::put(a)[..Self::N].iter().fold(Self::F::zero(), |sum, &a| sum + a)
    }

    #[inline(always)]
    fn splat_i(x: u32) -> Self::I {
        Self::get_i(&[x; MOST])
    }
    /// The first lane.
    #[inline(always)]
    fn head(a: Self::I) -> u32 {
        Self::put_i(a)[0]
    }
    /// Whether each lane has one more than the lane before.
    #[inline(always)]
    fn is_run(a: Self::I) -> bool {
        Self::full(Self::eq_i(a, Self::add_i(Self::splat_i(Self::head(a)), Self::count())))
    }
    /// Lane `k` in all lanes.
    #[inline(always)]
    fn pick_i(a: Self::I, k: usize) -> Self::I {
        Self::splat_i(Self::put_i(a)[k % MOST])
    }
    /// 0, 1, 2, ...
    #[inline(always)]
    fn count() -> Self::I {
        Self::get_i(&from_fn(|k| k as u32))
    }
    #[inline(always)]
    fn add_i(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, u32::wrapping_add)
    }
    #[inline(always)]
    fn sub_i(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, u32::wrapping_sub)
    }
    #[inline(always)]
    fn mul_i(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, u32::wrapping_mul)
    }
    #[inline(always)]
    fn div_u(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, integers::udiv)
    }
    #[inline(always)]
    fn rem_u(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, integers::urem)
    }
    #[inline(always)]
    fn div_i(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, |a, b| integers::idiv(a as i32, b as i32) as u32)
    }
    #[inline(always)]
    fn rem_i(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, |a, b| integers::irem(a as i32, b as i32) as u32)
    }
    #[inline(always)]
    fn abs_i(a: Self::I) -> Self::I {
        Self::map_i(a, a, |a, _| (a as i32).wrapping_abs() as u32)
    }
    #[inline(always)]
    fn min_i(a: Self::I, b: Self::I) -> Self::I {
        Self::select_i(Self::lt_i(b, a), b, a)
    }
    #[inline(always)]
    fn max_i(a: Self::I, b: Self::I) -> Self::I {
        Self::select_i(Self::lt_i(a, b), b, a)
    }
    #[inline(always)]
    fn min_u(a: Self::I, b: Self::I) -> Self::I {
        Self::select_i(Self::lt_u(b, a), b, a)
    }
    #[inline(always)]
    fn max_u(a: Self::I, b: Self::I) -> Self::I {
        Self::select_i(Self::lt_u(a, b), b, a)
    }
    #[inline(always)]
    fn and_i(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn or_i(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, |a, b| a | b)
    }
    #[inline(always)]
    fn xor_i(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, |a, b| a ^ b)
    }
    #[inline(always)]
    fn shl(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, u32::wrapping_shl)
    }
    #[inline(always)]
    fn shr_u(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, u32::wrapping_shr)
    }
    #[inline(always)]
    fn shr_i(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, |a, b| (a as i32).wrapping_shr(b) as u32)
    }
    #[inline(always)]
    fn select_i(m: Self::M, a: Self::I, b: Self::I) -> Self::I {
        let (m, a, b) = (Self::bits(m), Self::put_i(a), Self::put_i(b));
        Self::get_i(&from_fn(|k| if m >> k & 1 == 1 { a[k] } else { b[k] }))
    }
    #[inline(always)]
    fn eq_i(a: Self::I, b: Self::I) -> Self::M {
        Self::test_i(a, b, |a, b| a == b)
    }
    #[inline(always)]
    fn lt_i(a: Self::I, b: Self::I) -> Self::M {
        Self::test_i(a, b, |a, b| (a as i32) < b as i32)
    }
    #[inline(always)]
    fn lt_u(a: Self::I, b: Self::I) -> Self::M {
        Self::test_i(a, b, |a, b| a < b)
    }

    #[inline(always)]
    fn splat_m(x: bool) -> Self::M {
        Self::from_bits(if x { u32::MAX } else { 0 })
    }
    /// The first `n` lanes.
    #[inline(always)]
    fn first(n: u32) -> Self::M {
        Self::from_bits(if n < 32 { (1 << n) - 1 } else { u32::MAX })
    }
    #[inline(always)]
    fn and(a: Self::M, b: Self::M) -> Self::M {
        Self::from_bits(Self::bits(a) & Self::bits(b))
    }
    #[inline(always)]
    fn or(a: Self::M, b: Self::M) -> Self::M {
        Self::from_bits(Self::bits(a) | Self::bits(b))
    }
    #[inline(always)]
    fn xor(a: Self::M, b: Self::M) -> Self::M {
        Self::from_bits(Self::bits(a) ^ Self::bits(b))
    }
    #[inline(always)]
    fn not(a: Self::M) -> Self::M {
        Self::from_bits(!Self::bits(a))
    }
    #[inline(always)]
    fn select_m(m: Self::M, a: Self::M, b: Self::M) -> Self::M {
        Self::or(Self::and(m, a), Self::and(Self::not(m), b))
    }
    #[inline(always)]
    fn any(a: Self::M) -> bool {
        Self::bits(a) != 0
    }
    /// Whether all lanes are.
    #[inline(always)]
    fn full(a: Self::M) -> bool {
        Self::bits(Self::not(a)) == 0
    }
}
