//! Arrays that a body both reads and writes, each element by one thread only.

use std::cell::{Cell, OnceCell};
use std::marker::PhantomData;
use std::sync::atomic::AtomicU32;

use super::args::Fault;
use super::views::{Target, load_relaxed, store_relaxed};
use crate::element::Element;

/// An array to read and overwrite, or to take from and add to.
///
/// Where the index is the kernel's choice, two threads may have one element until that is found out, so memory is accessed
/// atomically, scalar by scalar.
pub struct Update<'a, T> {
    target: Target,
    writers: Option<&'a [AtomicU32]>,
    position: &'a Cell<u32>,
    fault: &'a OnceCell<Fault>,
    element: PhantomData<T>,
}

impl<'a, T: Element> Update<'a, T> {
    #[inline(always)]
    pub(super) fn new(
        target: Target,
        writers: Option<&'a [AtomicU32]>,
        position: &'a Cell<u32>,
        fault: &'a OnceCell<Fault>,
    ) -> Update<'a, T> {
        Update { target, writers, position, fault, element: PhantomData }
    }

    /// Element `i`; `line` is that of the access in the source.
    #[inline(always)]
    pub fn get(&self, i: u32, line: u32) -> T {
        if self.target.allows(i, line, self.fault) {
            // SAFETY: allowed.
            return unsafe { self.load(i) };
        }
        match self.target.count {
            0 => T::ZERO,
            // SAFETY: the last element that the chunk may touch.
            count => unsafe { self.load(self.target.lo + count - 1) },
        }
    }

    /// Sets element `i`.
    #[inline(always)]
    pub fn set(&mut self, i: u32, value: T, line: u32) {
        if self.target.allows(i, line, self.fault) {
            if !self.target.exclusive {
                self.target.claim((i, line), self.writers, self.position, self.fault);
            }
            // SAFETY: allowed.
            unsafe { self.store(i, value) };
        }
    }

    /// Adds to element `i`.
    #[inline(always)]
    pub fn add(&mut self, i: u32, value: T, line: u32) {
        if self.target.allows(i, line, self.fault) {
            if !self.target.exclusive {
                self.target.claim((i, line), self.writers, self.position, self.fault);
            }
            // SAFETY: allowed.
            unsafe { self.store(i, self.load(i).plus(value)) };
        }
    }

    /// Element `i`, which becomes 0.
    #[inline(always)]
    pub fn take(&mut self, i: u32, line: u32) -> T {
        if !self.target.allows(i, line, self.fault) {
            return T::ZERO;
        }
        if !self.target.exclusive {
            self.target.claim((i, line), self.writers, self.position, self.fault);
        }
        // SAFETY: allowed.
        unsafe {
            let value = self.load(i);
            self.store(i, T::ZERO);
            value
        }
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.target.len
    }

    /// # Safety
    /// Element `i` is one that the chunk may touch.
    #[inline(always)]
    unsafe fn load(&self, i: u32) -> T {
        // SAFETY: in range; exclusive memory is touched by this chunk alone, other memory atomically by all.
        unsafe {
            let at = self.target.at::<T>(i);
            if self.target.exclusive { at.read() } else { load_relaxed(at) }
        }
    }

    /// # Safety
    /// As [`Update::load`].
    #[inline(always)]
    unsafe fn store(&self, i: u32, value: T) {
        // SAFETY: as in `load`.
        unsafe {
            let at = self.target.at::<T>(i);
            if self.target.exclusive { at.write(value) } else { store_relaxed(at, value) }
        }
    }
}

/// An array of integers to add to, in a launch of one chunk.
pub struct Fetch<'a, T> {
    target: Target,
    fault: &'a OnceCell<Fault>,
    element: PhantomData<T>,
}

impl<'a, T: Element> Fetch<'a, T> {
    #[inline(always)]
    pub(super) fn new(target: Target, fault: &'a OnceCell<Fault>) -> Fetch<'a, T> {
        Fetch { target, fault, element: PhantomData }
    }

    /// Adds to element `i`, and gives what was there: zero, where there is no such element.
    #[inline(always)]
    pub fn fetch_add(&mut self, i: u32, value: T, line: u32) -> T {
        if !self.target.allows(i, line, self.fault) {
            return T::ZERO;
        }
        // SAFETY: allowed; the launch has one chunk, so nobody else touches the array meanwhile.
        unsafe {
            let at = self.target.at::<T>(i);
            let old = at.read();
            at.write(old.plus(value));
            old
        }
    }
}
