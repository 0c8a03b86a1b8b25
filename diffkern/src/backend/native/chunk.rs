//! The part of a launch that one call of a kernel's body runs: its positions and its view of the arguments.

use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::sync::atomic::AtomicU32;

use super::accumulate::Pages;
use super::args::{Fault, HostArg, HostArray};
use super::lanes::Lines;
use super::own::{Covered, OwnAcc, OwnIn, OwnOut, OwnTake, OwnTakeOnce, OwnUpdate};
use super::update::{Fetch, Update};
use super::views::{Acc, AccOnce, In, Out, Take, Target};
use crate::element::{Element, Scalar};
use crate::float::Float;
use crate::kernel::{Access, ElemTy, ScalarTy};

/// A run of consecutive linear positions and the arguments of the launch. One thread uses it.
pub struct Chunk<'a> {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) dims: [u32; 3],
    pub(super) args: &'a [HostArg<'a>],
    /// Zeros to read instead of absent arrays, as many as the largest needs.
    pub(super) zeros: &'a [u64],
    /// What it accumulates into, by slot.
    pub(super) pages: &'a [(usize, Pages)],
    /// Who stored to an element, by slot: position + 1, or 0.
    pub(super) writers: &'a [(usize, Vec<AtomicU32>)],
    pub(super) fault: OnceCell<Fault>,
    /// Whether a lane has left an array.
    pub(super) suspect: Cell<bool>,
    /// The position under way, where stores are looked at.
    pub(super) position: Cell<u32>,
    /// For additions that bodies of lanes keep.
    pub(super) lines: Lines,
}

impl<'a> Chunk<'a> {
    /// The linear positions to run.
    #[inline(always)]
    pub fn range(&self) -> Range<u32> {
        self.start..self.end
    }

    /// The same, for a body whose stores are looked at: they are told which position is under way.
    #[inline(always)]
    pub fn noted_range(&self) -> impl Iterator<Item = u32> {
        self.range().inspect(|&p| self.position.set(p))
    }

    /// The positions, if every array is there, owned where it is written, and has an element for each: then
    /// the `own_` views do, in which the compiler needs no test and can use vector instructions. An absent array to
    /// accumulate into does not matter.
    #[inline(never)]
    pub fn covered(&self) -> Option<Covered> {
        if self.in_place() { None } else { self.covered_by_all() }
    }

