//! Additions of packs against additions one by one. Values are small integers, so that their order does not matter.

use std::array::from_fn;
use std::cell::OnceCell;

use super::super::accumulate::Pages;
use super::super::args::HostArray;
use super::super::views::{Acc, Target};
use super::{LaneAcc, Lanes};
use crate::Element;
use crate::backend::native::{Kind, Narrow, Wide};
use crate::kernel::Access;
use crate::math::{Mat3, Vec2, Vec3, Vec4};

/// Elements of the array, more than a page of any type.
const LEN: usize = 3000;

/// A number below `n`.
fn random(state: &mut u64, n: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % n
}

/// How the additions of a pack lie.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// Lanes in a row that add to the same elements, but for addition `odd` of them.
    alike: usize,
    odd: usize,
    /// Additions in a row to elements in a row.
    row: usize,
    /// Of so many lanes one misses an addition; 0 for none.
    gap: usize,
    /// Additions beside the fixed ones.
    more: usize,
}

fn check<S: Lanes<F = f32>, T: Element<Scalar = f32>, const C: usize>(fixed: usize, shape: Shape, paged: bool) {
    let mut state = 7 + fixed as u64;
    let (mut sums, mut data) = (vec![0.0; LEN * C], vec![T::ZERO; LEN]);
    let fault = OnceCell::new();
    let array = HostArray::write(&mut data, Access::Add, false);
    let target = Target {
        base: array.ptr.as_ptr(),
        lo: 0,
        count: LEN as u32,
        len: LEN as u32,
        exclusive: false,
        absent: false,
        keep: false,
        over: false,
        slot: 0,
    };
    let pages = paged.then(|| Pages::copy(&array));
    let mut acc = LaneAcc::<S, T>::new(Acc::new(target, pages.as_ref(), &fault), target, fixed);
    for _ in 0..3 {
        let starts: [[usize; 48]; 16] = from_fn(|_| from_fn(|_| random(&mut state, LEN - shape.row)));
        let mut bad = S::from_bits(0);
        for e in 0..fixed + shape.more {
            let i: [u32; 16] = from_fn(|k| {
                let group = if shape.odd == e { k } else { k / shape.alike * shape.alike };
                (starts[group][e / shape.row] + e % shape.row) as u32
            });
            let here = from_fn::<bool, 16, _>(|_| shape.gap == 0 || random(&mut state, shape.gap) != 0);
            let m = S::from_bits((0..S::N).fold(0, |m, k| m | u32::from(here[k]) << k));
            let values: [[f32; 16]; C] = from_fn(|_| from_fn(|_| random(&mut state, 9) as f32 - 4.0));
            for k in (0..S::N).filter(|&k| here[k]) {
                (0..C).for_each(|c| sums[i[k] as usize * C + c] += values[c][k]);
            }
            let (index, value) = (S::get_i(&i), values.map(|c| S::get(&c)));
            match e < fixed {
                true => acc.add_fixed(e, m, index, value, &mut bad),
                false => acc.add(m, index, value, &mut bad),
            }
        }
        acc.flush();
        assert_eq!(S::bits(bad), 0);
    }
    drop(acc);
    if let Some(pages) = &pages {
        for (page, memory) in pages.touched() {
            let first = (page as usize) << Pages::shift::<T>();
            for i in first..LEN.min(first + (1 << Pages::shift::<T>())) {
                // SAFETY: an element of the page and one of the array, whose borrow by `HostArray` is over.
                unsafe { array.ptr.cast::<T>().add(i).write(memory.cast::<T>().add(i - first).read()) };
            }
        }
    }
    // SAFETY: an element is `C` reals.
    let found = unsafe { std::slice::from_raw_parts(array.ptr.cast::<f32>().as_ptr(), LEN * C) };
    assert!(found == sums, "{fixed} additions of {C}, {shape:?}, paged: {paged}");
}

fn all<S: Lanes<F = f32>>() {
    for alike in [2, 1, 3, 16] {
        for (row, odd) in [(3, 7), (3, 48), (3, 0), (1, 48), (2, 48), (9, 48)] {
            for (fixed, gap, more) in [(3, 60, 25), (9, 0, 0), (27, 0, 3), (40, 0, 2), (8, 5, 0), (0, 0, 40)] {
                let shape = Shape { alike, odd, row, gap, more };
                for paged in [false, true] {
                    check::<S, Vec4<f32>, 4>(fixed, shape, paged);
                    check::<S, f32, 1>(fixed, shape, paged);
                    if cfg!(miri) {
                        continue;
                    }
                    check::<S, Vec2<f32>, 2>(fixed, shape, paged);
                    check::<S, Vec3<f32>, 3>(fixed, shape, paged);
                    check::<S, Mat3<f32>, 9>(fixed, shape, paged);
                }
                // It takes some thousand times as long.
                if cfg!(miri) && fixed == 9 {
                    return;
                }
            }
        }
    }
}

#[test]
fn packs_add_what_their_lanes_add() {
    all::<super::Portable<f32>>();
    if Narrow::is_here() {
        all::<super::Avx2>();
    }
    if Wide::is_here() {
        all::<super::Avx512>();
    }
}
