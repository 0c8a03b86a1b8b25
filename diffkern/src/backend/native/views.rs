//! How a kernel's body sees its arrays. An index out of range never reaches memory: a read is clamped, a write dropped,
//! and the first of a chunk makes the launch an error.

use std::cell::{Cell, OnceCell};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering};

use super::accumulate::Pages;
use super::args::Fault;
use crate::element::{Element, Scalar};

/// An array to read.
#[derive(Clone, Copy)]
pub struct In<'a, T> {
    base: *const T,
    len: u32,
    slot: usize,
    fault: &'a OnceCell<Fault>,
}

impl<'a, T: Element> In<'a, T> {
    /// `base` is valid for reads of `len` elements during `'a`.
    #[inline(always)]
    pub(super) fn new(base: *const T, len: u32, slot: usize, fault: &'a OnceCell<Fault>) -> In<'a, T> {
        In { base, len, slot, fault }
    }

    /// Element `i`; `line` is that of the access in the source.
    #[inline(always)]
    pub fn get(&self, i: u32, line: u32) -> T {
        if i < self.len {
            // SAFETY: in range, and `HostArray` promises `len` elements that nobody writes.
            unsafe { self.base.add(i as usize).read() }
        } else {
            clamped(self.base, self.len, self.fault, self.slot, i, line)
        }
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The elements, valid for reads.
    #[inline(always)]
    pub(super) fn memory(&self) -> (*const T, u32) {
        (self.base, self.len)
    }
}

/// The last element, or zero where there is none.
///
/// `base` is valid for reads of `len` elements. By value throughout, so that views can live in registers.
#[cold]
#[inline(never)]
fn clamped<T: Element>(base: *const T, len: u32, fault: &OnceCell<Fault>, slot: usize, i: u32, line: u32) -> T {
    outside(fault, slot, i, len, line);
    match len {
        0 => T::ZERO,
        // SAFETY: the last element.
        len => unsafe { base.add(len as usize - 1).read() },
    }
}

#[cold]
#[inline(never)]
fn outside(fault: &OnceCell<Fault>, slot: usize, index: u32, len: u32, line: u32) {
    let _ = fault.set(Fault::OutOfRange { slot, line, index, len });
}

/// Where a chunk may write: elements `lo .. lo + count` of the `len` at `base`.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub(super) base: *mut u8,
    pub(super) lo: u32,
    pub(super) count: u32,
    pub(super) len: u32,
    /// Whether nobody else touches these meanwhile.
    pub(super) exclusive: bool,
    /// Whether writes are dropped; there is no memory.
    pub(super) absent: bool,
    /// Whether what is taken may stay, since nobody looks at it afterwards.
    pub(super) keep: bool,
    /// Whether the first addition to an element finds something else there, which counts as zero.
    pub(super) over: bool,
    pub(super) slot: usize,
}

impl Target {
    /// Whether the chunk may write element `i`; if not, notes why.
    #[inline(always)]
    pub(super) fn allows(&self, i: u32, line: u32, fault: &OnceCell<Fault>) -> bool {
        if i.wrapping_sub(self.lo) < self.count {
            return true;
        }
        if !self.absent || i >= self.len {
            outside(fault, self.slot, i, self.len, line);
        }
        false
    }

    /// The place of element `i`.
    ///
    /// # Safety
    /// [`Target::allows`] it.
    #[inline(always)]
    pub(super) unsafe fn at<T>(&self, i: u32) -> *mut T {
        // SAFETY: in range of the array.
        unsafe { self.base.cast::<T>().add(i as usize) }
    }
}

impl Target {
    /// Notes who writes element `i`: a second writer is a fault, since which one wins would be chance.
    #[inline(always)]
    pub(super) fn claim(
        &self,
        (i, line): (u32, u32),
        writers: Option<&[AtomicU32]>,
        position: &Cell<u32>,
        fault: &OnceCell<Fault>,
    ) {
        let Some(writers) = writers else { return };
        let me = position.get();
        let before = writers[i as usize].swap(me.wrapping_add(1), Ordering::Relaxed);
        if before != 0 && before != me.wrapping_add(1) {
            // In order, so that the report does not depend on who came first.
            let threads = [me.min(before - 1), me.max(before - 1)];
            let _ = fault.set(Fault::WrittenTwice { slot: self.slot, line, index: i, threads });
        }
    }
}

/// An array to store to.
pub struct Out<'a, T> {
    target: Target,
    writers: Option<&'a [AtomicU32]>,
    position: &'a Cell<u32>,
    fault: &'a OnceCell<Fault>,
    element: PhantomData<T>,
}

impl<'a, T: Element> Out<'a, T> {
    #[inline(always)]
    pub(super) fn new(
        target: Target,
        writers: Option<&'a [AtomicU32]>,
        position: &'a Cell<u32>,
        fault: &'a OnceCell<Fault>,
    ) -> Out<'a, T> {
        Out { target, writers, position, fault, element: PhantomData }
    }

    #[inline(always)]
    pub(super) fn target(&self) -> Target {
        self.target
    }

    /// Sets element `i`; `line` is that of the access in the source.
    #[inline(always)]
    pub fn set(&mut self, i: u32, value: T, line: u32) {
        if !self.target.allows(i, line, self.fault) {
            return;
        }
        // SAFETY: allowed.
        let at = unsafe { self.target.at::<T>(i) };
        if self.target.exclusive {
            // SAFETY: only this chunk touches its part of an owned array.
            unsafe { at.write(value) };
            return;
        }
        self.target.claim((i, line), self.writers, self.position, self.fault);
        // SAFETY: an element of the array, which all threads of the launch only store to, atomically.
        unsafe { store_relaxed(at, value) };
    }

    /// Number of elements.
    #[expect(clippy::len_without_is_empty, reason = "kernels have no `is_empty`")]
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.target.len
    }
}

