//! Faults inside device functions, which know no launch: noted here, by thread, until the chunk that ran them asks.
//!
//! A device function called on the host notes them too; there nobody asks, and the next chunk on the thread clears them.

use std::cell::Cell;

use super::args::Fault;

thread_local! {
    static PENDING: Cell<Option<Fault>> = const { Cell::new(None) };
}

/// Notes that an index of a local array is out of range.
#[cold]
#[inline(never)]
pub fn local_outside(index: u32, len: u32, line: u32) {
    let first = PENDING.take().unwrap_or(Fault::LocalOutOfRange { line, index, len });
    PENDING.set(Some(first));
}

pub(super) fn clear() {
    PENDING.set(None);
}

pub(super) fn take() -> Option<Fault> {
    PENDING.take()
}
