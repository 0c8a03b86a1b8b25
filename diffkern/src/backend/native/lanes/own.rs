//! Packs of arrays of scalars that are seen only at the positions of a chunk, which they cover.
//!
//! For a body that waits for memory: one test an access, of values that stay in registers, so that the processor sees many
//! packs ahead. The other views look up in memory what they may touch.

use std::marker::PhantomData;

use super::super::own::Covered;
use super::super::views::Target;
use super::element::{self, components, lane};
use super::memory::Lanes;
use super::values::{MOST, map};
use super::views::lanes_of;
use crate::element::Element;

/// An array of scalars to read, to add to once, or to take from once.
pub struct LaneOwn<'a, S, T> {
    /// The element of the first position.
    base: *mut T,
    covered: Covered,
    /// Nothing is there: what is added is dropped, what is taken is zero.
    absent: bool,
    /// What is taken may stay.
    keep: bool,
    /// What is added to counts as zero.
    over: bool,
    token: PhantomData<(S, &'a mut T)>,
}

impl<S, T> Clone for LaneOwn<'_, S, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, T> Copy for LaneOwn<'_, S, T> {}

impl<S: Lanes, T: Element> LaneOwn<'_, S, T> {
    /// `base` is valid for reads of `len` elements.
    #[inline(always)]
    pub(super) fn read(base: *const T, len: u32, covered: Covered) -> Self {
        assert!(covered.end() <= u64::from(len), "positions beyond an array");
        let base = base.wrapping_add(covered.start as usize).cast_mut();
        LaneOwn { base, covered, absent: false, keep: true, over: false, token: PhantomData }
    }

    #[inline(always)]
    pub(super) fn write(target: Target, covered: Covered) -> Self {
        let Target { absent, keep, over, .. } = target;
        let whole = target.exclusive && target.lo == covered.start && target.count >= covered.n;
        assert!(absent || whole, "positions beyond an array");
        let base = target.base.cast::<T>().wrapping_add(target.lo as usize);
        LaneOwn { base, covered, absent, keep, over, token: PhantomData }
    }

    /// Where the elements of the pack that begins at position `p` are, if all of them are there.
    #[inline(always)]
    fn row(&self, p: u32) -> Option<*mut T> {
        let (k, beyond) = (p.wrapping_sub(self.covered.start), S::N as u32 - 1);
        // SAFETY: in range.
        (k < self.covered.n.saturating_sub(beyond)).then(|| unsafe { self.base.add(k as usize) })
    }

    /// The places of lanes `mask` of a pack that begins at `p`.
    fn places(&self, mask: u32, p: u32) -> impl Iterator<Item = (usize, *mut T)> {
        let (base, Covered { start, n }) = (self.base, self.covered);
        let place = move |k: usize| (k, p.wrapping_add(k as u32).wrapping_sub(start));
        // SAFETY: in range.
        lanes_of(mask)
            .map(place)
            .filter(move |(_, at)| *at < n)
            .map(move |(k, at)| (k, unsafe { base.add(at as usize) }))
    }

    /// Elements `p`, `p + 1`, ..., integers.
    #[inline(always)]
    pub fn load_i_at(&self, m: S::M, p: u32, _bad: &mut S::M) -> S::I {
        assert!(size_of::<T>() == 4, "a mistake in generated code");
        match self.row(p) {
            // SAFETY: as many elements, and integers have 32 bits.
            Some(at) => unsafe { S::load_i(at.cast()) },
            None => S::get_i(&self.each_int(S::bits(m), p)),
        }
    }

    // By value, as all below, so that the view can live in registers.
    #[cold]
    #[inline(never)]
    fn each_int(self, mask: u32, p: u32) -> [u32; MOST] {
        let mut all = [0; MOST];
        for (k, at) in self.places(mask, p) {
            // SAFETY: an element, of 32 bits.
            all[k] = unsafe { at.cast::<u32>().read() };
        }
        all
    }
}

impl<S: Lanes, T: Element<Scalar = S::F>> LaneOwn<'_, S, T> {
    /// Elements `p`, `p + 1`, ...
    #[inline(always)]
    pub fn load_at(&self, m: S::M, p: u32, _bad: &mut S::M) -> [S::R; 1] {
        match self.row(p) {
            // SAFETY: as many elements.
            Some(at) => unsafe { element::load::<S, 1>(at.cast()) },
            None => map(self.each(S::bits(m), p), |c| S::get(&c)),
        }
    }

    /// Elements `p`, `p + 1`, ..., which become 0.
    #[inline(always)]
    pub fn take_at(&self, m: S::M, p: u32, _line: u32) -> [S::R; 1] {
        if self.absent {
            return [S::splat(S::F::default())];
        }
        match self.row(p) {
            // SAFETY: as many elements, which only this chunk touches.
            Some(at) => unsafe {
                let value = element::load::<S, 1>(at.cast());
                if !self.keep {
                    S::store(at.cast(), S::splat(S::F::default()));
                }
                value
            },
            None => map(self.each(S::bits(m), p), |c| S::get(&c)),
        }
    }

    #[cold]
    #[inline(never)]
    fn each(self, mask: u32, p: u32) -> [[S::F; MOST]; 1] {
        let mut all = [[S::F::default(); MOST]; 1];
        for (k, at) in self.places(mask, p) {
            // SAFETY: an element; one that is taken only this chunk touches.
            unsafe {
                [all[0][k]] = components::<T, 1>(&at.read());
                if !self.keep {
                    at.write(T::ZERO);
                }
            }
        }
        all
    }

    /// Adds to elements `p`, `p + 1`, ...
    #[inline(always)]
    pub fn add_at(&self, m: S::M, p: u32, value: [S::R; 1], _bad: &mut S::M) {
        if self.absent {
            return;
        }
        match self.row(p) {
            // SAFETY: as many elements, which only this chunk touches.
            Some(at) => unsafe {
                match self.over {
                    // What was there before counts as zero: the sum with it has no negative zeros.
                    true => S::store(at.cast(), S::add(value[0], S::splat(S::F::default()))),
                    false => S::add_row(at.cast(), value),
                }
            },
            None => self.add_each(S::bits(m), p, map(value, S::put)),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_each(self, mask: u32, p: u32, value: [[S::F; MOST]; 1]) {
        for (k, at) in self.places(mask, p) {
            // SAFETY: an element, which only this chunk touches.
            unsafe {
                let before = if self.over { T::ZERO } else { at.read() };
                at.write(before.plus(lane::<T, 1>(&value, k)));
            }
        }
    }
}

#[cfg(test)]
#[path = "own_tests.rs"]
mod tests;