/// An array to accumulate into.
#[derive(Clone, Copy)]
pub struct Acc<'a, T> {
    target: Target,
    /// `None` where the chunk adds straight into the array.
    pages: Option<&'a Pages>,
    /// That of `pages`, kept in a register.
    table: *const Cell<*mut u8>,
    fault: &'a OnceCell<Fault>,
    element: PhantomData<T>,
}

impl<'a, T: Element> Acc<'a, T> {
    #[inline(always)]
    pub(super) fn new(target: Target, pages: Option<&'a Pages>, fault: &'a OnceCell<Fault>) -> Acc<'a, T> {
        Acc { target, pages, table: pages.map_or(std::ptr::null(), Pages::table), fault, element: PhantomData }
    }

    #[inline(always)]
    pub(super) fn target(&self) -> Target {
        self.target
    }

    /// The place of element `i`.
    ///
    /// # Safety
    /// The target allows it.
    #[inline(always)]
    pub(super) unsafe fn place(&self, i: u32) -> *mut T {
        match self.pages {
            // SAFETY: allowed.
            None => unsafe { self.target.at::<T>(i) },
            // SAFETY: the pages are made for the length of the array, and this is their table.
            Some(pages) => unsafe { Pages::at::<T>(pages, self.table, i) },
        }
    }

    /// Elements whose numbers are equal without so many low bits lie in a row.
    #[inline(always)]
    pub(super) fn row_shift(&self) -> u32 {
        if self.pages.is_some() { const { Pages::shift::<T>() } } else { u32::BITS - 1 }
    }

    /// The bits of an element's number that are all zero where a row begins.
    #[inline(always)]
    pub(super) fn row_mask(&self) -> u32 {
        (1 << self.row_shift()) - 1
    }

    /// The place of `n` elements in a row from `i` on; null where they are not all in one page.
    ///
    /// # Safety
    /// The target allows all of them.
    #[inline(always)]
    pub(super) unsafe fn row(&self, i: u32, n: u32) -> *mut T {
        if self.pages.is_some() && !Pages::in_one_page::<T>(i, n) {
            return std::ptr::null_mut();
        }
        // SAFETY: allowed.
        unsafe { self.place(i) }
    }

    /// Adds to element `i`; `line` is that of the access in the source. Shared, for a function that has one array as two
    /// of its arguments.
    #[inline(always)]
    pub fn add(&self, i: u32, value: T, line: u32) {
        if !self.target.allows(i, line, self.fault) {
            return;
        }
        // SAFETY: allowed.
        let at = unsafe { self.place(i) };
        // SAFETY: this chunk is the only one that touches its copy, its part of an owned array, or, being the only
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

/// An owned array to which each position adds once.
pub struct AccOnce<'a, T> {
    target: Target,
    fault: &'a OnceCell<Fault>,
    element: PhantomData<T>,
}

impl<'a, T: Element> AccOnce<'a, T> {
    #[inline(always)]
    pub(super) fn new(target: Target, fault: &'a OnceCell<Fault>) -> AccOnce<'a, T> {
        assert!(target.exclusive, "only owned arrays are added to once");
        AccOnce { target, fault, element: PhantomData }
    }

    #[inline(always)]
    pub(super) fn target(&self) -> Target {
        self.target
    }

    /// Adds to element `i`; `line` is that of the access in the source.
    #[inline(always)]
    pub fn add(&mut self, i: u32, value: T, line: u32) {
        if self.target.allows(i, line, self.fault) {
            // SAFETY: allowed, and only this chunk touches its part of an owned array.
            unsafe {
                let at = self.target.at::<T>(i);
                let before = if self.target.over { T::ZERO } else { at.read() };
                at.write(before.plus(value));
            }
        }
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
    target: Target,
    fault: &'a OnceCell<Fault>,
    element: PhantomData<T>,
}

impl<'a, T: Element> Take<'a, T> {
    #[inline(always)]
    pub(super) fn new(target: Target, fault: &'a OnceCell<Fault>) -> Take<'a, T> {
        Take { target, fault, element: PhantomData }
    }

    #[inline(always)]
    pub(super) fn target(&self) -> Target {
        self.target
    }

    /// Element `i`, which becomes 0; `line` is that of the access in the source.
    #[inline(always)]
    pub fn take(&mut self, i: u32, line: u32) -> T {
        if !self.target.allows(i, line, self.fault) {
            return T::ZERO;
        }
        // SAFETY: allowed.
        let at = unsafe { self.target.at::<T>(i) };
        if self.target.exclusive {
            // SAFETY: only this chunk touches its part of an owned array.
            return unsafe { if self.target.keep { at.read() } else { at.replace(T::ZERO) } };
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
pub(super) unsafe fn store_relaxed<T: Element>(at: *mut T, value: T) {
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
pub(super) unsafe fn load_relaxed<T: Element>(at: *mut T) -> T {
    let mut value = T::ZERO;
    let (from, to) = (at.cast::<T::Scalar>(), (&raw mut value).cast::<T::Scalar>());
    for k in 0..T::COMPONENTS {
        // SAFETY: an `Element` is `COMPONENTS` scalars in a row.
        unsafe { to.add(k).write(Scalar::load_relaxed(from.add(k))) };
    }
    value
}
