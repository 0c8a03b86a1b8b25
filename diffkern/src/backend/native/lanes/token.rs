//! What a pack of lanes can do: the interface between generated bodies and the instructions of a machine.

use std::array::from_fn;

use super::element;
use crate::float::Float;
use crate::generated;

/// The most lanes of any pack.
pub const MOST: usize = 16;

/// A kind of packs: `N` reals, `N` 32-bit integers or `N` truth values at a time, one per lane.
///
/// What has no faster way goes lane by lane, as the defaults here do. Methods may use instructions that not every
/// machine has, so they are called inside the function of `dispatch` for this kind only. They mean what the
/// operations of [`Float`] and of 32-bit integers mean, except that `fma` and its like may round once or twice, and
/// the elementary functions may differ from the scalar ones by some ulp.
#[expect(missing_docs, reason = "named after the operation; what needs words has them")]
pub trait Lanes: Copy + 'static {
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
        Self::map_i(a, b, generated::udiv)
    }
    #[inline(always)]
    fn rem_u(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, generated::urem)
    }
    #[inline(always)]
    fn div_i(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, |a, b| generated::idiv(a as i32, b as i32) as u32)
    }
    #[inline(always)]
    fn rem_i(a: Self::I, b: Self::I) -> Self::I {
        Self::map_i(a, b, |a, b| generated::irem(a as i32, b as i32) as u32)
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

    /// Lane `k` from `base + k`.
    ///
    /// # Safety
    /// `base` is valid for reads of `N` elements.
    #[inline(always)]
    unsafe fn load(base: *const Self::F) -> Self::R {
        // SAFETY: by the caller's promise.
        Self::get(&from_fn(|k| if k < Self::N { unsafe { base.add(k).read() } } else { Self::F::zero() }))
    }
    /// As [`Lanes::load`].
    ///
    /// # Safety
    /// As [`Lanes::load`].
    #[inline(always)]
    unsafe fn load_i(base: *const u32) -> Self::I {
        // SAFETY: by the caller's promise.
        Self::get_i(&from_fn(|k| if k < Self::N { unsafe { base.add(k).read() } } else { 0 }))
    }
    /// Lane `k` from `base + stride k`.
    ///
    /// # Safety
    /// Valid for reads from there to the last lane's; `stride N` is under 2^31.
    #[inline(always)]
    unsafe fn load_i_by(base: *const u32, stride: u32) -> Self::I {
        // SAFETY: by the caller's promise.
        unsafe { Self::gather_i(base, Self::mul_i(Self::count(), Self::splat_i(stride))) }
    }
    /// Component `c` of lane `k` from `base + 2 k + c`.
    ///
    /// # Safety
    /// Valid for reads of `2 N` elements.
    #[inline(always)]
    unsafe fn load2(base: *const Self::F) -> [Self::R; 2] {
        // SAFETY: by the caller's promise.
        unsafe { Self::gather2(base, Self::mul_i(Self::count(), Self::splat_i(2))) }
    }
    /// Component `c` of lane `k` from `base + 3 k + c`.
    ///
    /// # Safety
    /// Valid for reads of `3 N` elements and one more.
    #[inline(always)]
    unsafe fn load3(base: *const Self::F) -> [Self::R; 3] {
        // SAFETY: by the caller's promise.
        let [a, b, c, _] = unsafe { Self::gather4(base, Self::mul_i(Self::count(), Self::splat_i(3))) };
        [a, b, c]
    }
    /// Whether there are fast ways for the lanes of a mask that have rows of `c` reals next to each other:
    /// [`Lanes::load_some`] and [`Lanes::add_some`].
    #[inline(always)]
    fn has_some(_c: usize) -> bool {
        false
    }
    /// Component `c` of lane `k` from `base + C k + c`, for the lanes of `m`; the others stay as they are in `row`,
    /// which is laid out as memory is. Wants [`Lanes::unpack`] at the end.
    ///
    /// # Safety
    /// Valid for reads of these.
    #[inline(always)]
    unsafe fn load_some<const C: usize>(_base: *const Self::F, _m: Self::M, row: [Self::R; C]) -> [Self::R; C] {
        row
    }
    /// Rows as they are in memory to components.
    #[inline(always)]
    fn unpack<const C: usize>(row: [Self::R; C]) -> [Self::R; C] {
        row
    }
    /// Adds component `c` of lane `k` to `at + C k + c`.
    ///
    /// # Safety
    /// Valid for reads and writes of `C N` elements, for reads of one more where `C` is three; nobody else accesses them.
    #[inline(always)]
    unsafe fn add_row<const C: usize>(at: *mut Self::F, a: [Self::R; C]) {
        // SAFETY: by the caller's promise.
        unsafe {
            let before = element::load::<Self, C>(at);
            element::store::<Self, C>(at, from_fn(|c| Self::add(before[c], a[c])));
        }
    }
    /// Adds component `c` of lane `k` to `base + C k + c`, for the lanes of `m`.
    ///
    /// # Safety
    /// Valid for reads and writes of these; nobody else accesses them.
    #[inline(always)]
    unsafe fn add_some<const C: usize>(_base: *mut Self::F, _m: Self::M, _a: [Self::R; C]) {}
    /// Lane `k` to `base + k`.
    ///
    /// # Safety
    /// `base` is valid for writes of `N` elements.
    #[inline(always)]
    unsafe fn store(base: *mut Self::F, a: Self::R) {
        // SAFETY: by the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(Self::put(a).as_ptr(), base, Self::N) }
    }
    /// Lane `k` from `base + offset[k]`.
    ///
    /// # Safety
    /// Valid for reads there; offsets are under 2^31.
    #[inline(always)]
    unsafe fn gather1(base: *const Self::F, offset: Self::I) -> [Self::R; 1] {
        let o = Self::put_i(offset);
        // SAFETY: by the caller's promise.
        [Self::get(&from_fn(|k| if k < Self::N { unsafe { base.add(o[k] as usize).read() } } else { Self::F::zero() }))]
    }
    /// As [`Lanes::gather1`], integers.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    unsafe fn gather_i(base: *const u32, offset: Self::I) -> Self::I {
        let o = Self::put_i(offset);
        // SAFETY: by the caller's promise.
        Self::get_i(&from_fn(|k| if k < Self::N { unsafe { base.add(o[k] as usize).read() } } else { 0 }))
    }
    /// Component `c` of lane `k` from `base + offset[k] + c`.
    ///
    /// # Safety
    /// Valid for reads of two elements there; offsets are under 2^31.
    #[inline(always)]
    unsafe fn gather2(base: *const Self::F, offset: Self::I) -> [Self::R; 2] {
        // SAFETY: by the caller's promise.
        from_fn(|c| unsafe { Self::gather1(base.add(c), offset)[0] })
    }
    /// Component `c` of lane `k` from `base + offset[k] + c`.
    ///
    /// # Safety
    /// Valid for reads of four elements there; offsets are under 2^31.
    #[inline(always)]
    unsafe fn gather4(base: *const Self::F, offset: Self::I) -> [Self::R; 4] {
        // SAFETY: by the caller's promise.
        from_fn(|c| unsafe { Self::gather1(base.add(c), offset)[0] })
    }
    /// Component `c` of lane `k` to `at + 2 k + c`.
    ///
    /// # Safety
    /// Valid for writes of `2 N` elements.
    #[inline(always)]
    unsafe fn store2(at: *mut Self::F, a: [Self::R; 2]) {
        let a = a.map(Self::put);
        for k in 0..Self::N {
            for (c, a) in a.iter().enumerate() {
                // SAFETY: by the caller's promise.
                unsafe { at.add(2 * k + c).write(a[k]) };
            }
        }
    }
    /// Component `c` of lane `k` to `at + 4 slot4(k) + c`.
    ///
    /// # Safety
    /// Valid for writes of `4 N` elements.
    #[inline(always)]
    unsafe fn stage4(at: *mut Self::F, a: [Self::R; 4]) {
        // SAFETY: by the caller's promise.
        unsafe { Self::store4(at, 4, a) }
    }
    /// The place of lane `k` for [`Lanes::stage4`].
    #[inline(always)]
    fn slot4(k: usize) -> usize {
        k
    }
    /// Component `c` of lane `k` to `at + 3 k + c`.
    ///
    /// # Safety
    /// Valid for writes of `3 N` elements.
    #[inline(always)]
    unsafe fn store3(at: *mut Self::F, a: [Self::R; 3]) {
        let a = a.map(Self::put);
        for k in 0..Self::N {
            for (c, a) in a.iter().enumerate() {
                // SAFETY: by the caller's promise.
                unsafe { at.add(3 * k + c).write(a[k]) };
            }
        }
    }
    /// Component `c` of lane `k` to `at + stride k + c`, in the order of lanes.
    ///
    /// # Safety
    /// Valid for writes of four elements at each.
    #[inline(always)]
    unsafe fn store4(at: *mut Self::F, stride: usize, a: [Self::R; 4]) {
        let a = a.map(Self::put);
        for k in 0..Self::N {
            for (c, a) in a.iter().enumerate() {
                // SAFETY: by the caller's promise.
                unsafe { at.add(stride * k + c).write(a[k]) };
            }
        }
    }
}
