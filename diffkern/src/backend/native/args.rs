//! What a launch on the host takes, and what can go wrong in it.

use std::marker::PhantomData;
use std::ops::Range;
use std::ptr::NonNull;

#[cfg(test)]
use crate::element::{Element, Scalar};
use crate::kernel::{Access, ElemTy, ScalarTy};

/// An argument of [`run`](super::run), by slot.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HostArg<'a> {
    /// Memory to read or write.
    Array(HostArray<'a>),
    /// An array that is not there: reads give zeros, writes are dropped.
    Absent { elem: ElemTy, scalar: ScalarTy, len: u32 },
    /// A real, of the kernel's scalar.
    Real(f64),
    /// `u32`.
    U32(u32),
    /// `i32`.
    I32(i32),
    /// `usize`, 32 bits wide in kernels.
    Usize(u32),
    /// `bool`.
    Bool(bool),
}

/// Elements in the host's memory, borrowed for `'a`.
///
/// While a launch runs, nobody else touches what it writes, and nobody writes what it reads, by the promise of the caller
/// of [`HostArray::new`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostArray<'a> {
    pub(super) ptr: NonNull<u8>,
    pub(super) len: u32,
    pub(super) elem: ElemTy,
    pub(super) scalar: ScalarTy,
    pub(super) access: Access,
    pub(super) owned: bool,
    /// To be added to: it has old contents but counts as zero.
    pub(super) fresh: bool,
    /// To be added to: it counts as zero, and has the memory of an array that is taken from.
    pub(super) over: bool,
    /// Nobody needs the contents after this launch.
    pub(super) last_use: bool,
    /// Whether packs may read [`BEYOND`](crate::buffer::BEYOND) bytes after the last element.
    pub(super) padded: bool,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: a borrow of plain scalars; threads of a launch read shared ones, write disjoint parts of owned ones, store to
// others by atomics and accumulate into others through copies.
unsafe impl Send for HostArray<'_> {}
// SAFETY: as above.
unsafe impl Sync for HostArray<'_> {}

impl<'a> HostArray<'a> {
    /// `len` elements at `ptr`; `owned` when every access of the kernel has the index of its thread.
    ///
    /// # Safety
    /// For all of `'a`, `ptr` is aligned for `scalar` and valid for reads of `len` elements, and for writes when
    /// `access` writes. If it writes, nobody else accesses them, neither through another argument of the same launch, but
    /// for two that are [`in_place`](HostArray::in_place) by one of [`KernelDef::places`](crate::kernel::KernelDef::places);
    /// otherwise nobody writes them.
    pub(crate) unsafe fn new(
        ptr: NonNull<u8>,
        len: u32,
        elem: ElemTy,
        scalar: ScalarTy,
        access: Access,
        owned: bool,
    ) -> HostArray<'a> {
        let (fresh, over, last_use, padded) = (false, false, false, false);
        HostArray { ptr, len, elem, scalar, access, owned, fresh, over, last_use, padded, memory: PhantomData }
    }

    /// The same, when there are [`BEYOND`](crate::buffer::BEYOND) bytes more.
    ///
    /// # Safety
    /// They are valid for reads.
    pub(crate) unsafe fn padded(self) -> HostArray<'a> {
        HostArray { padded: true, ..self }
    }

    /// The same; see the fields.
    pub(crate) fn with_uses(self, fresh: bool, last_use: bool) -> HostArray<'a> {
        HostArray { fresh, last_use, ..self }
    }

    /// The same as one of two that are in one place: taken from for the last time, or added to and zero until then.
    pub(crate) fn in_place(self) -> HostArray<'a> {
        HostArray { over: self.access == Access::Add, last_use: self.access == Access::Take, ..self }
    }

    pub(super) fn elem_bytes(&self) -> usize {
        self.elem.components() * self.scalar.bytes()
    }

    pub(super) fn bytes(&self) -> usize {
        self.len as usize * self.elem_bytes()
    }

    /// Sets elements to zero, as far as they are there.
    ///
    /// # Safety
    /// Nobody else accesses them meanwhile.
    pub(super) unsafe fn clear(&self, from: u32, to: u32) {
        let (from, to) = (from.min(self.len) as usize, to.min(self.len) as usize);
        let bytes = self.elem_bytes();
        // SAFETY: inside the array, which the launch writes.
        unsafe { self.ptr.as_ptr().add(from * bytes).write_bytes(0, (to - from) * bytes) };
    }
}

/// Why a launch failed. Of several, that of the first chunk, so it does not depend on the threads either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The access was clamped (read) or dropped (write).
    OutOfRange { slot: usize, line: u32, index: u32, len: u32 },
    /// Two threads stored to one element of an array that is looked at; `threads` are their linear positions, the smaller first.
    WrittenTwice { slot: usize, line: u32, index: u32, threads: [u32; 2] },
    /// A `while` wanted more turns than its bound.
    BoundExceeded { line: u32, bound: u32 },
    /// An index of a local array was clamped (read) or the write dropped.
    LocalOutOfRange { line: u32, index: u32, len: u32 },
    /// A pack of lanes has left an array, at one of these positions of a chunk; `seen` is what it told of another fault.
    InPack { positions: Range<u32>, seen: Option<Box<Fault>> },
    /// The array has more scalars than packs of lanes have indices for.
    TooLong { slot: usize, scalars: usize },
    /// The domain has more than `u32::MAX` indices.
    DomainTooLarge { dims: [usize; 3] },
    /// The system has no memory for the zeros that are read instead of absent arguments.
    OutOfMemory { bytes: usize },
    /// An end was asked for while it ran.
    Interrupted,
    /// The body panicked: a mistake in generated code.
    Panicked { message: String },
}

#[cfg(test)]
impl<'a> HostArray<'a> {
    /// A slice to read.
    pub(crate) fn read<T: Element>(data: &'a [T]) -> HostArray<'a> {
        let ptr = NonNull::from(data).cast();
        // SAFETY: a shared borrow of a slice for `'a`, and `Read` does not write.
        unsafe { HostArray::new(ptr, data.len() as u32, T::ELEM, T::Scalar::TY, Access::Read, false) }
    }

    /// A slice to write.
    pub(crate) fn write<T: Element>(data: &'a mut [T], access: Access, owned: bool) -> HostArray<'a> {
        let len = data.len() as u32;
        // SAFETY: an exclusive borrow of a slice for `'a`.
        unsafe { HostArray::new(NonNull::from(data).cast(), len, T::ELEM, T::Scalar::TY, access, owned) }
    }
}
