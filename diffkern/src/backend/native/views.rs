//! How a kernel's body sees its arrays. An index out of range never reaches memory: a read is clamped, a write dropped,
//! and the first of a chunk makes the launch an error.

use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicU32, Ordering};

use super::accumulate::Pages;
use super::args::Fault;
use crate::element::{Element, Scalar};

/// An array to read.
#[derive(Clone, Copy)]
pub struct In<'a, T> {
    base: *const T,
    len: u32,
    /// End of the chunk's positions.
    end: u32,
    slot: usize,
    fault: &'a OnceCell<Fault>,
}

impl<'a, T: Element> In<'a, T> {
    /// `base` is valid for reads of `len` elements during `'a`.
    #[inline(always)]
    pub(super) fn new(base: *const T, len: u32, end: u32, slot: usize, fault: &'a OnceCell<Fault>) -> In<'a, T> {
        In { base, len, end, slot, fault }
    }

    /// Element `i`; `line` is that of the access in the source.
    #[inline(always)]
    pub fn get(&self, i: u32, line: u32) -> T {
        if i < self.len {
            // SAFETY: in range, and `HostArray` promises `len` elements that nobody writes.
            unsafe { self.base.add(i as usize).read() }
        } else {
            self.clamped(i, line)
        }
    }

    #[cold]
    #[inline(never)]
    fn clamped(&self, index: u32, line: u32) -> T {
        let _ = self.fault.set(Fault::OutOfRange { slot: self.slot, line, index, len: self.len });
        match self.len {
            0 => T::ZERO,
            // SAFETY: the last element.
            len => unsafe { self.base.add(len as usize - 1).read() },
        }
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether every position of the chunk is an index of this array. Behind this test, the compiler drops the tests
    /// of accesses at the position and uses vector instructions.
    #[inline(always)]
    pub fn covers(&self) -> bool {
        self.end <= self.len
    }
}

/// Where a chunk may write: elements `lo .. lo + count` of `len`.
pub(super) struct Target<'a, T> {
    pub(super) base: *mut T,
    pub(super) lo: u32,
    pub(super) count: u32,
    pub(super) len: u32,
    pub(super) absent: bool,
    pub(super) slot: usize,
    pub(super) fault: &'a OnceCell<Fault>,
}

impl<T> Target<'_, T> {
    /// The place of element `i`, if the chunk may write it; otherwise records why not.
    #[inline(always)]
    fn at(&self, i: u32, line: u32) -> Option<*mut T> {
        if self.allows(i, line) {
            // SAFETY: in range of the array.
            Some(unsafe { self.base.add(i as usize) })
        } else {
            None
        }
    }

    #[inline(always)]
    fn allows(&self, i: u32, line: u32) -> bool {
        if i.wrapping_sub(self.lo) < self.count {
            return true;
        }
        if !self.absent || i >= self.len {
            self.outside(i, line);
        }
        false
    }

    #[cold]
    #[inline(never)]
    fn outside(&self, index: u32, line: u32) {
        let _ = self.fault.set(Fault::OutOfRange { slot: self.slot, line, index, len: self.len });
    }
}

/// An array to store to.
pub struct Out<'a, T> {
    target: Target<'a, T>,
    /// Whether plain stores do, as no other thread writes where this one may.
    exclusive: bool,
    writers: Option<&'a [AtomicU32]>,
    position: &'a Cell<u32>,
}

