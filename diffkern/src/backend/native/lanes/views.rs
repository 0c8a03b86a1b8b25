//! How a body of lanes sees the arrays that it reads, stores to and takes from; `line` is that of the access.
//!
//! An index is alike in all lanes (a scalar), consecutive (`_at`: lane `k` has `first + k`), or any.

use std::cell::Cell;
use std::marker::PhantomData;

use super::super::views::{In, Out, Take, Target};
use super::element::{self, components, lane};
use super::memory::Lanes;
use super::values::{MOST, each, map};
use crate::element::Element;

/// Whether `N` elements from `first` on are among the `count` from `lo` on.
#[inline(always)]
pub(super) fn within<S: Lanes>(first: u32, lo: u32, count: u32) -> bool {
    let k = first.wrapping_sub(lo);
    k < count && count - k >= S::N as u32
}

/// The lanes of `mask`, in order.
#[inline(always)]
pub(super) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    (0..MOST).filter(move |k| mask >> k & 1 == 1)
}

/// `first`, `first + 1`, ...
#[inline(always)]
pub(super) fn consecutive<S: Lanes>(first: u32) -> S::I {
    S::add_i(S::splat_i(first), S::count())
}

/// The largest of the lanes in `m`; 0 of none.
#[inline(always)]
pub fn largest<S: Lanes>(m: S::M, a: S::I) -> u32 {
    let a = S::put_i(S::select_i(m, a, S::splat_i(0)));
    a[..S::N].iter().fold(0, |most, &a| most.max(a))
}

/// What the first lane of `m` has.
#[inline(always)]
pub fn first<S: Lanes>(m: S::M, a: S::I) -> Option<u32> {
    lanes_of(S::bits(m)).next().map(|k| S::put_i(a)[k])
}

/// An array to read.
pub struct LaneIn<'a, S, T> {
    one: In<'a, T>,
    base: *const T,
    len: u32,
    token: PhantomData<S>,
}

impl<S: Copy, T: Copy> Clone for LaneIn<'_, S, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Copy, T: Copy> Copy for LaneIn<'_, S, T> {}

impl<'a, S: Lanes, T: Element> LaneIn<'a, S, T> {
    /// `base` is valid for reads of `len` elements, of one element where `len` is 0, and of [`BEYOND`] bytes after them.
    #[inline(always)]
    pub(super) fn new(one: In<'a, T>, base: *const T, len: u32) -> Self {
        LaneIn { one, base, len, token: PhantomData }
    }

