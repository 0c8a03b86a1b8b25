//! Additions that a pack has kept until it is done, made lane by lane.

use std::marker::PhantomData;

use super::super::views::Acc;
use super::memory::Lanes;
use super::values::{MOST, each, map};
use crate::element::Element;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line([u8; 64]);

impl Line {
    pub(super) const ZERO: Line = Line([0; 64]);
}

/// Reals that an element of `C` takes among the kept ones.
const fn padded(c: usize) -> usize {
    if c <= 2 { c } else { c.div_ceil(4) * 4 }
}

/// How the indices of kept additions lie.
pub(super) struct Pattern {
    /// Lanes that add to the same elements as the lane after them.
    same: u32,
    /// Bit `e` of a lane: whether its addition `e` is to the element after that of addition `e - 1`, in the same row.
    nexts: [u32; MOST],
}

impl Pattern {
    /// Nothing is known.
    pub(super) const NONE: Pattern = Pattern { same: 0, nexts: [0; MOST] };
}

/// Additions to one array: of each a line with the indices, then one with the lanes, then the values.
pub(super) struct Kept<'k, 'a, S, T> {
    one: Acc<'a, T>,
    lines: &'k [Line],
    n: usize,
    token: PhantomData<S>,
}

impl<'k, 'a, S: Lanes, T: Element> Kept<'k, 'a, S, T> {
    /// Lines of one addition.
    pub(super) const LINES: usize = 2 + (padded(T::COMPONENTS) * S::N * size_of::<T::Scalar>()).div_ceil(64);

    /// The first `n` additions in `lines`.
    #[inline(always)]
    pub(super) fn new(one: Acc<'a, T>, lines: &'k [Line], n: usize) -> Self {
        assert!(n * Self::LINES <= lines.len(), "additions are kept in whole lines");
        Kept { one, lines, n, token: PhantomData }
    }

    /// Where addition `e` begins.
    #[inline(always)]
    fn line(&self, e: usize) -> *const Line {
        self.lines.as_ptr().wrapping_add(e * Self::LINES)
    }

    #[inline(always)]
    pub(super) fn pattern(&self) -> Pattern {
        let (zero, row) = (S::splat_i(0), S::splat_i(self.one.row_mask()));
        let (mut same, mut nexts, mut before) = (S::eq_i(zero, zero), zero, zero);
        for e in 0..self.n {
            let at = self.line(e).cast::<u32>();
            // SAFETY: an addition has a line of indices, and one after it.
            let (i, after) = unsafe { (S::load_i(at), S::load_i(at.add(1))) };
            same = S::and(same, S::eq_i(i, after));
            let next = S::and(S::eq_i(S::sub_i(i, before), S::splat_i(1)), S::not(S::eq_i(S::and_i(i, row), zero)));
            let bit = S::splat_i(1u32.checked_shl(e as u32).unwrap_or(0));
            nexts = S::select_i(next, S::or_i(nexts, bit), nexts);
            before = i;
        }
        Pattern { same: S::bits(same), nexts: S::put_i(nexts) }
    }

    /// Makes the additions, all of a lane before those of the next, but those of two lanes at once that add to the same
    /// elements.
    #[inline(never)]
    pub(super) fn make(&self, pattern: &Pattern) {
        let all = (0..self.n).fold(u32::MAX, |all, e| all & self.mask(e));
        let mut k = 0;
        while k < S::N {
            // SAFETY: the lanes are in the masks.
            unsafe {
                if all >> k & 1 == 0 {
                    for e in (0..self.n).filter(|&e| self.mask(e) >> k & 1 == 1) {
                        self.add::<1>(self.place(e, k), e, k);
                    }
                } else if pattern.same & all >> 1 & 1 << k != 0 {
                    self.add_lanes::<2>(k, pattern.nexts[k]);
                    k += 1;
                } else {
                    self.add_lanes::<1>(k, pattern.nexts[k]);
                }
            }
            k += 1;
        }
    }

    /// The lanes that have addition `e`.
    #[inline(always)]
    fn mask(&self, e: usize) -> u32 {
        // SAFETY: kept additions have lanes.
        unsafe { self.line(e).add(1).cast::<u32>().read() }
    }

    /// Where addition `e` of lane `k` goes.
    ///
    /// # Safety
    /// The lane has the addition.
    #[inline(always)]
    unsafe fn place(&self, e: usize, k: usize) -> *mut T {
        // SAFETY: an index in range.
        unsafe { self.one.place(self.line(e).cast::<u32>().add(k).read()) }
    }

    /// Makes all additions of lanes `k .. k + R`, which are to the same elements, looking up places only where a row
    /// begins.
    ///
    /// # Safety
    /// The lanes have all additions.
    #[inline(always)]
    unsafe fn add_lanes<const R: usize>(&self, k: usize, mut nexts: u32) {
        let threes = self.n - self.n % 3;
        // SAFETY: by the caller's promise.
        unsafe {
            for e in (0..threes).step_by(3) {
                let at = self.place(e, k);
                self.add::<R>(at, e, k);
                let at = if nexts & 2 != 0 { at.wrapping_add(1) } else { self.place(e + 1, k) };
                self.add::<R>(at, e + 1, k);
                let at = if nexts & 4 != 0 { at.wrapping_add(1) } else { self.place(e + 2, k) };
                self.add::<R>(at, e + 2, k);
                nexts >>= 3;
            }
            for e in threes..self.n {
                self.add::<R>(self.place(e, k), e, k);
            }
        }
    }

    /// Adds what lanes `k .. k + R` have in addition `e` to the element at `at`.
    ///
    /// # Safety
    /// `at` is valid for reads and writes, and the lanes have the addition.
    #[inline(always)]
    unsafe fn add<const R: usize>(&self, at: *mut T, e: usize, k: usize) {
        // SAFETY: by the caller's promise.
        unsafe {
            let at = at.cast::<T::Scalar>();
            let value = self.line(e).add(2).cast::<T::Scalar>();
            let four = each::<_, R>(|r| value.add(4 * S::slot4(k + r)));
            match T::COMPONENTS {
                1 => plus::<T::Scalar, 1, R>(at, each(|r| value.add(k + r))),
                2 => plus::<T::Scalar, 2, R>(at, each(|r| value.add(2 * (k + r)))),
                3 => plus::<T::Scalar, 3, R>(at, four),
                4 => plus::<T::Scalar, 4, R>(at, four),
                c => {
                    let group = |g: usize| (at.add(4 * g), map(four, |value| value.add(4 * g * S::N)));
                    for g in 0..c / 4 {
                        let (at, four) = group(g);
                        plus::<T::Scalar, 4, R>(at, four);
                    }
                    let (at, four) = group(c / 4);
                    match c % 4 {
                        1 => plus::<T::Scalar, 1, R>(at, four),
                        2 => plus::<T::Scalar, 2, R>(at, four),
                        3 => plus::<T::Scalar, 3, R>(at, four),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// Adds `values` in turn.
///
/// # Safety
/// Valid for `C` elements, apart.
#[inline(always)]
unsafe fn plus<E: Element, const C: usize, const R: usize>(at: *mut E, values: [*const E; R]) {
    // SAFETY: by the caller's promise.
    unsafe {
        let mut sum = at.cast::<[E; C]>().read();
        for value in values {
            let value = value.cast::<[E; C]>().read();
            sum = each(|c| sum[c].plus(value[c]));
        }
        at.cast::<[E; C]>().write(sum);
    }
}
