//! Accumulation by lanes.
//!
//! Additions at scattered indices are kept until a pack is done and then made lane by lane, in the order of the scalar
//! body: neighbouring positions often add to one element, and so an addition seldom waits for the one before.

use std::marker::PhantomData;

use super::super::views::{Acc, Target};
use super::element::lane;
use super::kept::{Kept, Line, Pattern};
use super::lines::Lines;
use super::memory::Lanes;
use super::values::{MOST, each, map};
use super::views::{consecutive, within};
use crate::element::Element;

/// Elements in a row that are better added to at once.
const ROW: u32 = 3;

/// Additions kept beside those that have a place of their own.
const MORE: usize = 16;

/// An array to accumulate into.
pub struct LaneAcc<'a, S: Lanes, T: Element> {
    one: Acc<'a, T>,
    target: Target,
    /// Additions that every pack makes, first among the kept ones.
    fixed: usize,
    kept: usize,
    /// Of each addition a line with the indices, then one with the lanes, then the values.
    memory: &'a mut [Line],
    token: PhantomData<S>,
}

impl<'a, S: Lanes, T: Element> LaneAcc<'a, S, T> {
    const LINES: usize = Kept::<S, T>::LINES;

    #[inline(always)]
    pub(super) fn new(one: Acc<'a, T>, target: Target, fixed: usize, lines: &'a Lines) -> Self {
        let memory = lines.take((fixed + MORE) * Self::LINES);
        LaneAcc { one, target, fixed, kept: fixed, memory, token: PhantomData }
    }

