//! Memory for additions that bodies of lanes keep.
//!
//! It belongs to the chunk, not to the views in a body: with something to drop, every call in a body is an edge to where it is
//! dropped, and so the end of a block. A body of thousands of operations then took LLVM the square of their number.

use std::cell::RefCell;

use super::kept::Line;

/// What the views of a chunk have, given back when the chunk is over.
#[derive(Default)]
pub(in super::super) struct Lines(RefCell<Vec<Vec<Line>>>);

impl Lines {
    /// At least so many lines. Out of line: a body has many.
    #[inline(never)]
    #[expect(clippy::mut_from_ref, reason = "each call gives other lines")]
    pub(super) fn take(&self, count: usize) -> &mut [Line] {
        let mut lines = KEPT.try_with(|kept| kept.borrow_mut().pop()).ok().flatten().unwrap_or_default();
        if lines.len() < count {
            lines.resize(count, Line::ZERO);
        }
        let (at, len) = (lines.as_mut_ptr(), lines.len());
        self.0.borrow_mut().push(lines);
        // SAFETY: they stay where they are until `self` is dropped, and are given away once.
        unsafe { std::slice::from_raw_parts_mut(at, len) }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let lines = self.0.get_mut();
        if !lines.is_empty() {
            let _ = KEPT.try_with(|kept| kept.borrow_mut().append(lines));
        }
    }
}

thread_local! {
    /// What was in use before, for the chunks to come.
    static KEPT: RefCell<Vec<Vec<Line>>> = const { RefCell::new(Vec::new()) };
}
