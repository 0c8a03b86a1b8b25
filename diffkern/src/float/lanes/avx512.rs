//! Sixteen lanes of `f32` in AVX-512.
//!
//! Elements of four components are loaded whole and transposed: lane `4 b + j` sits in block `b` of register `j`.

use std::arch::x86_64::*;
use std::ptr::read_volatile;

use super::math::{self, Bits};
use super::memory::Lanes;
use super::values::{MOST, Values, each};
use super::{element, rows};

/// Sixteen lanes of `f32`. Needs AVX-512 F, DQ, VL and FMA.
#[derive(Clone, Copy)]
pub struct Avx512;

macro_rules! ops {
    ($($name:ident($($a:ident: $t:ty),*) -> $r:ty = $e:expr;)*) => {
        $(
            #[inline(always)]
            #[allow(unused_unsafe, reason = "some only call others")]
            fn $name($($a: $t),*) -> $r {
                // SAFETY: these packs are only used where the machine has the instructions.
                unsafe { $e }
            }
        )*
    };
}
pub(super) use ops;

/// Blocks of registers and rows of elements: each is the other's transpose.
///
/// # Safety
/// The machine has AVX-512.
#[inline(always)]
unsafe fn transpose([a, b, c, d]: [__m512; 4]) -> [__m512; 4] {
    // SAFETY: as in `ops`.
    unsafe {
        let (ab, ab_high) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
        let (cd, cd_high) = (_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
        [
            _mm512_shuffle_ps::<0x44>(ab, cd),
            _mm512_shuffle_ps::<0xEE>(ab, cd),
            _mm512_shuffle_ps::<0x44>(ab_high, cd_high),
            _mm512_shuffle_ps::<0xEE>(ab_high, cd_high),
        ]
    }
}

/// Four blocks, one from each of the pointers.
///
/// # Safety
/// The machine has AVX-512.
#[inline(always)]
unsafe fn blocks(at: [__m128; 4]) -> __m512 {
    // SAFETY: as in `ops`.
    unsafe {
        let low = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(at[0]), at[1]);
        let high = _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(at[2]), at[3]);
        _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high)
    }
}

/// Where component `c` of the lanes is in rows of `n` reals: the first two registers of a row, then the third.
const fn row_places(n: usize, c: usize) -> [[i32; 16]; 2] {
    let mut places = [[0; 16]; 2];
    let mut k = 0;
    while k < 16 {
        let at = (n * k + c) as i32;
        places[0][k] = at & 31;
        places[1][k] = if at < 32 { k as i32 } else { at - 16 };
        k += 1;
    }
    places
}

/// Where the reals of register `j` of rows of `n` are in their components: the first two of them, then the third.
const fn row_sources(n: usize, j: usize) -> [[i32; 16]; 2] {
    let mut places = [[0; 16]; 2];
    let mut k = 0;
    while k < 16 {
        let at = 16 * j + k;
        let (lane, c) = ((at / n) as i32, at % n);
        places[0][k] = if c == 1 { lane + 16 } else { lane };
        places[1][k] = if c == 2 { lane + 16 } else { k as i32 };
        k += 1;
    }
    places
}

#[inline(always)]
fn indices(places: &'static [i32; 16]) -> __m512i {
    // SAFETY: as in `ops`.
    unsafe { _mm512_loadu_epi32(places.as_ptr()) }
}

/// Components to rows as they are in memory.
#[inline(always)]
fn pack<const C: usize>(a: [__m512; C]) -> [__m512; C] {
    const TWO: [[[i32; 16]; 2]; 2] = [row_sources(2, 0), row_sources(2, 1)];
    const THREE: [[[i32; 16]; 2]; 3] = [row_sources(3, 0), row_sources(3, 1), row_sources(3, 2)];
    // SAFETY: as in `ops`.
    each(|j| unsafe {
        match C {
            2 => _mm512_permutex2var_ps(a[0], indices(&TWO[j][0]), a[1]),
            3 => {
                let two = _mm512_permutex2var_ps(a[0], indices(&THREE[j][0]), a[1]);
                _mm512_permutex2var_ps(two, indices(&THREE[j][1]), a[2])
            }
            _ => a[j],
        }
    })
}

