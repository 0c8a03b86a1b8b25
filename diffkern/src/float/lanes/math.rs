//! Elementary functions of packs of `f32`, by series after reduction of the argument.
//!
//! Within 2 ulp of the exact value (the worst found over all arguments stands at each); special values as in IEEE 754.
//! The coefficients are those of the Taylor series: on the reduced ranges a few terms more than a minimax polynomial
//! would need, and nothing to look up.

use super::memory::Lanes;

/// Packs of `f32` whose bits can be had as integers.
pub trait Bits: Lanes<F = f32> {
    /// The bits of the reals.
    fn to_bits(a: Self::R) -> Self::I;
    /// The reals of the bits.
    fn of_bits(a: Self::I) -> Self::R;
}

/// `c[0] + c[1] x + ..` by Horner's rule.
#[inline(always)]
fn polynomial<S: Lanes<F = f32>>(x: S::R, c: &[f64]) -> S::R {
    let mut sum = S::splat(c[c.len() - 1] as f32);
    for &c in c.iter().rev().skip(1) {
        sum = S::fma(sum, x, S::splat(c as f32));
    }
    sum
}

/// 2^n for `n` in -126 ..= 127.
#[inline(always)]
fn power_of_two<S: Bits>(n: S::I) -> S::R {
    S::of_bits(S::shl(S::add_i(n, S::splat_i(127)), S::splat_i(23)))
}

// ln 2 in two parts; the first has zeros at the end, so that a small integer times it is exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// The largest number with `e^x` below all normal numbers.
const LN_MIN_NORMAL: f32 = -87.336_55;
/// Numbers below all normal ones are multiples of 2 to the power of minus this, and their bits are how many.
const LEAST_EXPONENT: f32 = 149.0;
/// Spacing 1 from here on.
const INTEGERS: f32 = 8_388_608.0;

/// e^x = 2^n e^r with |r| <= ln 2 / 2.
///
/// What is below normal numbers is rounded as an integer: a product that is rounded to it takes Intel's processors a hundred cycles and more, be it zero.
#[inline(always)]
pub fn exp<S: Bits>(x: S::R) -> S::R {
    // Beyond these it is 0 and infinity.
    let limited = S::max(S::splat(-105.0), S::min(S::splat(90.0), x));
    let n = S::round(S::mul(limited, S::splat(std::f32::consts::LOG2_E)));
    let r = S::fnma(n, S::splat(LN_2_LOW), S::fnma(n, S::splat(LN_2_HIGH), limited));
    let tail = polynomial::<S>(r, &[1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0, 1.0 / 5040.0]);
    let e = S::add(S::fma(S::mul(r, r), tail, r), S::splat(1.0));
    let below_normal = S::le(x, S::splat(LN_MIN_NORMAL));
    let n = S::add(n, S::select(below_normal, S::splat(LEAST_EXPONENT), S::splat(0.0)));
    // In two steps, since 2^n may have no normal number.
    let n = S::to_i32(n);
    let half = S::shr_i(n, S::splat_i(1));
    let scaled = S::mul(S::mul(e, power_of_two::<S>(half)), power_of_two::<S>(S::sub_i(n, half)));
    let multiples = S::sub_i(S::to_bits(S::add(scaled, S::splat(INTEGERS))), S::splat_i(INTEGERS.to_bits()));
    let result = S::select(below_normal, S::of_bits(multiples), scaled);
    S::select(S::is_nan(x), x, result)
}

/// ln x = e ln 2 + ln m with m in [sqrt(1/2), sqrt 2).
#[inline(always)]
pub fn ln<S: Bits>(x: S::R) -> S::R {
    ln_of_sum::<S>(x, S::splat(0.0))
}

/// ln (1 + x): the rounding of 1 + x enters as a correction of first order.
#[inline(always)]
pub fn log1p<S: Bits>(x: S::R) -> S::R {
    let one = S::splat(1.0);
    let u = S::add(one, x);
    // What rounding lost, exactly: the larger of the two summands is subtracted first.
    let large = S::lt(one, S::abs(x));
    let lost = S::select(large, S::sub(one, S::sub(u, x)), S::sub(x, S::sub(u, one)));
    let finite = S::lt(S::abs(u), S::splat(f32::INFINITY));
    let correction = S::select(finite, S::div(lost, u), S::splat(0.0));
    let correction = S::select(S::eq(u, S::splat(0.0)), S::splat(0.0), correction);
    let result = ln_of_sum::<S>(u, correction);
    S::select(S::eq(x, S::splat(0.0)), x, result)
}

