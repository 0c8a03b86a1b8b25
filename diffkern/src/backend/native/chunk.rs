//! The part of a launch that one call of a kernel's body runs: its positions and its view of the arguments.

use std::cell::{Cell, OnceCell};
use std::sync::atomic::AtomicU32;

use super::accumulate::Pages;
use super::args::{Fault, HostArg, HostArray};
use super::views::{Acc, In, Out, Target, Take};
use crate::element::{Element, Scalar};
use crate::float::Float;
use crate::kernel::{ElemTy, ScalarTy};

/// A run of consecutive linear positions and the arguments of the launch. One thread uses it.
pub struct Chunk<'a> {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) dims: [u32; 3],
    pub(super) args: &'a [HostArg<'a>],
    /// Zeros to read instead of absent arrays, as many as the largest needs.
    pub(super) zeros: &'a [u64],
    /// Private copies, by slot; none where the chunk adds straight into the array.
    pub(super) copies: &'a [(usize, Pages)],
    /// Who stored to an element, by slot: position + 1, or 0.
    pub(super) writers: &'a [(usize, Box<[AtomicU32]>)],
    pub(super) fault: OnceCell<Fault>,
    /// The position under way, kept for the write-once check only.
    pub(super) position: Cell<u32>,
}

impl<'a> Chunk<'a> {
    /// The linear positions to run.
    #[inline(always)]
    pub fn range(&self) -> Positions<'_> {
        Positions { next: self.start, end: self.end, current: &self.position }
    }

    /// The x of linear position `p`.
    #[inline(always)]
    pub fn pos_x(&self, p: u32) -> u32 {
        if self.is_line() { p } else { p % self.dims[0] }
    }

    /// The y of linear position `p`.
    #[inline(always)]
    pub fn pos_y(&self, p: u32) -> u32 {
        if self.is_line() { 0 } else { p / self.dims[0] % self.dims[1] }
    }

    /// The z of linear position `p`.
    #[inline(always)]
    pub fn pos_z(&self, p: u32) -> u32 {
        if self.is_line() { 0 } else { p / self.dims[0] / self.dims[1] }
    }

    #[inline(always)]
    fn is_line(&self) -> bool {
        self.dims[1] == 1 && self.dims[2] == 1
    }

    /// The array at `slot`, to read.
    #[inline(always)]
    pub fn read<T: Element>(&self, slot: usize) -> In<'_, T> {
        match self.array::<T>(slot) {
            Ok(array) => In::new(array.ptr.cast().as_ptr(), array.len, self.end, slot, &self.fault),
            Err(len) => In::new(self.zeros.as_ptr().cast_mut().cast(), len, self.end, slot, &self.fault),
        }
    }

    /// The array at `slot`, to store to.
    #[inline(always)]
    pub fn store<T: Element>(&self, slot: usize) -> Out<'_, T> {
        let writers = self.writers.iter().find(|(s, _)| *s == slot).map(|(_, writers)| &**writers);
        Out::new(self.target(slot), self.is_exclusive(slot), writers, &self.position)
    }

    /// The array at `slot`, to accumulate into.
    #[inline(always)]
    pub fn add<T: Element>(&self, slot: usize) -> Acc<'_, T> {
        Acc::new(self.target(slot), self.copies.iter().find(|(s, _)| *s == slot).map(|(_, pages)| pages))
    }

    /// The array at `slot`, to read and clear.
    #[inline(always)]
    pub fn take<T: Element>(&self, slot: usize) -> Take<'_, T> {
        Take::new(self.target(slot), self.is_exclusive(slot))
    }

    /// The real at `slot`.
    #[inline(always)]
    pub fn real<F: Float>(&self, slot: usize) -> F {
        match self.args[slot] {
            HostArg::Real(x) => F::from_f64(x),
            ref other => mismatch(slot, "a real", other),
        }
    }

    /// The `u32` at `slot`.
    #[inline(always)]
    pub fn u32(&self, slot: usize) -> u32 {
        match self.args[slot] {
            HostArg::U32(x) => x,
            ref other => mismatch(slot, "a u32", other),
        }
    }

    /// The `i32` at `slot`.
    #[inline(always)]
    pub fn i32(&self, slot: usize) -> i32 {
        match self.args[slot] {
            HostArg::I32(x) => x,
            ref other => mismatch(slot, "an i32", other),
        }
    }

    /// The `usize` at `slot`, 32 bits wide in kernels.
    #[inline(always)]
    pub fn usize(&self, slot: usize) -> u32 {
        match self.args[slot] {
            HostArg::Usize(x) => x,
            ref other => mismatch(slot, "a usize", other),
        }
    }

    /// The `bool` at `slot`.
    #[inline(always)]
    pub fn bool(&self, slot: usize) -> bool {
        match self.args[slot] {
            HostArg::Bool(x) => x,
            ref other => mismatch(slot, "a bool", other),
        }
    }

    /// Number of elements of the array at `slot`, whatever they are.
    #[inline(always)]
    pub fn len(&self, slot: usize) -> u32 {
        match self.args[slot] {
            HostArg::Array(HostArray { len, .. }) | HostArg::Absent { len, .. } => len,
            ref other => mismatch(slot, "an array", other),
        }
    }

    /// The memory of the array at `slot`, or the length of an absent one.
    #[inline(always)]
    fn array<T: Element>(&self, slot: usize) -> Result<HostArray<'a>, u32> {
        let is = |elem: ElemTy, scalar: ScalarTy| elem == T::ELEM && scalar == T::Scalar::TY;
        match self.args[slot] {
            HostArg::Array(array) if is(array.elem, array.scalar) => Ok(array),
            HostArg::Absent { elem, scalar, len } if is(elem, scalar) => Err(len),
            ref other => mismatch(slot, "an array of another type", other),
        }
    }

    /// Where this chunk may write in the array at `slot`: in its own positions where they are the indices.
    #[inline(always)]
    fn target<T: Element>(&self, slot: usize) -> Target<'_, T> {
        let fault = &self.fault;
        match self.array::<T>(slot) {
            Ok(array) => {
                assert!(array.access.writes(), "slot {slot} is written but bound to read");
                let base = array.ptr.cast().as_ptr();
                let (lo, hi) = if array.owned { (self.start, self.end.min(array.len)) } else { (0, array.len) };
                Target { base, lo, count: hi.saturating_sub(lo), len: array.len, absent: false, slot, fault }
            }
            Err(len) => {
                let base = std::ptr::NonNull::dangling().as_ptr();
                Target { base, lo: 0, count: 0, len, absent: true, slot, fault }
            }
        }
    }

    /// Whether no other thread touches the elements that [`Chunk::target`] allows.
    #[inline(always)]
    fn is_exclusive(&self, slot: usize) -> bool {
        matches!(self.args[slot], HostArg::Array(HostArray { owned: true, .. }))
    }
}

#[cold]
#[inline(never)]
fn mismatch(slot: usize, wanted: &str, found: &HostArg<'_>) -> ! {
    panic!("slot {slot} of the generated body wants {wanted}, found {found:?}")
}

/// The linear positions of a [`Chunk`], in order.
pub struct Positions<'a> {
    next: u32,
    end: u32,
    current: &'a Cell<u32>,
}

impl Iterator for Positions<'_> {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        let p = self.next;
        if p >= self.end {
            return None;
        }
        if cfg!(debug_assertions) {
            self.current.set(p);
        }
        self.next = p + 1;
        Some(p)
    }
}
