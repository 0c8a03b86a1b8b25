//! Arrays seen only at the positions of a chunk that they cover.
//!
//! A view begins at the chunk's first position and has exactly as many elements as the loop has turns, so the compiler
//! sees that no access is out of range, and uses vector instructions.

use std::marker::PhantomData;

use super::views::Target;
use crate::element::Element;

/// The positions that all arrays of a chunk cover.
#[derive(Clone, Copy)]
pub struct Covered {
    pub(super) start: u32,
    pub(super) n: u32,
}

impl Covered {
    /// The positions.
    #[inline(always)]
    pub fn range(self) -> impl Iterator<Item = u32> {
        (0..self.n).map(move |k| self.start.wrapping_add(k))
    }

    /// The position after the last.
    #[inline(always)]
    pub(super) fn end(self) -> u64 {
        u64::from(self.start) + u64::from(self.n)
    }

    /// The first position and how many there are.
    #[inline(always)]
    pub fn positions(self) -> (u32, u32) {
        (self.start, self.n)
    }

    /// Where in the views position `p` is.
    #[inline(always)]
    fn place(self, p: u32) -> Option<usize> {
        let k = p.wrapping_sub(self.start);
        (k < self.n).then_some(k as usize)
    }
}

/// Elements to read.
#[derive(Clone, Copy)]
pub struct OwnIn<'a, T> {
    base: *const T,
    covered: Covered,
    memory: PhantomData<&'a T>,
}

impl<T: Element> OwnIn<'_, T> {
    /// `base` is valid for reads of `len` elements.
    #[inline(always)]
    pub(super) fn new(base: *const T, len: u32, covered: Covered) -> Self {
        assert!(covered.end() <= u64::from(len), "positions beyond an array");
        // SAFETY: the start is at most `len`.
        OwnIn { base: unsafe { base.add(covered.start as usize) }, covered, memory: PhantomData }
    }

    /// Element `p`; zero out of range, which does not happen.
    #[inline(always)]
    pub fn get(&self, p: u32, _line: u32) -> T {
        // SAFETY: in range.
        self.covered.place(p).map_or(T::ZERO, |k| unsafe { self.base.add(k).read() })
    }
}

/// What the views to write share.
struct Own<'a, T> {
    base: *mut T,
    covered: Covered,
    absent: bool,
    memory: PhantomData<&'a mut T>,
}

impl<T: Element> Own<'_, T> {
    #[inline(always)]
    fn new(target: Target, covered: Covered) -> Self {
        let whole = target.exclusive && target.lo == covered.start && target.count >= covered.n;
        assert!(target.absent || whole, "positions beyond an array");
        let base = target.base.cast::<T>().wrapping_add(target.lo as usize);
        Own { base, covered, absent: target.absent, memory: PhantomData }
    }

    /// The place of element `p`; only this chunk touches it.
    #[inline(always)]
    fn at(&self, p: u32) -> Option<*mut T> {
        let k = self.covered.place(p)?;
        // SAFETY: in range.
        (!self.absent).then(|| unsafe { self.base.add(k) })
    }
}

/// Elements to store to.
pub struct OwnOut<'a, T>(Own<'a, T>);

impl<T: Element> OwnOut<'_, T> {
    #[inline(always)]
    pub(super) fn new(target: Target, covered: Covered) -> Self {
        OwnOut(Own::new(target, covered))
    }

    /// Sets element `p`.
    #[inline(always)]
    pub fn set(&mut self, p: u32, value: T, _line: u32) {
        if let Some(at) = self.0.at(p) {
            // SAFETY: only this chunk touches it.
            unsafe { at.write(value) };
        }
    }
}

/// Elements to accumulate into.
pub struct OwnAcc<'a, T>(Own<'a, T>);

impl<T: Element> OwnAcc<'_, T> {
    #[inline(always)]
    pub(super) fn new(target: Target, covered: Covered) -> Self {
        OwnAcc(Own::new(target, covered))
    }

    /// Adds to element `p`.
    #[inline(always)]
    pub fn add(&mut self, p: u32, value: T, _line: u32) {
        if let Some(at) = self.0.at(p) {
            // SAFETY: only this chunk touches it.
            unsafe { at.write(at.read().plus(value)) };
        }
    }
}

/// Elements to read and clear.
pub struct OwnTake<'a, T>(Own<'a, T>);

impl<T: Element> OwnTake<'_, T> {
    #[inline(always)]
    pub(super) fn new(target: Target, covered: Covered) -> Self {
        OwnTake(Own::new(target, covered))
    }

    /// Element `p`, which becomes 0.
    #[inline(always)]
    pub fn take(&mut self, p: u32, _line: u32) -> T {
        // Cleared even where nobody looks at it afterwards: a test in the loop would cost more, it is not vectorised.
        // SAFETY: only this chunk touches it.
        self.0.at(p).map_or(T::ZERO, |at| unsafe { at.replace(T::ZERO) })
    }
}

/// Elements to read, each once, and to clear at the end, unless nobody looks at them afterwards.
pub struct OwnTakeOnce<'a, T> {
    own: Own<'a, T>,
    keep: bool,
}

impl<T: Element> OwnTakeOnce<'_, T> {
    #[inline(always)]
    pub(super) fn new(target: Target, covered: Covered) -> Self {
        OwnTakeOnce { keep: target.keep || target.absent, own: Own::new(target, covered) }
    }

    /// Element `p`, which becomes 0.
    #[inline(always)]
    pub fn take(&mut self, p: u32, _line: u32) -> T {
        // SAFETY: only this chunk touches it.
        self.own.at(p).map_or(T::ZERO, |at| unsafe { at.read() })
    }
}

impl<T> Drop for OwnTakeOnce<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        if !self.keep {
            // SAFETY: as many elements as there are positions; zeros are one of an element's values.
            unsafe { self.own.base.write_bytes(0, self.own.covered.n as usize) };
        }
    }
}

/// Elements to read and overwrite, or to take from and add to.
pub struct OwnUpdate<'a, T>(Own<'a, T>);

impl<T: Element> OwnUpdate<'_, T> {
    #[inline(always)]
    pub(super) fn new(target: Target, covered: Covered) -> Self {
        OwnUpdate(Own::new(target, covered))
    }

    /// Element `p`.
    #[inline(always)]
    pub fn get(&self, p: u32, _line: u32) -> T {
        // SAFETY: only this chunk touches it.
        self.0.at(p).map_or(T::ZERO, |at| unsafe { at.read() })
    }

    /// Sets element `p`.
    #[inline(always)]
    pub fn set(&mut self, p: u32, value: T, _line: u32) {
        if let Some(at) = self.0.at(p) {
            // SAFETY: only this chunk touches it.
            unsafe { at.write(value) };
        }
    }

    /// Adds to element `p`.
    #[inline(always)]
    pub fn add(&mut self, p: u32, value: T, _line: u32) {
        if let Some(at) = self.0.at(p) {
            // SAFETY: only this chunk touches it.
            unsafe { at.write(at.read().plus(value)) };
        }
    }

    /// Element `p`, which becomes 0.
    #[inline(always)]
    pub fn take(&mut self, p: u32, _line: u32) -> T {
        // SAFETY: only this chunk touches it.
        self.0.at(p).map_or(T::ZERO, |at| unsafe { at.replace(T::ZERO) })
    }
}
