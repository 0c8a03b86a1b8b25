//! Eight lanes of `f32` in AVX2 with FMA, laid out as in the pack of sixteen.

use std::arch::x86_64::*;
use std::ptr::read_volatile;

use super::avx512::ops;
use super::math::{self, Bits};
use super::memory::Lanes;
use super::values::{MOST, Values, each};

/// Eight lanes of `f32`. Needs AVX2 and FMA.
#[derive(Clone, Copy)]
pub struct Avx2;

/// Blocks of registers and rows of elements: each is the other's transpose.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn transpose([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: as in `ops`.
    unsafe {
        let (ab, ab_high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (cd, cd_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0x44>(ab, cd),
            _mm256_shuffle_ps::<0xEE>(ab, cd),
            _mm256_shuffle_ps::<0x44>(ab_high, cd_high),
            _mm256_shuffle_ps::<0xEE>(ab_high, cd_high),
        ]
    }
}

/// Two blocks, one after the other.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn blocks(low: __m128, high: __m128) -> __m256 {
    // SAFETY: as in `ops`.
    unsafe { _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high) }
}

impl Bits for Avx2 {
    ops! {
        to_bits(a: __m256) -> __m256i = _mm256_castps_si256(a);
        of_bits(a: __m256i) -> __m256 = _mm256_castsi256_ps(a);
    }
}

impl Values for Avx2 {
    type F = f32;
    type R = __m256;
    type I = __m256i;
    /// All bits of a lane.
    type M = __m256i;
    const N: usize = 8;