impl<'a, T: Element> Out<'a, T> {
    #[inline(always)]
    pub(super) fn new(
        target: Target<'a, T>,
        exclusive: bool,
        writers: Option<&'a [AtomicU32]>,
        position: &'a Cell<u32>,
    ) -> Out<'a, T> {
        Out { target, exclusive, writers, position }
    }

    /// Sets element `i`; `line` is that of the access in the source.
    #[inline(always)]
    pub fn set(&mut self, i: u32, value: T, line: u32) {
        let Some(at) = self.target.at(i, line) else { return };
        if self.exclusive {
            // SAFETY: only this chunk touches its part of an owned array.
            unsafe { at.write(value) };
            return;
        }
        if cfg!(debug_assertions) {
            self.claim(i, line);
        }
        // SAFETY: an element of the array, which all threads of the launch only store to, atomically.
        unsafe { store_relaxed(at, value) };
    }

    /// Notes who writes element `i`: a second writer is a fault, since which one wins would be chance.
    #[inline(always)]
    fn claim(&self, i: u32, line: u32) {
        let Some(writers) = self.writers else { return };
        let me = self.position.get();
        let before = writers[i as usize].swap(me.wrapping_add(1), Ordering::Relaxed);
        if before != 0 {
            let threads = [before - 1, me];
            let _ = self.target.fault.set(Fault::WrittenTwice { slot: self.target.slot, line, index: i, threads });
        }
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.target.len
    }
}

/// An array to accumulate into.
pub struct Acc<'a, T> {
    target: Target<'a, T>,
    pages: Option<&'a Pages>,
    /// That of `pages`.
    table: *const Cell<*mut u8>,
}

impl<'a, T: Element> Acc<'a, T> {
    #[inline(always)]
    pub(super) fn new(target: Target<'a, T>, pages: Option<&'a Pages>) -> Acc<'a, T> {
        Acc { target, pages, table: pages.map_or(std::ptr::null(), Pages::table) }
    }

    /// Adds to element `i`; `line` is that of the access in the source.
    #[inline(always)]
    pub fn add(&mut self, i: u32, value: T, line: u32) {
        if !self.target.allows(i, line) {
            return;
        }
        let at = match self.pages {
            // SAFETY: `i` is an element of the array that these pages were made for.
            Some(pages) => unsafe { pages.at::<T>(self.table, i) },
            // SAFETY: in range of the array.
            None => unsafe { self.target.base.add(i as usize) },
        };
        // SAFETY: this chunk is the only one that touches its pages, its part of an owned array, or, being the only
        // chunk, the array.
        unsafe { at.write(at.read().plus(value)) };
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.target.len
    }
}

/// An array to read and clear.
pub struct Take<'a, T> {
    target: Target<'a, T>,
    exclusive: bool,
}

impl<'a, T: Element> Take<'a, T> {
    #[inline(always)]
    pub(super) fn new(target: Target<'a, T>, exclusive: bool) -> Take<'a, T> {
        Take { target, exclusive }
    }

    /// Element `i`, which becomes 0; `line` is that of the access in the source.
    #[inline(always)]
    pub fn take(&mut self, i: u32, line: u32) -> T {
        let Some(at) = self.target.at(i, line) else { return T::ZERO };
        if self.exclusive {
            // SAFETY: only this chunk touches its part of an owned array.
            return unsafe { at.replace(T::ZERO) };
        }
        // SAFETY: an element of the array, which all threads of the launch only access atomically.
        unsafe {
            let value = load_relaxed(at);
            store_relaxed(at, T::ZERO);
            value
        }
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.target.len
    }
}

/// Stores component by component.
///
/// # Safety
/// `at` is valid for writes and meanwhile only accessed by atomic operations on its scalars.
#[inline(always)]
unsafe fn store_relaxed<T: Element>(at: *mut T, value: T) {
    let (from, to) = ((&raw const value).cast::<T::Scalar>(), at.cast::<T::Scalar>());
    for k in 0..T::COMPONENTS {
        // SAFETY: an `Element` is `COMPONENTS` scalars in a row.
        unsafe { Scalar::store_relaxed(to.add(k), from.add(k).read()) };
    }
}

/// Loads component by component.
///
/// # Safety
/// `at` is valid for reads and writes and meanwhile only accessed by atomic operations on its scalars.
#[inline(always)]
unsafe fn load_relaxed<T: Element>(at: *mut T) -> T {
    let mut value = T::ZERO;
    let (from, to) = (at.cast::<T::Scalar>(), (&raw mut value).cast::<T::Scalar>());
    for k in 0..T::COMPONENTS {
        // SAFETY: an `Element` is `COMPONENTS` scalars in a row.
        unsafe { to.add(k).write(Scalar::load_relaxed(from.add(k))) };
    }
    value
}