    /// For scalar code.
    #[inline(always)]
    pub fn scalar(self) -> In<'a, T> {
        self.one
    }

    /// Element `i`, alike in all lanes.
    #[inline(always)]
    pub fn get(&self, i: u32, line: u32) -> T {
        self.one.get(i, line)
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The offsets of elements `i`, of the last one where `i` is beyond; `bad` gets the lanes of `m` where it is.
    ///
    /// No branch: a call on the side would cost the registers of all that is live here.
    #[inline(always)]
    fn offsets(&self, m: S::M, i: S::I, bad: &mut S::M) -> S::I {
        let inside = S::lt_u(i, S::splat_i(self.len));
        *bad = S::or(*bad, S::and(m, S::not(inside)));
        let i = S::min_u(i, S::splat_i(self.len.saturating_sub(1)));
        S::mul_i(i, S::splat_i(T::COMPONENTS as u32))
    }

    /// Elements `i`.
    #[inline(always)]
    pub fn load<const C: usize>(&self, m: S::M, i: S::I, bad: &mut S::M) -> [S::R; C]
    where
        T: Element<Scalar = S::F>,
    {
        let offset = self.offsets(m, i, bad);
        // SAFETY: elements that are there.
        unsafe { element::gather::<S, C>(self.base.cast(), offset) }
    }

    /// As [`LaneIn::load`], and faster where the elements happen to be neighbours, in one row or two.
    #[inline(always)]
    pub fn load_run<const C: usize>(&self, m: S::M, i: S::I, bad: &mut S::M) -> [S::R; C]
    where
        T: Element<Scalar = S::F>,
    {
        let first = S::head(i);
        if S::is_run(i) && within::<S>(first, 0, self.len) {
            // SAFETY: in range.
            return unsafe { element::load::<S, C>(self.base.add(first as usize).cast()) };
        }
        let inside = S::lt_u(i, S::splat_i(self.len));
        if const { C <= S::SOME } && !S::any(S::and(m, S::not(inside))) {
            let from = S::sub_i(i, S::count());
            let one = S::and(m, S::eq_i(from, S::splat_i(first)));
            let rest = S::and(m, S::not(one));
            let next = S::bits(rest).trailing_zeros() as usize % S::N;
            let two = S::and(rest, S::eq_i(from, S::pick_i(from, next)));
            if !S::any(S::xor(rest, two)) {
                let at =
                    |k: usize| self.base.cast::<S::F>().wrapping_offset(S::put_i(from)[k] as i32 as isize * C as isize);
                // SAFETY: elements that are there.
                let row = unsafe { S::load_some(at(0), one, each(|_| S::splat(S::F::default()))) };
                // SAFETY: elements that are there.
                return S::unpack(unsafe { S::load_some(at(next), two, row) });
            }
        }
        self.load(m, i, bad)
    }

    /// Elements `first`, `first + 1`, ...
    #[inline(always)]
    pub fn load_at<const C: usize>(&self, m: S::M, first: u32, bad: &mut S::M) -> [S::R; C]
    where
        T: Element<Scalar = S::F>,
    {
        if within::<S>(first, 0, self.len) {
            // SAFETY: in range.
            unsafe { element::load::<S, C>(self.base.add(first as usize).cast()) }
        } else {
            *bad = S::or(*bad, S::and(m, S::not(S::lt_u(consecutive::<S>(first), S::splat_i(self.len)))));
            let i = S::put_i(consecutive::<S>(first));
            map(each_real::<T, C>(self.one, S::bits(m), &i), |c| S::get(&c))
        }
    }

    /// As [`LaneIn::load`], integers.
    #[inline(always)]
    pub fn load_i(&self, m: S::M, i: S::I, bad: &mut S::M) -> S::I {
        let offset = self.offsets(m, i, bad);
        // SAFETY: elements that are there, and integers have 32 bits.
        unsafe { S::gather_i(self.base.cast(), offset) }
    }

    /// Elements `first`, `first + K`, ..., integers.
    #[inline(always)]
    pub fn load_i_by<const K: u32>(&self, m: S::M, first: u32, bad: &mut S::M) -> S::I {
        let last = first.wrapping_add((S::N as u32 - 1) * K);
        if first <= last && last < self.len {
            // SAFETY: in range, and integers have 32 bits.
            unsafe { S::load_i_by(self.base.add(first as usize).cast(), K) }
        } else {
            self.load_i(m, S::add_i(S::splat_i(first), S::mul_i(S::count(), S::splat_i(K))), bad)
        }
    }

    /// As [`LaneIn::load_at`], integers.
    #[inline(always)]
    pub fn load_i_at(&self, m: S::M, first: u32, bad: &mut S::M) -> S::I {
        if within::<S>(first, 0, self.len) {
            // SAFETY: in range, and integers have 32 bits.
            unsafe { S::load_i(self.base.add(first as usize).cast()) }
        } else {
            *bad = S::or(*bad, S::and(m, S::not(S::lt_u(consecutive::<S>(first), S::splat_i(self.len)))));
            S::get_i(&each_int(self.one, S::bits(m), &S::put_i(consecutive::<S>(first))))
        }
    }
}

#[cold]
#[inline(never)]
fn each_real<T: Element, const C: usize>(one: In<'_, T>, mask: u32, i: &[u32; MOST]) -> [[T::Scalar; MOST]; C] {
    let mut all = [[T::Scalar::default(); MOST]; C];
    for k in lanes_of(mask) {
        let element = components::<T, C>(&one.get(i[k], 0));
        for (all, x) in all.iter_mut().zip(element) {
            all[k] = x;
        }
    }
    all
}

#[cold]
#[inline(never)]
fn each_int<T: Element>(one: In<'_, T>, mask: u32, i: &[u32; MOST]) -> [u32; MOST] {
    assert!(size_of::<T>() == 4, "a mistake in generated code");
    let mut all = [0; MOST];
    for k in lanes_of(mask) {
        let element = one.get(i[k], 0);
        // SAFETY: an integer of 32 bits.
        all[k] = unsafe { (&raw const element).cast::<u32>().read() };
    }
    all
}

/// An array to store to.
pub struct LaneOut<'a, S, T> {
    one: Out<'a, T>,
    target: Target,
    /// The position of each lane, for the check that no element is written twice.
    position: &'a Cell<u32>,
    token: PhantomData<S>,
}

impl<'a, S: Lanes, T: Element> LaneOut<'a, S, T> {
    #[inline(always)]
    pub(super) fn new(one: Out<'a, T>, target: Target, position: &'a Cell<u32>) -> Self {
        LaneOut { one, target, position, token: PhantomData }
    }

