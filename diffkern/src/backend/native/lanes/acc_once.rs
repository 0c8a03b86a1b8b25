//! Accumulation by lanes into an array to which each position adds once, at its own index.

use std::marker::PhantomData;

use super::super::views::{AccOnce, Target};
use super::element::{self, lane};
use super::memory::Lanes;
use super::values::{MOST, map};
use super::views::{consecutive, lanes_of, within};
use crate::element::Element;

/// An array to accumulate into.
pub struct LaneAccOnce<'a, S, T> {
    one: AccOnce<'a, T>,
    target: Target,
    token: PhantomData<S>,
}

impl<'a, S: Lanes, T: Element<Scalar = S::F>> LaneAccOnce<'a, S, T> {
    #[inline(always)]
    pub(super) fn new(one: AccOnce<'a, T>) -> Self {
        LaneAccOnce { target: one.target(), one, token: PhantomData }
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.target.len
    }

    /// Adds to elements `first`, `first + 1`, ...; `bad` gets the lanes of `m` where there is none.
    #[inline(always)]
    pub fn add_at<const C: usize>(&mut self, m: S::M, first: u32, value: [S::R; C], bad: &mut S::M) {
        let target = &self.target;
        if target.absent && first < target.len && target.len - first >= S::N as u32 {
            return;
        }
        // One more, for what is read beyond an element.
        let count = target.count.saturating_sub(if C == 3 { 1 } else { 0 });
        if S::full(m) && within::<S>(first, target.lo, count) {
            // SAFETY: in range, and only this chunk touches its part of an owned array.
            unsafe {
                let at = target.base.cast::<T>().add(first as usize).cast();
                match target.over {
                    // What was there before counts as zero: the sum with it has no negative zeros.
                    true => element::store::<S, C>(at, map(value, |c| S::add(c, S::splat(S::F::default())))),
                    false => S::add_row(at, value),
                }
            }
            return;
        }
        let i = consecutive::<S>(first);
        let allowed = S::lt_u(S::sub_i(i, S::splat_i(target.lo)), S::splat_i(target.count));
        let there = S::lt_u(i, S::splat_i(target.len));
        *bad = S::or(*bad, S::and(m, S::not(if target.absent { there } else { allowed })));
        self.each(S::bits(S::and(m, allowed)), &S::put_i(i), &map(value, S::put));
    }

    #[cold]
    #[inline(never)]
    fn each<const C: usize>(&mut self, mask: u32, i: &[u32; MOST], value: &[[S::F; MOST]; C]) {
        for k in lanes_of(mask) {
            // All of these are in range, so that no line is named.
            self.one.add(i[k], lane::<T, C>(value, k), 0);
        }
    }

    /// Nothing is kept back.
    #[inline(always)]
    pub fn flush(&mut self) {}
}