/// The bits of lanes, one for each of the up to three reals of a lane.
#[inline(always)]
fn row_mask<const C: usize>(m: u16) -> u64 {
    const FIRSTS: [u64; 4] = [0, 0xFFFF, 0x5555_5555, 0x2492_4924_9249];
    // SAFETY: as in `ops`.
    unsafe { _pdep_u64(u64::from(m), FIRSTS[C]) * ((1 << C) - 1) }
}

impl Bits for Avx512 {
    ops! {
        to_bits(a: __m512) -> __m512i = _mm512_castps_si512(a);
        of_bits(a: __m512i) -> __m512 = _mm512_castsi512_ps(a);
    }
}

impl Values for Avx512 {
    type F = f32;
    type R = __m512;
    type I = __m512i;
    type M = u16;
    const N: usize = 16;

    ops! {
        put(a: __m512) -> [f32; MOST] = std::mem::transmute::<__m512, [f32; MOST]>(a);
        get(a: &[f32; MOST]) -> __m512 = _mm512_loadu_ps(a.as_ptr());
        put_i(a: __m512i) -> [u32; MOST] = std::mem::transmute::<__m512i, [u32; MOST]>(a);
        get_i(a: &[u32; MOST]) -> __m512i = _mm512_loadu_epi32(a.as_ptr().cast());
        splat(x: f32) -> __m512 = _mm512_set1_ps(x);
        add(a: __m512, b: __m512) -> __m512 = _mm512_add_ps(a, b);
        sub(a: __m512, b: __m512) -> __m512 = _mm512_sub_ps(a, b);
        mul(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
        div(a: __m512, b: __m512) -> __m512 = _mm512_div_ps(a, b);
        fma(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_ps(a, b, c);
        fms(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmsub_ps(a, b, c);
        fnma(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fnmadd_ps(a, b, c);
        neg(a: __m512) -> __m512 = _mm512_xor_ps(a, _mm512_set1_ps(-0.0));
        abs(a: __m512) -> __m512 = _mm512_abs_ps(a);
        sqrt(a: __m512) -> __m512 = _mm512_sqrt_ps(a);
        floor(a: __m512) -> __m512 = _mm512_roundscale_ps::<0x09>(a);
        ceil(a: __m512) -> __m512 = _mm512_roundscale_ps::<0x0A>(a);
        round(a: __m512) -> __m512 = _mm512_roundscale_ps::<0x08>(a);
        // The instruction gives its second operand where one is NaN.
        min(a: __m512, b: __m512) -> __m512 = _mm512_mask_mov_ps(_mm512_min_ps(b, a), Self::is_nan(a), b);
        max(a: __m512, b: __m512) -> __m512 = _mm512_mask_mov_ps(_mm512_max_ps(b, a), Self::is_nan(a), b);
        exp(a: __m512) -> __m512 = math::exp::<Self>(a);
        ln(a: __m512) -> __m512 = math::ln::<Self>(a);
        log1p(a: __m512) -> __m512 = math::log1p::<Self>(a);
        sin(a: __m512) -> __m512 = math::sin::<Self>(a);
        cos(a: __m512) -> __m512 = math::cos::<Self>(a);
        select(m: u16, a: __m512, b: __m512) -> __m512 = _mm512_mask_mov_ps(b, m, a);
        lt(a: __m512, b: __m512) -> u16 = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
        le(a: __m512, b: __m512) -> u16 = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
        eq(a: __m512, b: __m512) -> u16 = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b);
        is_nan(a: __m512) -> u16 = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, a);
        from_i32(a: __m512i) -> __m512 = _mm512_cvtepi32_ps(a);
        from_u32(a: __m512i) -> __m512 = _mm512_cvtepu32_ps(a);
        to_i32(a: __m512) -> __m512i = {
            let number = _mm512_cmp_ps_mask::<_CMP_ORD_Q>(a, a);
            let large = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, _mm512_set1_ps(2_147_483_648.0));
            _mm512_mask_mov_epi32(_mm512_maskz_cvttps_epi32(number, a), large, _mm512_set1_epi32(i32::MAX))
        };
        // Beyond the range all bits are set, which is the largest.
        to_u32(a: __m512) -> __m512i =
            _mm512_maskz_cvttps_epu32(_mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, _mm512_setzero_ps()), a);
        sum(a: __m512) -> f32 = _mm512_reduce_add_ps(a);

        splat_i(x: u32) -> __m512i = _mm512_set1_epi32(x as i32);
        head(a: __m512i) -> u32 = _mm512_cvtsi512_si32(a) as u32;
        pick_i(a: __m512i, k: usize) -> __m512i = _mm512_permutexvar_epi32(_mm512_set1_epi32(k as i32), a);
        is_run(a: __m512i) -> bool = {
            let first = _mm512_broadcastd_epi32(_mm512_castsi512_si128(a));
            _mm512_cmpneq_epi32_mask(a, _mm512_add_epi32(first, Self::count())) == 0
        };
        count() -> __m512i = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        add_i(a: __m512i, b: __m512i) -> __m512i = _mm512_add_epi32(a, b);
        sub_i(a: __m512i, b: __m512i) -> __m512i = _mm512_sub_epi32(a, b);
        mul_i(a: __m512i, b: __m512i) -> __m512i = _mm512_mullo_epi32(a, b);
        abs_i(a: __m512i) -> __m512i = _mm512_abs_epi32(a);
        min_i(a: __m512i, b: __m512i) -> __m512i = _mm512_min_epi32(a, b);
        max_i(a: __m512i, b: __m512i) -> __m512i = _mm512_max_epi32(a, b);
        min_u(a: __m512i, b: __m512i) -> __m512i = _mm512_min_epu32(a, b);
        max_u(a: __m512i, b: __m512i) -> __m512i = _mm512_max_epu32(a, b);
        and_i(a: __m512i, b: __m512i) -> __m512i = _mm512_and_si512(a, b);
        or_i(a: __m512i, b: __m512i) -> __m512i = _mm512_or_si512(a, b);
        xor_i(a: __m512i, b: __m512i) -> __m512i = _mm512_xor_si512(a, b);
        shl(a: __m512i, b: __m512i) -> __m512i = _mm512_sllv_epi32(a, _mm512_and_si512(b, _mm512_set1_epi32(31)));
        shr_u(a: __m512i, b: __m512i) -> __m512i = _mm512_srlv_epi32(a, _mm512_and_si512(b, _mm512_set1_epi32(31)));
        shr_i(a: __m512i, b: __m512i) -> __m512i = _mm512_srav_epi32(a, _mm512_and_si512(b, _mm512_set1_epi32(31)));
        select_i(m: u16, a: __m512i, b: __m512i) -> __m512i = _mm512_mask_mov_epi32(b, m, a);
        eq_i(a: __m512i, b: __m512i) -> u16 = _mm512_cmpeq_epi32_mask(a, b);
        lt_i(a: __m512i, b: __m512i) -> u16 = _mm512_cmplt_epi32_mask(a, b);
        lt_u(a: __m512i, b: __m512i) -> u16 = _mm512_cmplt_epu32_mask(a, b);
    }