    /// As [`Chunk::covered`], one array in the place of another or not.
    #[inline(never)]
    pub fn covered_by_all(&self) -> Option<Covered> {
        let covers = |arg: &HostArg<'_>| match arg {
            HostArg::Array(HostArray { access: Access::Unused, .. }) => true,
            HostArg::Array(array) => array.len >= self.end && (array.owned || array.access == Access::Read),
            HostArg::Absent { len, .. } => *len >= self.end,
            _ => true,
        };
        self.args.iter().all(covers).then_some(Covered { start: self.start, n: self.end - self.start })
    }

    /// Whether an array is in the place of another.
    pub(super) fn in_place(&self) -> bool {
        self.args.iter().any(|arg| matches!(arg, HostArg::Array(HostArray { over: true, .. })))
    }

    /// As [`Chunk::read`], where [`Chunk::covered`] gave `covered`.
    #[inline(always)]
    pub fn own_read<T: Element>(&self, slot: usize, covered: Covered) -> OwnIn<'_, T> {
        let (base, len) = self.source(slot, T::ELEM, T::Scalar::TY);
        OwnIn::new(base.cast(), len, covered)
    }

    /// As [`Chunk::store`], where [`Chunk::covered`] gave `covered`.
    #[inline(always)]
    pub fn own_store<T: Element>(&self, slot: usize, covered: Covered) -> OwnOut<'_, T> {
        OwnOut::new(self.target(slot, T::ELEM, T::Scalar::TY), covered)
    }

    /// As [`Chunk::add`], where [`Chunk::covered`] gave `covered`.
    #[inline(always)]
    pub fn own_add<T: Element>(&self, slot: usize, covered: Covered) -> OwnAcc<'_, T> {
        OwnAcc::new(self.target(slot, T::ELEM, T::Scalar::TY), covered)
    }

    /// As [`Chunk::take`], where [`Chunk::covered`] gave `covered`.
    #[inline(always)]
    pub fn own_take<T: Element>(&self, slot: usize, covered: Covered) -> OwnTake<'_, T> {
        OwnTake::new(self.target(slot, T::ELEM, T::Scalar::TY), covered)
    }

    /// As [`Chunk::own_take`], where each position takes its element once.
    #[inline(always)]
    pub fn own_take_once<T: Element>(&self, slot: usize, covered: Covered) -> OwnTakeOnce<'_, T> {
        OwnTakeOnce::new(self.target(slot, T::ELEM, T::Scalar::TY), covered)
    }

    /// As [`Chunk::update`], where [`Chunk::covered`] gave `covered`.
    #[inline(always)]
    pub fn own_update<T: Element>(&self, slot: usize, covered: Covered) -> OwnUpdate<'_, T> {
        OwnUpdate::new(self.target(slot, T::ELEM, T::Scalar::TY), covered)
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
        let (base, len) = self.source(slot, T::ELEM, T::Scalar::TY);
        In::new(base.cast(), len, slot, &self.fault)
    }

    /// The array at `slot`, to store to.
    #[inline(always)]
    pub fn store<T: Element>(&self, slot: usize) -> Out<'_, T> {
        let target = self.target(slot, T::ELEM, T::Scalar::TY);
        Out::new(target, self.writers(slot), &self.position, &self.fault)
    }

    /// The array at `slot`, to accumulate into.
    #[inline(always)]
    pub fn add<T: Element>(&self, slot: usize) -> Acc<'_, T> {
        Acc::new(self.target(slot, T::ELEM, T::Scalar::TY), self.pages(slot), &self.fault)
    }

    /// As [`Chunk::add`], of an owned array to which each position adds once.
    #[inline(always)]
    pub fn add_once<T: Element>(&self, slot: usize) -> AccOnce<'_, T> {
        AccOnce::new(self.target(slot, T::ELEM, T::Scalar::TY), &self.fault)
    }

    /// The array at `slot`, to read and clear.
    #[inline(always)]
    pub fn take<T: Element>(&self, slot: usize) -> Take<'_, T> {
        // What is taken again must be zero by then, even where nobody looks at it after the launch.
        let target = Target { keep: false, ..self.target(slot, T::ELEM, T::Scalar::TY) };
        Take::new(target, &self.fault)
    }

    /// As [`Chunk::take`], where each position takes its element once.
    #[inline(always)]
    pub fn take_once<T: Element>(&self, slot: usize) -> Take<'_, T> {
        Take::new(self.target(slot, T::ELEM, T::Scalar::TY), &self.fault)
    }

    /// The array at `slot`, to read and overwrite, or to take from and add to.
    #[inline(always)]
    pub fn update<T: Element>(&self, slot: usize) -> Update<'_, T> {
        let target = self.target(slot, T::ELEM, T::Scalar::TY);
        Update::new(target, self.writers(slot), &self.position, &self.fault)
    }

    /// The array of integers at `slot`, to add to and get what was there. Such a launch has one chunk.
    #[inline(always)]
    pub fn fetch<T: Element>(&self, slot: usize) -> Fetch<'_, T> {
        Fetch::new(self.target(slot, T::ELEM, T::Scalar::TY), &self.fault)
    }

    /// As [`Chunk::fetch`]: there is no faster way.
    #[inline(always)]
    pub fn own_fetch<T: Element>(&self, slot: usize, _covered: Covered) -> Fetch<'_, T> {
        self.fetch(slot)
    }

    /// The real at `slot`.
    #[inline(always)]
    pub fn real<F: Float>(&self, slot: usize) -> F {
        match self.args[slot] {
            HostArg::Real(x) => F::from_f64(x),
            ref other => mismatch(slot, "a real", other),
        }
    }

    /// The `u32` at `slot`, or the `usize`, which is 32 bits wide in kernels.
    #[inline(always)]
    pub fn u32(&self, slot: usize) -> u32 {
        match self.args[slot] {
            HostArg::U32(x) | HostArg::Usize(x) => x,
            ref other => mismatch(slot, "a u32 or usize", other),
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

    /// Makes the launch an error: the `while` on this line wants more turns.
    #[cold]
    #[inline(never)]
    pub fn bound_exceeded(&self, bound: u32, line: u32) {
        let _ = self.fault.set(Fault::BoundExceeded { line, bound });
    }

    /// Makes the launch an error: the index of a local array is out of range.
    #[cold]
    #[inline(never)]
    pub fn local_outside(&self, index: u32, len: u32, line: u32) {
        let _ = self.fault.set(Fault::LocalOutOfRange { line, index, len });
    }

    /// Where to read the array at `slot`, and its length.
    #[inline(never)]
    pub(super) fn source(&self, slot: usize, elem: ElemTy, scalar: ScalarTy) -> (*const u8, u32) {
        match self.array(slot, elem, scalar) {
            Ok(array) => (array.ptr.as_ptr(), array.len),
            Err(len) => (self.zeros.as_ptr().cast(), len),
        }
    }

    /// Where this chunk may write in the array at `slot`: at its own positions where these are the indices.
    #[inline(never)]
    pub(super) fn target(&self, slot: usize, elem: ElemTy, scalar: ScalarTy) -> Target {
        match self.array(slot, elem, scalar) {
            Ok(array) => {
                assert!(array.access.writes(), "slot {slot} is written but bound to read");
                let (lo, hi) = if array.owned { (self.start, self.end.min(array.len)) } else { (0, array.len) };
                let (base, count) = (array.ptr.as_ptr(), hi.saturating_sub(lo));
                Target {
                    base,
                    lo,
                    count,
                    len: array.len,
                    exclusive: array.owned,
                    absent: false,
                    keep: array.last_use,
                    over: array.over,
                    slot,
                }
            }
            Err(len) => {
                let base = std::ptr::null_mut();
                Target {
                    base,
                    lo: self.start,
                    count: 0,
                    len,
                    exclusive: true,
                    absent: true,
                    keep: false,
                    over: false,
                    slot,
                }
            }
        }
    }

    /// The memory of the array at `slot`, or the length of an absent one.
    fn array(&self, slot: usize, elem: ElemTy, scalar: ScalarTy) -> Result<HostArray<'a>, u32> {
        match self.args[slot] {
            HostArg::Array(array) if array.elem == elem && array.scalar == scalar => Ok(array),
            HostArg::Absent { elem: e, scalar: s, len } if e == elem && s == scalar => Err(len),
            ref other => mismatch(slot, "an array of another type", other),
        }
    }

    #[inline(never)]
    fn pages(&self, slot: usize) -> Option<&Pages> {
        self.pages.iter().find(|(s, _)| *s == slot).map(|(_, pages)| pages)
    }

    #[inline(never)]
    fn writers(&self, slot: usize) -> Option<&[AtomicU32]> {
        self.writers.iter().find(|(s, _)| *s == slot).map(|(_, writers)| &**writers)
    }
}

#[cold]
#[inline(never)]
fn mismatch(slot: usize, wanted: &str, found: &HostArg<'_>) -> ! {
    panic!("slot {slot} of the generated body wants {wanted}, found {found:?}")
}
