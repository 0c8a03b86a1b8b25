//! A chunk's private copy of an array to accumulate into, which holds only the pages that are touched.
//!
//! They are reached through a table. A page is 4 KiB: a power of two of elements, so that no element straddles two
//! pages. Pages are zero when nobody uses them; they and their tables are kept between launches.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::args::HostArray;
use crate::element::Element;

/// Small enough to waste little where touched elements lie apart, large enough to hide the look-up when merging.
pub(super) const PAGE_BYTES: usize = 4096;

/// Pages of all arrays together that are kept for later launches: 256 MiB.
const KEPT_PAGES: usize = (256 << 20) / PAGE_BYTES;

#[repr(C, align(64))]
struct Page([u8; PAGE_BYTES]);

/// Elements of `bytes` bytes in a page, as a power of two.
pub(super) const fn page_shift(bytes: usize) -> u32 {
    (PAGE_BYTES / bytes).ilog2()
}

/// What one chunk accumulates into, for one array. It comes from what is kept between launches, and goes back there.
pub(super) struct Pages(ManuallyDrop<Box<Table>>);

#[derive(Default)]
struct Table {
    /// By page of the array; null where not touched.
    pages: Vec<Cell<*mut u8>>,
    touched: RefCell<Vec<u32>>,
    spare: RefCell<Vec<NonNull<Page>>>,
    /// Whether the touched pages have been cleared.
    merged: Cell<bool>,
}

// SAFETY: it owns the pages it points to.
unsafe impl Send for Table {}

impl Pages {
    /// A copy of an array.
    pub(super) fn copy(array: &HostArray<'_>) -> Pages {
        let kept = cache().tables.pop();
        let mut table = kept.unwrap_or_default();
        let shift = page_shift(array.elem_bytes());
        table.pages.resize((array.len as usize).div_ceil(1 << shift), Cell::new(null_mut()));
        table.merged.set(false);
        Pages(ManuallyDrop::new(table))
    }

    /// The table for [`Pages::at`].
    #[inline(always)]
    pub(super) fn table(&self) -> *const Cell<*mut u8> {
        self.0.pages.as_ptr()
    }

    /// The place of element `i`.
    ///
    /// # Safety
    /// `pages` is made for more than `i` elements of the size of `T`, and `table` is its table.
    #[inline(always)]
    pub(super) unsafe fn at<T: Element>(pages: &Pages, table: *const Cell<*mut u8>, i: u32) -> *mut T {
        let shift = const { page_shift(size_of::<T>()) };
        let k = (i >> shift) as usize;
        // SAFETY: the table has a place for each page of the array.
        let mut page = unsafe { (*table.add(k)).get() };
        if page.is_null() {
            page = pages.touch(k);
        }
        // SAFETY: a page has `1 << shift` elements, the last of an array those up to its end.
        unsafe { page.cast::<T>().add(i as usize & ((1 << shift) - 1)) }
    }

    /// The number of a page is that of an element without so many low bits.
    pub(super) const fn shift<T: Element>() -> u32 {
        page_shift(size_of::<T>())
    }

    /// Whether elements `i .. i + n` are in one page, and not the last of it.
    #[inline(always)]
    pub(super) fn in_one_page<T: Element>(i: u32, n: u32) -> bool {
        let per_page = const { 1u32 << page_shift(size_of::<T>()) };
        (i & (per_page - 1)) + n < per_page
    }

    #[cold]
    #[inline(never)]
    fn touch(&self, k: usize) -> *mut u8 {
        let mut spare = self.0.spare.borrow_mut();
        if spare.is_empty() {
            cache().refill(&mut spare);
        }
        let page = spare.pop().unwrap_or_else(new_page).as_ptr().cast();
        self.0.pages[k].set(page);
        self.0.touched.borrow_mut().push(k as u32);
        page
    }

    /// The pages touched, in the order of their first touch.
    pub(super) fn touched(&self) -> impl Iterator<Item = (u32, *mut u8)> + '_ {
        let touched = self.0.touched.borrow();
        (0..touched.len()).map(move |t| (touched[t], self.0.pages[touched[t] as usize].get()))
    }

    /// To be called when all touched pages are zero again.
    pub(super) fn set_merged(&self) {
        self.0.merged.set(true);
    }

    /// Makes all touched pages spare ones, zero.
    pub(super) fn reset(&mut self) {
        let Table { pages, touched, spare, merged } = &mut **self.0;
        let spare = spare.get_mut();
        for k in touched.get_mut().drain(..) {
            let Some(page) = NonNull::new(pages[k as usize].replace(null_mut())) else { continue };
            if !merged.get() {
                // SAFETY: a page that belongs to this table.
                unsafe { page.write_bytes(0, PAGE_BYTES) };
            }
            spare.push(page.cast());
        }
        merged.set(false);
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.reset();
        // SAFETY: nobody uses it afterwards.
        cache().put(unsafe { ManuallyDrop::take(&mut self.0) });
    }
}

/// What is kept between launches.
struct Cache {
    #[expect(clippy::vec_box, reason = "what goes to and fro is a pointer")]
    tables: Vec<Box<Table>>,
    pages: Vec<NonNull<Page>>,
}

// SAFETY: it owns its pages.
unsafe impl Send for Cache {}

static CACHE: Mutex<Cache> = Mutex::new(Cache { tables: Vec::new(), pages: Vec::new() });

fn cache() -> MutexGuard<'static, Cache> {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache {
    fn refill(&mut self, spare: &mut Vec<NonNull<Page>>) {
        const BATCH: usize = 16;
        let rest = self.pages.len().saturating_sub(BATCH);
        spare.extend(self.pages.drain(rest..));
    }

    fn put(&mut self, mut table: Box<Table>) {
        self.pages.append(table.spare.get_mut());
        for page in self.pages.drain(KEPT_PAGES.min(self.pages.len())..) {
            // SAFETY: made by `new_page`, and nobody else has it.
            unsafe { dealloc(page.as_ptr().cast(), Layout::new::<Page>()) };
        }
        self.tables.push(table);
    }
}

fn new_page() -> NonNull<Page> {
    let layout = Layout::new::<Page>();
    // SAFETY: the layout has a size.
    let page = unsafe { alloc_zeroed(layout) };
    NonNull::new(page.cast()).unwrap_or_else(|| handle_alloc_error(layout))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;

    /// The element after the last must be there too: packs read beyond elements.
    #[test]
    fn runs_within_a_page() {
        let reals =
            [(0, 16), (1007, 16), (1008, 16), (1020, 16), (1023, 1), (1024, 16), (2000, 16), (5, 1019), (5, 1020)];
        let found = reals.map(|(i, n)| Pages::in_one_page::<f32>(i, n));
        assert_eq!(found, [true, true, false, false, false, true, true, false, false]);
        let vectors = [(0, 16), (239, 16), (240, 16), (250, 8), (256, 8), (511, 2)];
        let found = vectors.map(|(i, n)| Pages::in_one_page::<Vec3<f32>>(i, n));
        assert_eq!(found, [true, true, false, false, true, false], "256 to a page");
    }
}
