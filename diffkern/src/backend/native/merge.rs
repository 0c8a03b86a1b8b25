//! Adding up the private copies of an array, page by page, each page in the order of the chunks.

use std::ptr::NonNull;

use super::accumulate::{PAGE_BYTES, Pages, page_shift};
use super::args::HostArray;
use super::pool;
use crate::element::Scalar;
use crate::kernel::ScalarTy;

/// No further copy of a page.
const END: u32 = u32::MAX;

/// The copies of each touched page as a linked list in chunk order.
struct Copies {
    /// Page and its first copy.
    pages: Vec<(u32, u32)>,
    /// Memory of a copy, and the next copy of the same page.
    copies: Vec<(NonNull<u8>, u32)>,
}

// SAFETY: the memory belongs to the pages of chunks that are done, and each list is followed by one thread.
unsafe impl Sync for Copies {}

impl Copies {
    fn new(chunks: &[&Pages]) -> Copies {
        let mut lists = Copies { pages: Vec::new(), copies: Vec::new() };
        let mut place: Vec<u32> = Vec::new();
        // Prepending, so the last chunk first.
        for (page, memory) in chunks.iter().rev().flat_map(|pages| pages.touched()) {
            let Some(memory) = NonNull::new(memory) else { continue };
            let k = page as usize;
            if place.len() <= k {
                place.resize(k + 1, END);
            }
            if place[k] == END {
                place[k] = lists.pages.len() as u32;
                lists.pages.push((page, END));
            }
            let first = &mut lists.pages[place[k] as usize].1;
            let next = std::mem::replace(first, lists.copies.len() as u32);
            lists.copies.push((memory, next));
        }
        lists
    }

    fn of_page(&self, first: u32) -> impl Iterator<Item = NonNull<u8>> + '_ {
        let mut next = first;
        std::iter::from_fn(move || {
            let (memory, after) = *self.copies.get(next as usize)?;
            next = after;
            Some(memory)
        })
    }
}

/// Adds what one chunk accumulated to `array`, while it is in the caches, and makes its pages spare ones.
pub(super) fn merge_one(array: HostArray<'_>, copy: &mut Pages) {
    match array.scalar {
        ScalarTy::F32 => merge_one_scalars::<f32>(array, copy),
        ScalarTy::F64 => merge_one_scalars::<f64>(array, copy),
        ScalarTy::U32 => merge_one_scalars::<u32>(array, copy),
        ScalarTy::I32 => merge_one_scalars::<i32>(array, copy),
    }
    copy.set_merged();
    copy.reset();
}

fn merge_one_scalars<S: Scalar>(array: HostArray<'_>, copy: &Pages) {
    let components = array.elem.components();
    let per_page = components << page_shift(components * size_of::<S>());
    for (page, memory) in copy.touched() {
        let start = page as usize * per_page;
        let scalars = per_page.min(array.len as usize * components - start);
        // SAFETY: a page of the array, which a launch writes exclusively; one thread at a time merges.
        let sum = unsafe { std::slice::from_raw_parts_mut(array.ptr.cast::<S>().add(start).as_ptr(), scalars) };
        // SAFETY: a page of the copy, which holds at least that many scalars.
        let copy = unsafe { std::slice::from_raw_parts_mut(memory.cast::<S>(), scalars) };
        add_and_clear(sum, copy);
    }
}

/// Adds what the chunks accumulated to `array` and clears their pages. `chunks` are in order.
pub(super) fn merge(array: HostArray<'_>, chunks: &[&Pages]) {
    match array.scalar {
        ScalarTy::F32 => merge_scalars::<f32>(array, chunks),
        ScalarTy::F64 => merge_scalars::<f64>(array, chunks),
        ScalarTy::U32 => merge_scalars::<u32>(array, chunks),
        ScalarTy::I32 => merge_scalars::<i32>(array, chunks),
    }
    chunks.iter().for_each(|pages| pages.set_merged());
}

fn merge_scalars<S: Scalar>(array: HostArray<'_>, chunks: &[&Pages]) {
    let copies = Copies::new(chunks);
    let components = array.elem.components();
    let per_page = components << page_shift(components * size_of::<S>());
    let (array, total) = (&array, array.len as usize * components);
    let merged = pool::share(copies.pages.len() as u32, pool::Grain::At(16), None, |pages| {
        for &(page, first) in &copies.pages[pages.start as usize..pages.end as usize] {
            let start = page as usize * per_page;
            let scalars = per_page.min(total - start);
            // SAFETY: a page of the array, which a launch writes exclusively; each page is merged once.
            let sum = unsafe { std::slice::from_raw_parts_mut(array.ptr.cast::<S>().add(start).as_ptr(), scalars) };
            for memory in copies.of_page(first) {
                // SAFETY: a page of a copy, which holds at least that many scalars.
                let copy = unsafe { std::slice::from_raw_parts_mut(memory.cast::<S>().as_ptr(), scalars) };
                add_and_clear(sum, copy);
            }
        }
    });
    debug_assert!(merged.is_ok() && per_page * size_of::<S>() <= PAGE_BYTES);
}

fn add_and_clear<S: Scalar>(sum: &mut [S], copy: &mut [S]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has the instructions.
        return unsafe { add_and_clear_wide(sum, copy) };
    }
    add_and_clear_each(sum, copy);
}

/// # Safety
/// The machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_and_clear_wide<S: Scalar>(sum: &mut [S], copy: &mut [S]) {
    add_and_clear_each(sum, copy);
}

#[inline(always)]
fn add_and_clear_each<S: Scalar>(sum: &mut [S], copy: &mut [S]) {
    for (sum, x) in sum.iter_mut().zip(copy) {
        *sum = sum.plus(*x);
        *x = S::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Access;
    use crate::math::Vec3;

    /// What chunks have added to some of the elements, in more pages than threads take at a time; the last is not full.
    #[test]
    fn copies_are_added_up_page_by_page() {
        const N: usize = 256 * 20 + 100;
        let mut all = vec![Vec3::new(1.0f32, 2.0, 3.0); N + 300];
        let array = HostArray::write(&mut all[..N], Access::Add, false);
        let copies = [1, 3, 7].map(|stride| {
            let copy = Pages::copy(&array);
            for i in (0..N).step_by(stride) {
                // SAFETY: an element of the array.
                unsafe {
                    Pages::at::<Vec3<f32>>(&copy, copy.table(), i as u32).write(Vec3::new(0.5, stride as f32, 0.0))
                };
            }
            copy
        });
        merge(array, &copies.each_ref());
        for (i, found) in all.iter().enumerate() {
            let parts = [1, 3, 7].into_iter().filter(|stride| i < N && i % stride == 0);
            let expected = parts.fold(Vec3::new(1.0, 2.0, 3.0), |sum, stride| sum + Vec3::new(0.5, stride as f32, 0.0));
            assert_eq!(*found, expected, "element {i}");
        }
        // What was added is not added again.
        let mut all = [Vec3::new(0.0f32, 0.0, 0.0); N];
        merge(HostArray::write(&mut all, Access::Add, false), &copies.each_ref());
        assert_eq!(all, [Vec3::new(0.0, 0.0, 0.0); N]);
    }
}