    ops! {
        put(a: __m256) -> [f32; MOST] = std::mem::transmute::<[__m256; 2], [f32; MOST]>([a, _mm256_setzero_ps()]);
        get(a: &[f32; MOST]) -> __m256 = _mm256_loadu_ps(a.as_ptr());
        put_i(a: __m256i) -> [u32; MOST] =
            std::mem::transmute::<[__m256i; 2], [u32; MOST]>([a, _mm256_setzero_si256()]);
        get_i(a: &[u32; MOST]) -> __m256i = _mm256_loadu_si256(a.as_ptr().cast());
        splat(x: f32) -> __m256 = _mm256_set1_ps(x);
        add(a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
        sub(a: __m256, b: __m256) -> __m256 = _mm256_sub_ps(a, b);
        mul(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
        div(a: __m256, b: __m256) -> __m256 = _mm256_div_ps(a, b);
        fma(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmadd_ps(a, b, c);
        fms(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmsub_ps(a, b, c);
        fnma(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fnmadd_ps(a, b, c);
        neg(a: __m256) -> __m256 = _mm256_xor_ps(a, _mm256_set1_ps(-0.0));
        abs(a: __m256) -> __m256 = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
        sqrt(a: __m256) -> __m256 = _mm256_sqrt_ps(a);
        floor(a: __m256) -> __m256 = _mm256_floor_ps(a);
        ceil(a: __m256) -> __m256 = _mm256_ceil_ps(a);
        round(a: __m256) -> __m256 = _mm256_round_ps::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a);
        // The instruction gives its second operand where one is NaN.
        min(a: __m256, b: __m256) -> __m256 = Self::select(Self::is_nan(a), b, _mm256_min_ps(b, a));
        max(a: __m256, b: __m256) -> __m256 = Self::select(Self::is_nan(a), b, _mm256_max_ps(b, a));
        exp(a: __m256) -> __m256 = math::exp::<Self>(a);
        ln(a: __m256) -> __m256 = math::ln::<Self>(a);
        log1p(a: __m256) -> __m256 = math::log1p::<Self>(a);
        sin(a: __m256) -> __m256 = math::sin::<Self>(a);
        cos(a: __m256) -> __m256 = math::cos::<Self>(a);
        select(m: __m256i, a: __m256, b: __m256) -> __m256 = _mm256_blendv_ps(b, a, _mm256_castsi256_ps(m));
        lt(a: __m256, b: __m256) -> __m256i = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b));
        le(a: __m256, b: __m256) -> __m256i = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LE_OQ>(a, b));
        eq(a: __m256, b: __m256) -> __m256i = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_EQ_OQ>(a, b));
        is_nan(a: __m256) -> __m256i = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(a, a));
        from_i32(a: __m256i) -> __m256 = _mm256_cvtepi32_ps(a);
        to_i32(a: __m256) -> __m256i = {
            let large = Self::le(_mm256_set1_ps(2_147_483_648.0), a);
            let number = Self::eq(a, a);
            _mm256_and_si256(number, _mm256_blendv_epi8(_mm256_cvttps_epi32(a), _mm256_set1_epi32(i32::MAX), large))
        };
        sum(a: __m256) -> f32 = {
            let four = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps::<1>(a));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        };

        splat_i(x: u32) -> __m256i = _mm256_set1_epi32(x as i32);
        count() -> __m256i = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        add_i(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi32(a, b);
        sub_i(a: __m256i, b: __m256i) -> __m256i = _mm256_sub_epi32(a, b);
        mul_i(a: __m256i, b: __m256i) -> __m256i = _mm256_mullo_epi32(a, b);
        abs_i(a: __m256i) -> __m256i = _mm256_abs_epi32(a);
        min_i(a: __m256i, b: __m256i) -> __m256i = _mm256_min_epi32(a, b);
        max_i(a: __m256i, b: __m256i) -> __m256i = _mm256_max_epi32(a, b);
        min_u(a: __m256i, b: __m256i) -> __m256i = _mm256_min_epu32(a, b);
        max_u(a: __m256i, b: __m256i) -> __m256i = _mm256_max_epu32(a, b);
        and_i(a: __m256i, b: __m256i) -> __m256i = _mm256_and_si256(a, b);
        or_i(a: __m256i, b: __m256i) -> __m256i = _mm256_or_si256(a, b);
        xor_i(a: __m256i, b: __m256i) -> __m256i = _mm256_xor_si256(a, b);
        shl(a: __m256i, b: __m256i) -> __m256i = _mm256_sllv_epi32(a, _mm256_and_si256(b, _mm256_set1_epi32(31)));
        shr_u(a: __m256i, b: __m256i) -> __m256i = _mm256_srlv_epi32(a, _mm256_and_si256(b, _mm256_set1_epi32(31)));
        shr_i(a: __m256i, b: __m256i) -> __m256i = _mm256_srav_epi32(a, _mm256_and_si256(b, _mm256_set1_epi32(31)));
        select_i(m: __m256i, a: __m256i, b: __m256i) -> __m256i = _mm256_blendv_epi8(b, a, m);
        eq_i(a: __m256i, b: __m256i) -> __m256i = _mm256_cmpeq_epi32(a, b);
        lt_i(a: __m256i, b: __m256i) -> __m256i = _mm256_cmpgt_epi32(b, a);
        // Signed comparison of what is moved by 2^31.
        lt_u(a: __m256i, b: __m256i) -> __m256i = {
            let low = _mm256_set1_epi32(i32::MIN);
            _mm256_cmpgt_epi32(_mm256_xor_si256(b, low), _mm256_xor_si256(a, low))
        };

        bits(a: __m256i) -> u32 = _mm256_movemask_ps(_mm256_castsi256_ps(a)) as u32;
        from_bits(bits: u32) -> __m256i = {
            let own = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits as i32), own), own)
        };
        splat_m(x: bool) -> __m256i = _mm256_set1_epi32(-i32::from(x));
        and(a: __m256i, b: __m256i) -> __m256i = _mm256_and_si256(a, b);
        or(a: __m256i, b: __m256i) -> __m256i = _mm256_or_si256(a, b);
        xor(a: __m256i, b: __m256i) -> __m256i = _mm256_xor_si256(a, b);
        not(a: __m256i) -> __m256i = _mm256_xor_si256(a, _mm256_set1_epi32(-1));
        any(a: __m256i) -> bool = _mm256_movemask_ps(_mm256_castsi256_ps(a)) != 0;
        full(a: __m256i) -> bool = _mm256_movemask_ps(_mm256_castsi256_ps(a)) == 255;
    }
}