    /// For scalar code.
    #[inline(always)]
    pub fn scalar(&mut self) -> &mut Acc<'a, T> {
        &mut self.one
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.target.len
    }

    /// Adds to elements `i`; `bad` gets the lanes of `m` where there is none.
    #[inline(always)]
    pub fn add<const C: usize>(&mut self, m: S::M, i: S::I, value: [S::R; C], bad: &mut S::M)
    where
        T: Element<Scalar = S::F>,
    {
        if self.kept == self.fixed + MORE {
            self.kept_from(self.fixed).make(&Pattern::NONE);
            self.kept = self.fixed;
        }
        let e = self.kept;
        self.kept = e + 1;
        self.keep(e, m, i, value, bad);
    }

    /// As [`LaneAcc::add`], and faster where the elements happen to be neighbours, in a few rows.
    #[inline(always)]
    pub fn add_run<const C: usize>(&mut self, m: S::M, i: S::I, value: [S::R; C], bad: &mut S::M)
    where
        T: Element<Scalar = S::F>,
    {
        let (target, first) = (&self.target, S::head(i));
        // One more, for what is read beyond an element.
        let count = target.count.saturating_sub(if C == 3 { 1 } else { 0 });
        if S::is_run(i) && S::full(m) && within::<S>(first, target.lo, count) {
            // SAFETY: all of them are in range.
            let row = unsafe { self.one.row(first, S::N as u32) };
            if !row.is_null() {
                // SAFETY: a row in memory that this chunk alone touches meanwhile.
                unsafe { S::add_row(row.cast(), value) };
                return;
            }
        }
        let rest = if const { C <= S::SOME } { self.add_rows(m, i, value) } else { m };
        if S::any(rest) {
            self.add(rest, i, value, bad);
        }
    }

    /// Adds what lies in rows of some length; the lanes that are left.
    #[inline(always)]
    fn add_rows<const C: usize>(&mut self, m: S::M, i: S::I, value: [S::R; C]) -> S::M
    where
        T: Element<Scalar = S::F>,
    {
        let allowed = S::lt_u(S::sub_i(i, S::splat_i(self.target.lo)), S::splat_i(self.target.count));
        let (from, part) = (S::sub_i(i, S::count()), S::shr_u(i, S::splat_i(self.one.row_shift())));
        let mut rest = S::and(m, allowed);
        while S::any(rest) {
            let k = S::bits(rest).trailing_zeros() as usize % S::N;
            let alike = S::and(S::eq_i(from, S::pick_i(from, k)), S::eq_i(part, S::pick_i(part, k)));
            let row = S::and(rest, alike);
            if S::bits(row).count_ones() < ROW {
                break;
            }
            // SAFETY: allowed, and all of the row lie in a row, of which `k` is the first.
            unsafe {
                let first = self.one.place(S::put_i(i)[k]).cast::<S::F>();
                S::add_some(first.wrapping_sub(C * k), row, value);
            }
            rest = S::and(rest, S::not(row));
        }
        S::or(rest, S::and(m, S::not(allowed)))
    }

    /// As [`LaneAcc::add`], for the addition in place `e`, which every pack makes once.
    #[inline(always)]
    pub fn add_fixed<const C: usize>(&mut self, e: usize, m: S::M, i: S::I, value: [S::R; C], bad: &mut S::M)
    where
        T: Element<Scalar = S::F>,
    {
        self.keep(e, m, i, value, bad);
    }

    #[inline(always)]
    fn keep<const C: usize>(&mut self, e: usize, m: S::M, i: S::I, value: [S::R; C], bad: &mut S::M)
    where
        T: Element<Scalar = S::F>,
    {
        let target = &self.target;
        let allowed = S::lt_u(S::sub_i(i, S::splat_i(target.lo)), S::splat_i(target.count));
        let there = S::lt_u(i, S::splat_i(target.len));
        *bad = S::or(*bad, S::and(m, S::not(if target.absent { there } else { allowed })));
        // SAFETY: there is room for all additions.
        unsafe {
            let at = self.memory.as_mut_ptr().add(e * Self::LINES);
            at.cast::<[u32; MOST]>().write(S::put_i(i));
            at.add(1).cast::<u32>().write(S::bits(S::and(m, allowed)));
            let at = at.add(2).cast::<S::F>();
            match C {
                1 => S::store(at, value[0]),
                2 => S::store2(at, [value[0], value[1]]),
                _ => {
                    let stage = |b: usize| S::stage4(at.add(b * 4 * S::N), each(|c| value[(4 * b + c).min(C - 1)]));
                    stage(0);
                    if const { C > 4 } {
                        stage(1);
                    }
                    if const { C > 8 } {
                        (2..C.div_ceil(4)).for_each(stage);
                    }
                }
            }
        }
    }

    /// Adds to elements `first`, `first + 1`, ...
    #[inline(always)]
    pub fn add_at<const C: usize>(&mut self, m: S::M, first: u32, value: [S::R; C], bad: &mut S::M)
    where
        T: Element<Scalar = S::F>,
    {
        let target = &self.target;
        if target.absent && first < target.len && target.len - first >= S::N as u32 {
            return;
        }
        let count = target.count.saturating_sub(if C == 3 { 1 } else { 0 });
        if target.exclusive && S::full(m) && within::<S>(first, target.lo, count) {
            // SAFETY: in range, and only this chunk touches its part of an owned array.
            unsafe {
                S::add_row(target.base.cast::<T>().add(first as usize).cast(), value);
            }
        } else {
            self.add(m, consecutive::<S>(first), value, bad);
        }
    }

    /// Adds to element `i` what all lanes have for it.
    #[inline(always)]
    pub fn add_all<const C: usize>(&mut self, m: S::M, i: u32, value: [S::R; C], line: u32)
    where
        T: Element<Scalar = S::F>,
    {
        if self.target.absent && i < self.target.len {
            return;
        }
        let zero = S::splat(S::F::default());
        let sums = map(value, |c| [S::sum(S::select(m, c, zero)); MOST]);
        self.one.add(i, lane::<T, C>(&sums, 0), line);
    }

    /// Makes the additions that are kept.
    #[inline(always)]
    pub fn flush(&mut self) {
        if self.kept > 0 {
            let kept = self.kept_from(0);
            let pattern = kept.pattern();
            kept.make(&pattern);
            self.kept = self.fixed;
        }
    }

    #[inline(always)]
    fn kept_from(&self, first: usize) -> Kept<'_, 'a, S, T> {
        let lines = &self.memory[first * Self::LINES..self.kept * Self::LINES];
        Kept::new(self.one, lines, if self.target.absent { 0 } else { self.kept - first })
    }
}