    #[inline(always)]
    fn bits(a: u16) -> u32 {
        u32::from(a)
    }
    #[inline(always)]
    fn from_bits(bits: u32) -> u16 {
        bits as u16
    }
}

impl Lanes for Avx512 {
    #[inline(always)]
    unsafe fn load(base: *const f32) -> __m512 {
        // SAFETY: by the caller's promise.
        unsafe { _mm512_loadu_ps(base) }
    }
    #[inline(always)]
    unsafe fn load_i(base: *const u32) -> __m512i {
        // SAFETY: by the caller's promise.
        unsafe { _mm512_loadu_epi32(base.cast()) }
    }
    #[inline(always)]
    unsafe fn load_i_by(base: *const u32, stride: u32) -> __m512i {
        const TWO: [i32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31];
        const THREE: [[i32; 16]; 2] = [
            [0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0],
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 19, 22, 25, 28, 31],
        ];
        // SAFETY: by the caller's promise; the last register read ends with the last lane's.
        unsafe {
            match stride {
                2 => _mm512_permutex2var_epi32(Self::load_i(base), indices(&TWO), Self::load_i(base.add(15))),
                3 => {
                    let low = Self::load_i(base);
                    let two = _mm512_permutex2var_epi32(low, indices(&THREE[0]), Self::load_i(base.add(16)));
                    _mm512_permutex2var_epi32(two, indices(&THREE[1]), Self::load_i(base.add(30)))
                }
                _ => Self::gather_i(base, Self::mul_i(Self::count(), Self::splat_i(stride))),
            }
        }
    }
    #[inline(always)]
    unsafe fn load2(base: *const f32) -> [__m512; 2] {
        // SAFETY: by the caller's promise.
        Self::unpack(unsafe { [Self::load(base), Self::load(base.add(16))] })
    }
    #[inline(always)]
    unsafe fn load3(base: *const f32) -> [__m512; 3] {
        // SAFETY: by the caller's promise.
        Self::unpack(unsafe { [Self::load(base), Self::load(base.add(16)), Self::load(base.add(32))] })
    }
    const SOME: usize = 3;
    #[inline(always)]
    unsafe fn load_some<const C: usize>(base: *const f32, m: u16, row: [__m512; C]) -> [__m512; C] {
        if const { C > Self::SOME } {
            // SAFETY: by the caller's promise.
            return unsafe { rows::load_some::<Self, C>(base, m, row) };
        }
        let m = row_mask::<C>(m);
        // SAFETY: by the caller's promise; what is masked off is not accessed.
        each(|j| unsafe { _mm512_mask_loadu_ps(row[j], (m >> (16 * j)) as u16, base.wrapping_add(16 * j)) })
    }
    #[inline(always)]
    fn unpack<const C: usize>(row: [__m512; C]) -> [__m512; C] {
        const TWO: [[[i32; 16]; 2]; 2] = [row_places(2, 0), row_places(2, 1)];
        const THREE: [[[i32; 16]; 2]; 3] = [row_places(3, 0), row_places(3, 1), row_places(3, 2)];
        if const { C > Self::SOME } {
            return rows::unpack::<Self, C>(row);
        }
        // SAFETY: as in `ops`.
        each(|c| unsafe {
            match C {
                2 => _mm512_permutex2var_ps(row[0], indices(&TWO[c][0]), row[1]),
                3 => {
                    let two = _mm512_permutex2var_ps(row[0], indices(&THREE[c][0]), row[1]);
                    _mm512_permutex2var_ps(two, indices(&THREE[c][1]), row[2])
                }
                _ => row[c],
            }
        })
    }
    #[inline(always)]
    unsafe fn add_row<const C: usize>(at: *mut f32, a: [__m512; C]) {
        // SAFETY: by the caller's promise.
        unsafe {
            if const { C > Self::SOME } {
                let before = element::load::<Self, C>(at);
                return element::store::<Self, C>(at, each(|c| _mm512_add_ps(before[c], a[c])));
            }
            let row = pack(a);
            each::<_, C>(|j| Self::store(at.add(16 * j), _mm512_add_ps(Self::load(at.add(16 * j)), row[j])));
        }
    }
    #[inline(always)]
    unsafe fn add_some<const C: usize>(base: *mut f32, m: u16, a: [__m512; C]) {
        if const { C > Self::SOME } {
            // SAFETY: by the caller's promise.
            return unsafe { rows::add_some::<Self, C>(base, m, a) };
        }
        let (m, row) = (row_mask::<C>(m), pack(a));
        each::<_, C>(|j| {
            let (m, at) = ((m >> (16 * j)) as u16, base.wrapping_add(16 * j));
            // SAFETY: by the caller's promise; what is masked off is not accessed.
            unsafe { _mm512_mask_storeu_ps(at, m, _mm512_add_ps(_mm512_maskz_loadu_ps(m, at), row[j])) };
        });
    }
    #[inline(always)]
    unsafe fn store(base: *mut f32, a: __m512) {
        // SAFETY: by the caller's promise.
        unsafe { _mm512_storeu_ps(base, a) }
    }
    #[inline(always)]
    unsafe fn gather1(base: *const f32, offset: __m512i) -> [__m512; 1] {
        // SAFETY: by the caller's promise.
        [unsafe { _mm512_i32gather_ps::<4>(offset, base) }]
    }
    #[inline(always)]
    unsafe fn gather_i(base: *const u32, offset: __m512i) -> __m512i {
        // SAFETY: by the caller's promise.
        unsafe { _mm512_i32gather_epi32::<4>(offset, base.cast()) }
    }
    #[inline(always)]
    unsafe fn gather2(base: *const f32, offset: __m512i) -> [__m512; 2] {
        let o = Self::put_i(offset);
        // SAFETY: by the caller's promise. A volatile read keeps the offsets in memory, which is faster than taking
        // them out of the register one by one.
        unsafe {
            let at = |k: usize| base.add(read_volatile(&raw const o[k]) as usize).cast::<f64>();
            let pair = |k: usize| {
                let low = _mm_set_sd(at(k).read_unaligned());
                _mm_castpd_ps(_mm_unpacklo_pd(low, _mm_set_sd(at(k + 1).read_unaligned())))
            };
            let a = blocks([pair(0), pair(4), pair(8), pair(12)]);
            let b = blocks([pair(2), pair(6), pair(10), pair(14)]);
            [_mm512_shuffle_ps::<0x88>(a, b), _mm512_shuffle_ps::<0xDD>(a, b)]
        }
    }
    #[inline(always)]
    unsafe fn gather4(base: *const f32, offset: __m512i) -> [__m512; 4] {
        let o = Self::put_i(offset);
        // SAFETY: as in `gather2`.
        unsafe {
            let at = |k: usize| _mm_loadu_ps(base.add(read_volatile(&raw const o[k]) as usize));
            let rows = |j: usize| blocks([at(j), at(4 + j), at(8 + j), at(12 + j)]);
            transpose([rows(0), rows(1), rows(2), rows(3)])
        }
    }
    #[inline(always)]
    unsafe fn store2(at: *mut f32, a: [__m512; 2]) {
        let row = pack(a);
        // SAFETY: by the caller's promise.
        each::<_, 2>(|j| unsafe { _mm512_storeu_ps(at.add(16 * j), row[j]) });
    }
    #[inline(always)]
    unsafe fn stage4(at: *mut f32, a: [__m512; 4]) {
        // SAFETY: by the caller's promise.
        unsafe {
            let rows = transpose(a);
            each::<_, 4>(|j| _mm512_storeu_ps(at.add(16 * j), rows[j]));
        }
    }
    #[inline(always)]
    fn slot4(k: usize) -> usize {
        k % 4 * 4 + k / 4
    }
    #[inline(always)]
    unsafe fn store3(at: *mut f32, a: [__m512; 3]) {
        let row = pack(a);
        // SAFETY: by the caller's promise.
        each::<_, 3>(|j| unsafe { _mm512_storeu_ps(at.add(16 * j), row[j]) });
    }
    #[inline(always)]
    unsafe fn store4(at: *mut f32, stride: usize, a: [__m512; 4]) {
        // SAFETY: by the caller's promise.
        unsafe {
            let rows = transpose(a);
            each::<_, 4>(|j| _mm_storeu_ps(at.add(stride * j), _mm512_castps512_ps128(rows[j])));
            each::<_, 4>(|j| _mm_storeu_ps(at.add(stride * (4 + j)), _mm512_extractf32x4_ps::<1>(rows[j])));
            each::<_, 4>(|j| _mm_storeu_ps(at.add(stride * (8 + j)), _mm512_extractf32x4_ps::<2>(rows[j])));
            each::<_, 4>(|j| _mm_storeu_ps(at.add(stride * (12 + j)), _mm512_extractf32x4_ps::<3>(rows[j])));
        }
    }
}
