//! What a pack of lanes does in memory.

use std::array::from_fn;

use super::values::{Values, each, map};
use super::{element, rows};
use crate::float::Float;

/// Packs with their ways from and to memory: the interface between generated bodies and the instructions of a machine.
///
/// As with values, what has no faster way goes lane by lane.
pub trait Lanes: Values {
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
    /// Rows of up to so many reals next to each other have fast ways for the lanes of a mask: [`Lanes::load_some`] and [`Lanes::add_some`].
    const SOME: usize = 0;
    /// Component `c` of lane `k` from `base + C k + c`, for the lanes of `m`; the others stay as they are in `row`,
    /// which is laid out as memory is. Wants [`Lanes::unpack`] at the end.
    ///
    /// # Safety
    /// Valid for reads of these.
    #[inline(always)]
    unsafe fn load_some<const C: usize>(base: *const Self::F, m: Self::M, row: [Self::R; C]) -> [Self::R; C] {
        // SAFETY: by the caller's promise.
        unsafe { rows::load_some::<Self, C>(base, m, row) }
    }
    /// Rows as they are in memory to components.
    #[inline(always)]
    fn unpack<const C: usize>(row: [Self::R; C]) -> [Self::R; C] {
        rows::unpack::<Self, C>(row)
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
            element::store::<Self, C>(at, each(|c| Self::add(before[c], a[c])));
        }
    }
    /// Adds component `c` of lane `k` to `base + C k + c`, for the lanes of `m`.
    ///
    /// # Safety
    /// Valid for reads and writes of these; nobody else accesses them.
    #[inline(always)]
    unsafe fn add_some<const C: usize>(base: *mut Self::F, m: Self::M, a: [Self::R; C]) {
        // SAFETY: by the caller's promise.
        unsafe { rows::add_some::<Self, C>(base, m, a) }
    }
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
        each(|c| unsafe { Self::gather1(base.add(c), offset)[0] })
    }
    /// Component `c` of lane `k` from `base + offset[k] + c`.
    ///
    /// # Safety
    /// Valid for reads of four elements there; offsets are under 2^31.
    #[inline(always)]
    unsafe fn gather4(base: *const Self::F, offset: Self::I) -> [Self::R; 4] {
        // SAFETY: by the caller's promise.
        each(|c| unsafe { Self::gather1(base.add(c), offset)[0] })
    }
    /// Component `c` of lane `k` to `at + 2 k + c`.
    ///
    /// # Safety
    /// Valid for writes of `2 N` elements.
    #[inline(always)]
    unsafe fn store2(at: *mut Self::F, a: [Self::R; 2]) {
        let a = map(a, Self::put);
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
        let a = map(a, Self::put);
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
        let a = map(a, Self::put);
        for k in 0..Self::N {
            for (c, a) in a.iter().enumerate() {
                // SAFETY: by the caller's promise.
                unsafe { at.add(stride * k + c).write(a[k]) };
            }
        }
    }
}