impl Lanes for Avx2 {
    #[inline(always)]
    unsafe fn load(base: *const f32) -> __m256 {
        // SAFETY: by the caller's promise.
        unsafe { _mm256_loadu_ps(base) }
    }
    #[inline(always)]
    unsafe fn load_i(base: *const u32) -> __m256i {
        // SAFETY: by the caller's promise.
        unsafe { _mm256_loadu_si256(base.cast()) }
    }
    #[inline(always)]
    unsafe fn store(base: *mut f32, a: __m256) {
        // SAFETY: by the caller's promise.
        unsafe { _mm256_storeu_ps(base, a) }
    }
    #[inline(always)]
    unsafe fn gather1(base: *const f32, offset: __m256i) -> [__m256; 1] {
        // SAFETY: by the caller's promise.
        [unsafe { _mm256_i32gather_ps::<4>(base, offset) }]
    }
    #[inline(always)]
    unsafe fn gather_i(base: *const u32, offset: __m256i) -> __m256i {
        // SAFETY: by the caller's promise.
        unsafe { _mm256_i32gather_epi32::<4>(base.cast(), offset) }
    }
    #[inline(always)]
    unsafe fn gather2(base: *const f32, offset: __m256i) -> [__m256; 2] {
        let o = Self::put_i(offset);
        // SAFETY: by the caller's promise. A volatile read keeps the offsets in memory, which is faster than taking
        // them out of the register one by one.
        unsafe {
            let at = |k: usize| base.add(read_volatile(&raw const o[k]) as usize).cast::<f64>();
            let pair = |k: usize| {
                let low = _mm_set_sd(at(k).read_unaligned());
                _mm_castpd_ps(_mm_unpacklo_pd(low, _mm_set_sd(at(k + 1).read_unaligned())))
            };
            let (a, b) = (blocks(pair(0), pair(4)), blocks(pair(2), pair(6)));
            [_mm256_shuffle_ps::<0x88>(a, b), _mm256_shuffle_ps::<0xDD>(a, b)]
        }
    }
    #[inline(always)]
    unsafe fn gather4(base: *const f32, offset: __m256i) -> [__m256; 4] {
        let o = Self::put_i(offset);
        // SAFETY: as in `gather2`.
        unsafe {
            let at = |k: usize| _mm_loadu_ps(base.add(read_volatile(&raw const o[k]) as usize));
            let rows = |j: usize| blocks(at(j), at(4 + j));
            transpose([rows(0), rows(1), rows(2), rows(3)])
        }
    }
    #[inline(always)]
    unsafe fn store2(at: *mut f32, [a, b]: [__m256; 2]) {
        // SAFETY: by the caller's promise.
        unsafe {
            let (low, high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
            _mm256_storeu_ps(at, _mm256_permute2f128_ps::<0x20>(low, high));
            _mm256_storeu_ps(at.add(8), _mm256_permute2f128_ps::<0x31>(low, high));
        }
    }
    #[inline(always)]
    unsafe fn stage4(at: *mut f32, a: [__m256; 4]) {
        // SAFETY: by the caller's promise.
        unsafe {
            let rows = transpose(a);
            each::<_, 4>(|j| _mm256_storeu_ps(at.add(8 * j), rows[j]));
        }
    }
    #[inline(always)]
    fn slot4(k: usize) -> usize {
        k % 4 * 2 + k / 4
    }
    #[inline(always)]
    unsafe fn store3(at: *mut f32, [a, b, c]: [__m256; 3]) {
        // SAFETY: by the caller's promise. What a store writes beyond its element, the next one overwrites.
        unsafe {
            let rows = transpose([a, b, c, c]);
            let high = |j: usize| _mm256_extractf128_ps::<1>(rows[j]);
            each::<_, 4>(|j| _mm_storeu_ps(at.add(3 * j), _mm256_castps256_ps128(rows[j])));
            each::<_, 3>(|j| _mm_storeu_ps(at.add(3 * (4 + j)), high(j)));
            _mm_storel_epi64(at.add(21).cast(), _mm_castps_si128(high(3)));
            _mm_store_ss(at.add(23), _mm_movehl_ps(high(3), high(3)));
        }
    }
    #[inline(always)]
    unsafe fn store4(at: *mut f32, stride: usize, a: [__m256; 4]) {
        // SAFETY: by the caller's promise.
        unsafe {
            let rows = transpose(a);
            each::<_, 4>(|j| _mm_storeu_ps(at.add(stride * j), _mm256_castps256_ps128(rows[j])));
            each::<_, 4>(|j| _mm_storeu_ps(at.add(stride * (4 + j)), _mm256_extractf128_ps::<1>(rows[j])));
        }
    }
}