    /// Sets elements `i`; the pack begins at position `p`.
    #[inline(always)]
    pub fn set<const C: usize>(&mut self, m: S::M, p: u32, i: S::I, value: [S::R; C], line: u32)
    where
        T: Element<Scalar = S::F>,
    {
        self.each(S::bits(m), p, &S::put_i(i), &map(value, S::put), line);
    }

    /// Sets elements `first`, `first + 1`, ...
    #[inline(always)]
    pub fn set_at<const C: usize>(&mut self, m: S::M, p: u32, first: u32, value: [S::R; C], line: u32)
    where
        T: Element<Scalar = S::F>,
    {
        let target = &self.target;
        if target.exclusive && S::full(m) && within::<S>(first, target.lo, target.count) {
            // SAFETY: in range, and only this chunk touches its part of an owned array.
            unsafe { element::store::<S, C>(target.base.cast::<T>().add(first as usize).cast(), value) };
        } else {
            self.set(m, p, consecutive::<S>(first), value, line);
        }
    }

    /// As [`LaneOut::set`], integers.
    #[inline(always)]
    pub fn set_i(&mut self, m: S::M, p: u32, i: S::I, value: S::I, line: u32) {
        self.each_int(S::bits(m), p, &S::put_i(i), &S::put_i(value), line);
    }

    #[cold]
    #[inline(never)]
    fn each<const C: usize>(&mut self, mask: u32, p: u32, i: &[u32; MOST], value: &[[T::Scalar; MOST]; C], line: u32) {
        for k in lanes_of(mask) {
            self.position.set(p.wrapping_add(k as u32));
            self.one.set(i[k], lane::<T, C>(value, k), line);
        }
    }

    #[cold]
    #[inline(never)]
    fn each_int(&mut self, mask: u32, p: u32, i: &[u32; MOST], value: &[u32; MOST], line: u32) {
        for k in lanes_of(mask) {
            self.position.set(p.wrapping_add(k as u32));
            self.one.set(i[k], int(value[k]), line);
        }
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.target.len
    }
}

/// An integer of 32 bits.
#[inline(always)]
pub(super) fn int<T: Element>(bits: u32) -> T {
    assert!(size_of::<T>() == 4, "a mistake in generated code");
    let mut element = T::ZERO;
    // SAFETY: a scalar of 32 bits, of which all are valid.
    unsafe { (&raw mut element).cast::<u32>().write(bits) };
    element
}

/// An array to read and clear.
pub struct LaneTake<'a, S, T> {
    one: Take<'a, T>,
    target: Target,
    token: PhantomData<S>,
}

impl<'a, S: Lanes, T: Element<Scalar = S::F>> LaneTake<'a, S, T> {
    #[inline(always)]
    pub(super) fn new(one: Take<'a, T>) -> Self {
        LaneTake { target: one.target(), one, token: PhantomData }
    }

    /// Elements `i`, which become 0.
    #[inline(always)]
    pub fn take<const C: usize>(&mut self, m: S::M, i: S::I, line: u32) -> [S::R; C] {
        map(self.each::<C>(S::bits(m), &S::put_i(i), line), |c| S::get(&c))
    }

    /// Elements `first`, `first + 1`, ..., which become 0.
    #[inline(always)]
    pub fn take_at<const C: usize>(&mut self, m: S::M, first: u32, line: u32) -> [S::R; C] {
        let target = &self.target;
        // One more, for what is read beyond an element.
        let count = target.count.saturating_sub(if C == 3 { 1 } else { 0 });
        if target.exclusive && S::full(m) && within::<S>(first, target.lo, count) {
            // SAFETY: in range, and only this chunk touches its part of an owned array.
            unsafe {
                let base = target.base.cast::<T>().add(first as usize).cast::<S::F>();
                let value = element::load::<S, C>(base);
                if !target.keep {
                    each::<_, C>(|c| S::store(base.add(c * S::N), S::splat(S::F::default())));
                }
                value
            }
        } else {
            self.take(m, consecutive::<S>(first), line)
        }
    }

    #[cold]
    #[inline(never)]
    fn each<const C: usize>(&mut self, mask: u32, i: &[u32; MOST], line: u32) -> [[S::F; MOST]; C] {
        let mut all = [[S::F::default(); MOST]; C];
        for k in lanes_of(mask) {
            let element = components::<T, C>(&self.one.take(i[k], line));
            for (all, x) in all.iter_mut().zip(element) {
                all[k] = x;
            }
        }
        all
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.target.len
    }
}