/// ln x + c for a small `c`.
///
/// With f = m - 1, s = f / (2 + f), z = s^2: ln m = f - f^2/2 + s (f^2/2 + R), R = 2 z/3 + 2 z^2/5 + ..: the large
/// terms are exact.
#[inline(always)]
fn ln_of_sum<S: Bits>(x: S::R, c: S::R) -> S::R {
    let tiny = S::lt(x, S::splat(f32::MIN_POSITIVE));
    let normal = S::select(tiny, S::mul(x, S::splat(8_388_608.0)), x);
    // sqrt(1/2) has these bits: its exponent is taken off, and what is above it is m.
    let shifted = S::sub_i(S::to_bits(normal), S::splat_i(0x3F35_04F3));
    let exponent = S::shr_i(shifted, S::splat_i(23));
    let m = S::of_bits(S::sub_i(S::to_bits(normal), S::shl(exponent, S::splat_i(23))));
    let e = S::sub(S::from_i32(exponent), S::select(tiny, S::splat(23.0), S::splat(0.0)));
    let f = S::sub(m, S::splat(1.0));
    let s = S::div(f, S::add(S::splat(2.0), f));
    let z = S::mul(s, s);
    let r = S::mul(z, polynomial::<S>(z, &[2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0]));
    let square = S::mul(S::mul(S::splat(0.5), f), f);
    let low = S::fma(s, S::add(square, r), S::fma(e, S::splat(LN_2_LOW), c));
    let result = S::fma(e, S::splat(LN_2_HIGH), S::add(f, S::sub(low, square)));
    let infinite = S::splat(f32::INFINITY);
    let result = S::select(S::lt(x, infinite), result, x);
    let result = S::select(S::lt(x, S::splat(0.0)), S::splat(f32::NAN), result);
    S::select(S::eq(x, S::splat(0.0)), S::splat(f32::NEG_INFINITY), result)
}

/// Up to here multiples of pi/2 are taken off exactly enough.
const FAR: f32 = 8192.0;

/// The quarter turn that `x` is in, and what is left: `x = n pi/2 + r`, |r| <= pi/4.
#[inline(always)]
fn quarter_turns<S: Bits>(x: S::R) -> (S::I, S::R) {
    let n = S::round(S::mul(x, S::splat(std::f32::consts::FRAC_2_PI)));
    // pi/2 in four parts of which the first two have so few digits that n times them is exact.
    let parts = [1.570_312_5, 4.837_513e-4, 7.549_79e-8, -1.715_124_5e-15];
    (S::to_i32(n), parts.into_iter().fold(x, |r, part| S::fnma(n, S::splat(part), r)))
}

#[inline(always)]
fn sine<S: Bits>(r: S::R) -> S::R {
    let z = S::mul(r, r);
    let tail = polynomial::<S>(z, &[-1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0]);
    S::fma(S::mul(r, z), tail, r)
}

#[inline(always)]
fn cosine<S: Bits>(r: S::R) -> S::R {
    let z = S::mul(r, r);
    let tail = polynomial::<S>(z, &[1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0, -1.0 / 3_628_800.0]);
    S::fma(S::mul(z, z), tail, S::fnma(z, S::splat(0.5), S::splat(1.0)))
}

/// sin (x + shift pi/2).
#[inline(always)]
fn shifted_sine<S: Bits>(x: S::R, shift: u32, far: impl Fn(f32) -> f32) -> S::R {
    let (n, r) = quarter_turns::<S>(x);
    let n = S::add_i(n, S::splat_i(shift));
    let odd = S::eq_i(S::and_i(n, S::splat_i(1)), S::splat_i(1));
    let value = S::select(odd, cosine::<S>(r), sine::<S>(r));
    let sign = S::shl(S::and_i(n, S::splat_i(2)), S::splat_i(30));
    let near = S::of_bits(S::xor_i(S::to_bits(value), sign));
    let close = S::le(S::abs(x), S::splat(FAR));
    if S::full(close) { near } else { S::select(close, near, S::map(x, far)) }
}

/// sin x; beyond 8192 lane by lane.
#[inline(always)]
pub fn sin<S: Bits>(x: S::R) -> S::R {
    let result = shifted_sine::<S>(x, 0, f32::sin);
    S::select(S::eq(x, S::splat(0.0)), x, result)
}

/// cos x; beyond 8192 lane by lane.
#[inline(always)]
pub fn cos<S: Bits>(x: S::R) -> S::R {
    shifted_sine::<S>(x, 1, f32::cos)
}
