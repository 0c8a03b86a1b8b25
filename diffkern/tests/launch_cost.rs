//! What a small launch, copy or fill allocates: nothing, once its memory is there, beyond what a tape records of it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use diffkern::prelude::*;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator, counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: by the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: by the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of this thread while `work` is done 1,000 times, after it has been done some times.
fn allocations(mut work: impl FnMut() -> Result<()>) -> Result<usize> {
    (0..10).try_for_each(|_| work())?;
    let before = COUNT.get();
    (0..1000).try_for_each(|_| work())?;
    Ok(COUNT.get() - before)
}

#[diff_kernel]
fn add_product<F: Float>(a: &Array<F>, x: &Array<F>, sum: &mut Array<F>, scale: F) {
    let i = ABSOLUTE_POS;
    sum[i] += a[i] * x[i] * scale;
}

#[diff_kernel]
fn gather_scaled<F: Float>(x: &Array<Vec3<F>>, of: &Array<u32>, y: &mut Array<Vec3<F>>) {
    let i = ABSOLUTE_POS;
    y[i] = x[of[i] as usize] * 2.0;
}

/// Allocations of launches that are shared among threads. The first of them starts the threads, and where the machine is
/// slow that may be a small one: this comes before counting those.
fn shared_allocations(device: &Device) -> Result<usize> {
    let n = 1 << 18;
    let (a, x, sum) = (device.full(n, 1.5f32)?, device.full(n, 0.5f32)?, device.zeros::<f32>(n)?);
    allocations(|| add_product(n, &a, &x, &sum, 1.0))
}

#[test]
fn launches_copies_and_fills_allocate_nothing() -> Result<()> {
    let device = Device::cpu();
    let (a, x, sum) = (device.full(64, 1.5f32)?, device.full(64, 0.5f32)?, device.zeros::<f32>(64)?);
    let (v, w) = (device.full(64, Vec3::new(1.0f64, 2.0, 3.0))?, device.zeros::<Vec3<f64>>(64)?);
    let of = device.array(&(0..64).rev().collect::<Vec<u32>>())?;
    let shared = shared_allocations(&device)?;
    // Looking for elements that are written twice takes memory, in debug builds.
    let owned = allocations(|| add_product(64, &a, &x, &sum, 1.0))?;
    let gathered = allocations(|| gather_scaled(64, &v, &of, &w))?;
    let copied = allocations(|| x.copy_from(&a))?;
    let filled = allocations(|| sum.fill(0.25).and_then(|()| sum.fill(0.0)))?;
    assert_eq!((shared, owned, gathered, copied, filled), (0, 0, 0, 0, 0));
    Ok(())
}

#[test]
fn a_recorded_launch_allocates_its_record_alone() -> Result<()> {
    let device = Device::cpu();
    shared_allocations(&device)?;
    let a = device.full(64, 1.5f32)?.requires_grad();
    let (x, sum) = (device.full(64, 0.5f32)?, device.zeros::<f32>(64)?);
    let mut count = 0;
    let tape = Tape::record(|| {
        count = allocations(|| add_product(64, &a, &x, &sum, 1.0))?;
        Ok(())
    })?;
    // The record and one for each of the two arrays that it keeps; the list of records doubles now and then.
    assert!((1000..3020).contains(&count), "{count}");
    assert_eq!(tape.report().launches, 1010);
    Ok(())
}
