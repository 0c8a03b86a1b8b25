//! A chunk's private copy of an array to accumulate into, which holds only the pages that are touched.
//!
//! They are reached through a table. A page is 4 KiB: a power of two of elements, so that no element straddles two
//! pages. Pages are zero when nobody uses them; they and their tables are kept between launches.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell};
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

/// What one chunk accumulates into, for one array.
pub(super) struct Pages {
    /// By page of the array; null where not touched.
    table: Vec<Cell<*mut u8>>,
    touched: RefCell<Vec<u32>>,
    spare: RefCell<Vec<NonNull<Page>>>,
    /// Whether the touched pages have been cleared.
    merged: Cell<bool>,
}

// SAFETY: it owns the pages it points to.
unsafe impl Send for Pages {}

impl Pages {
    /// A copy of an array.
    pub(super) fn copy(array: &HostArray<'_>) -> Pages {
        let mut pages = cache().tables.pop().unwrap_or_else(|| Pages {
            table: Vec::new(),
            touched: RefCell::default(),
            spare: RefCell::default(),
            merged: Cell::new(false),
        });
        let shift = page_shift(array.elem_bytes());
        pages.table.resize((array.len as usize).div_ceil(1 << shift), Cell::new(null_mut()));
        pages.merged.set(false);
        pages
    }

    /// The table for [`Pages::at`].
    #[inline(always)]
    pub(super) fn table(&self) -> *const Cell<*mut u8> {
        self.table.as_ptr()
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

    /// Whether elements `i .. i + n` are in one page, and not the last of it.
    #[inline(always)]
    pub(super) fn in_one_page<T: Element>(i: u32, n: u32) -> bool {
        let per_page = const { 1u32 << page_shift(size_of::<T>()) };
        (i & (per_page - 1)) + n < per_page
    }

    #[cold]
    #[inline(never)]
    fn touch(&self, k: usize) -> *mut u8 {
        let mut spare = self.spare.borrow_mut();
        if spare.is_empty() {
            cache().refill(&mut spare);
        }
        let page = spare.pop().unwrap_or_else(new_page).as_ptr().cast();
        self.table[k].set(page);
        self.touched.borrow_mut().push(k as u32);
        page
    }

    /// The pages touched, in the order of their first touch.
    pub(super) fn touched(&self) -> impl Iterator<Item = (u32, *mut u8)> + '_ {
        let touched = self.touched.borrow();
        (0..touched.len()).map(move |t| (touched[t], self.table[touched[t] as usize].get()))
    }

    /// To be called when all touched pages are zero again.
    pub(super) fn set_merged(&self) {
        self.merged.set(true);
    }

    /// Makes all touched pages spare ones, zero.
    pub(super) fn reset(&mut self) {
        let spare = self.spare.get_mut();
        for k in self.touched.get_mut().drain(..) {
            let Some(page) = NonNull::new(self.table[k as usize].replace(null_mut())) else { continue };
            if !self.merged.get() {
                // SAFETY: a page that belongs to this table.
                unsafe { page.write_bytes(0, PAGE_BYTES) };
            }
            spare.push(page.cast());
        }
        self.merged.set(false);
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.reset();
        cache().put(Pages {
            table: std::mem::take(&mut self.table),
            touched: RefCell::new(self.touched.take()),
            spare: RefCell::new(self.spare.take()),
            merged: Cell::new(true),
        });
    }
}

/// What is kept between launches.
struct Cache {
    tables: Vec<Pages>,
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

    fn put(&mut self, mut pages: Pages) {
        self.pages.append(pages.spare.get_mut());
        for page in self.pages.drain(KEPT_PAGES.min(self.pages.len())..) {
            // SAFETY: made by `new_page`, and nobody else has it.
            unsafe { dealloc(page.as_ptr().cast(), Layout::new::<Page>()) };
        }
        self.tables.push(pages);
    }
}

fn new_page() -> NonNull<Page> {
    let layout = Layout::new::<Page>();
    // SAFETY: the layout has a size.
    let page = unsafe { alloc_zeroed(layout) };
    NonNull::new(page.cast()).unwrap_or_else(|| handle_alloc_error(layout))
}
