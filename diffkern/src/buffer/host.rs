//! Memory of the host: aligned, zeroed once, recycled.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use super::huge;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::Range;
use std::ptr::NonNull;

/// Alignment of every host buffer: a cache line, and the widest vector register.
pub(crate) const ALIGN: usize = 64;

/// Bytes beyond its contents that every buffer has: a pack reads vectors of three reals as four.
pub(crate) const BEYOND: usize = 8;

/// A block of host memory, always initialised (fresh from the system it is zero, recycled it has old contents).
pub(crate) struct HostBuffer {
    at: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it owns its block, and the methods that touch the contents are unsafe with the duty to exclude others.
unsafe impl Send for HostBuffer {}
// SAFETY: as above.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// A zeroed block of at least `bytes`, with nothing beyond unless they come from [`HostBuffer::class`]; `None` when the system has none.
    pub(crate) fn zeroed(bytes: usize) -> Option<HostBuffer> {
        let bytes = Self::rounded(bytes.max(1))?;
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        if let Some(size) = huge::size(bytes) {
            return huge::map(size).map(|at| HostBuffer { at, bytes });
        }
        let layout = Layout::from_size_align(bytes, ALIGN).ok()?;
        // SAFETY: the size is not zero, see `class`.
        let at = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(HostBuffer { at, bytes })
    }

    /// Size of the block that serves `bytes` and [`BEYOND`]: whole cache lines, and whole pages where it is large.
    pub(crate) fn class(bytes: usize) -> Option<usize> {
        Self::rounded(bytes.checked_add(BEYOND)?)
    }

    /// Whole cache lines, or whole pages.
    fn rounded(bytes: usize) -> Option<usize> {
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        if let Some(size) = huge::size(bytes) {
            return Some(size).filter(|&b| b <= isize::MAX as usize - ALIGN);
        }
        bytes.checked_next_multiple_of(ALIGN).filter(|&b| b <= isize::MAX as usize - ALIGN)
    }

    /// Start of the block, aligned to [`ALIGN`].
    pub(crate) fn ptr(&self) -> *mut u8 {
        self.at.as_ptr()
    }

    /// Size of the block, a multiple of [`ALIGN`].
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Sets the block to zero.
    ///
    /// # Safety
    /// Nobody else reads or writes it meanwhile.
    pub(crate) unsafe fn clear(&self) {
        // SAFETY: the block is owned by `self`.
        unsafe { self.ptr().write_bytes(0, self.bytes) };
    }

    /// Some of the block; `None` when the range is not inside it.
    ///
    /// # Safety
    /// Nobody writes to these bytes while the slice lives.
    pub(crate) unsafe fn slice(&self, range: Range<usize>) -> Option<&[u8]> {
        let inside = range.start <= range.end && range.end <= self.bytes;
        // SAFETY: the range is inside the block, which is initialised and owned by `self`.
        inside.then(|| unsafe { std::slice::from_raw_parts(self.ptr().add(range.start), range.len()) })
    }

    /// Some of the block; `None` when the range is not inside it.
    ///
    /// # Safety
    /// Nobody else reads or writes these bytes while the slice lives.
    #[expect(clippy::mut_from_ref, reason = "exclusion is the caller's duty: buffers are shared by reference count")]
    pub(crate) unsafe fn slice_mut(&self, range: Range<usize>) -> Option<&mut [u8]> {
        let inside = range.start <= range.end && range.end <= self.bytes;
        // SAFETY: the range is inside the block, which is initialised and owned by `self`.
        inside.then(|| unsafe { std::slice::from_raw_parts_mut(self.ptr().add(range.start), range.len()) })
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
        if huge::size(self.bytes).is_some() {
            // SAFETY: mapped in `zeroed`, by the same test.
            return unsafe { huge::unmap(self.at, self.bytes) };
        }
        // SAFETY: allocated in `zeroed` with this layout, which was valid there.
        unsafe { dealloc(self.at.as_ptr(), Layout::from_size_align_unchecked(self.bytes, ALIGN)) }
    }
}
