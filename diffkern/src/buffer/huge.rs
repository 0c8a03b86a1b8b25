//! Large blocks straight from the system, in huge pages where it has them: fewer faults, and fewer misses of the
//! processor's table of pages.
//!
//! The system gives such memory zeroed, page by page at the first touch, so the thread that uses a part pays for it.

use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};

/// Size of a huge page on the machines that this is for; elsewhere it is only an alignment.
const HUGE: usize = 2 << 20;

unsafe extern "C" {
    // As in POSIX, and madvise(2) of Linux; `off_t` has 64 bits on the targets that this module is built for.
    fn mmap(addr: *mut c_void, len: usize, prot: c_int, flags: c_int, fd: c_int, offset: i64) -> *mut c_void;
    fn munmap(addr: *mut c_void, len: usize) -> c_int;
    fn madvise(addr: *mut c_void, len: usize, advice: c_int) -> c_int;
}

const PROT_READ_WRITE: c_int = 1 | 2;
const MAP_PRIVATE_ANONYMOUS: c_int = 2 | 0x20;
const MADV_HUGEPAGE: c_int = 14;

/// The size to map for a block of `bytes`; `None` where mapping does not pay. Whole huge pages, unless that would waste
/// more than an eighth; else whole pages, of whatever size up to 64 KiB the system has. The size of a size is itself.
pub(super) fn size(bytes: usize) -> Option<usize> {
    // Miri has no `madvise`, and unmaps whole mappings only.
    if bytes < HUGE || cfg!(miri) {
        return None;
    }
    let (paged, whole) = (bytes.checked_next_multiple_of(64 << 10)?, bytes.checked_next_multiple_of(HUGE)?);
    Some(if whole - paged <= paged / 8 { whole } else { paged })
}

/// Zeroed memory of a [`size`], aligned to huge pages.
pub(super) fn map(bytes: usize) -> Option<NonNull<u8>> {
    let reserved = bytes.checked_add(HUGE)?;
    // SAFETY: a new mapping at an address of the system's choice.
    let start = unsafe { mmap(null_mut(), reserved, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0) };
    if start as isize == -1 {
        return None;
    }
    let before = start.align_offset(HUGE);
    // SAFETY: `before` is less than `HUGE`, so all is inside the new mapping, which nobody uses yet.
    unsafe {
        let block = start.byte_add(before);
        if before > 0 {
            munmap(start, before);
        }
        if before < HUGE {
            munmap(block.byte_add(bytes), HUGE - before);
        }
        // A hint: without huge pages the memory is as good.
        madvise(block, bytes, MADV_HUGEPAGE);
        NonNull::new(block.cast())
    }
}

/// Gives memory back.
///
/// # Safety
/// `at` came from [`map`] with the same size, and nobody uses the memory.
pub(super) unsafe fn unmap(at: NonNull<u8>, bytes: usize) {
    // SAFETY: by the caller's promise.
    unsafe { munmap(at.as_ptr().cast(), bytes) };
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_their_own_and_waste_little() {
        assert_eq!(size(HUGE - 1), None);
        for bytes in (HUGE..5 * HUGE).step_by(12_345) {
            let size = size(bytes).unwrap_or(0);
            assert_eq!(super::size(size), Some(size));
            assert!(size >= bytes && size - bytes <= bytes / 8 + (64 << 10));
        }
    }

    #[test]
    fn mapped_memory_is_zero_and_aligned() {
        for bytes in [HUGE, HUGE + (64 << 10)] {
            let at = map(bytes).expect("memory");
            assert_eq!(at.as_ptr() as usize % HUGE, 0);
            // SAFETY: just mapped; unmapped once.
            unsafe {
                assert!(std::slice::from_raw_parts(at.as_ptr(), bytes).iter().all(|&b| b == 0));
                at.add(bytes - 1).write(1);
                unmap(at, bytes);
            }
        }
    }
}
