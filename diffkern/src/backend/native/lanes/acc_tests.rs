//! Additions of packs against additions one by one. Values are small integers, so that their order does not matter.

use std::array::from_fn;
use std::cell::OnceCell;

use super::super::accumulate::Pages;
use super::super::args::HostArray;
use super::super::views::{Acc, AccOnce, Target};
use super::LaneAcc;
use super::acc_once::LaneAccOnce;
use super::lines::Lines;
use crate::Element;
use crate::backend::native::{Kind, Narrow, Wide};
use crate::float::lanes::values::Values;
use crate::float::lanes::{Avx2, Avx512, Lanes, Portable};
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

/// Has `additions` made by lanes and, in the second argument, real by real.
fn compare<S: Lanes<F = f32>, T: Element<Scalar = f32>, const C: usize>(
    fixed: usize,
    paged: bool,
    what: &dyn std::fmt::Debug,
    additions: impl FnOnce(&mut LaneAcc<'_, S, T>, &mut [f32]),
) {
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
    let lines = Lines::default();
    let mut acc = LaneAcc::<S, T>::new(Acc::new(target, pages.as_ref(), &fault), target, fixed, &lines);
    additions(&mut acc, &mut sums);
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
    assert!(found == sums, "{fixed} additions of {C}, {what:?}, paged: {paged}");
}

/// Values for a pack, and their addition to `sums` in the lanes that are `here`.
fn values<const C: usize>(state: &mut u64, i: &[u32; 16], here: &[bool], sums: &mut [f32]) -> [[f32; 16]; C] {
    let values: [[f32; 16]; C] = from_fn(|_| from_fn(|_| random(state, 9) as f32 - 4.0));
    for (k, _) in here.iter().enumerate().filter(|(_, here)| **here) {
        (0..C).for_each(|c| sums[i[k] as usize * C + c] += values[c][k]);
    }
    values
}

fn bits(here: &[bool]) -> u32 {
    here.iter().rev().fold(0, |bits, &here| bits << 1 | u32::from(here))
}

fn check<S: Lanes<F = f32>, T: Element<Scalar = f32>, const C: usize>(fixed: usize, shape: Shape, paged: bool) {
    let mut state = 7 + fixed as u64;
    compare::<S, T, C>(fixed, paged, &shape, |acc, sums| {
        for _ in 0..3 {
            let starts: [[usize; 48]; 16] = from_fn(|_| from_fn(|_| random(&mut state, LEN - shape.row)));
            let mut bad = S::from_bits(0);
            for e in 0..fixed + shape.more {
                let i: [u32; 16] = from_fn(|k| {
                    let group = if shape.odd == e { k } else { k / shape.alike * shape.alike };
                    (starts[group][e / shape.row] + e % shape.row) as u32
                });
                let here = from_fn::<bool, 16, _>(|_| shape.gap == 0 || random(&mut state, shape.gap) != 0);
                let values = values::<C>(&mut state, &i, &here[..S::N], sums);
                let (m, index, value) = (S::from_bits(bits(&here[..S::N])), S::get_i(&i), values.map(|c| S::get(&c)));
                match e < fixed {
                    true => acc.add_fixed(e, m, index, value, &mut bad),
                    false => acc.add(m, index, value, &mut bad),
                }
            }
            acc.flush();
            assert_eq!(S::bits(bad), 0);
        }
    });
}

/// Indices in rows of some lanes, which begin anywhere in a pack; lanes that are left out have any index.
fn check_runs<S: Lanes<F = f32>, T: Element<Scalar = f32>, const C: usize>(paged: bool) {
    let mut state = 13;
    compare::<S, T, C>(0, paged, &"runs", |acc, sums| {
        let mut bad = S::from_bits(0);
        for turn in 0..if cfg!(miri) { 12 } else { 600 } {
            let (row, shift) = ([16, 8, 5, 4, 3, 2][turn % 6], turn / 6 % 5);
            let starts: [usize; 32] = from_fn(|_| random(&mut state, LEN - 16));
            let here: [bool; 16] = from_fn(|_| turn % 3 == 0 || random(&mut state, 4) != 0);
            let i: [u32; 16] = from_fn(|k| match here[k] {
                true => (starts[(k + shift) / row] + (k + shift) % row) as u32,
                false => u32::MAX - k as u32,
            });
            let values = values::<C>(&mut state, &i, &here[..S::N], sums);
            let (m, index) = (S::from_bits(bits(&here[..S::N])), S::get_i(&i));
            acc.add_run(m, index, values.map(|c| S::get(&c)), &mut bad);
        }
        acc.flush();
        assert_eq!(S::bits(bad), 0);
    });
}

fn all<S: Lanes<F = f32>>() {
    for paged in [false, true] {
        check_runs::<S, f32, 1>(paged);
        check_runs::<S, Vec2<f32>, 2>(paged);
        check_runs::<S, Vec3<f32>, 3>(paged);
        check_runs::<S, Vec4<f32>, 4>(paged);
    }
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
    all::<Portable<f32>>();
    if Narrow::is_here() {
        all::<Avx2>();
    }
    if Wide::is_here() {
        all::<Avx512>();
    }
}

type S = Portable<f32>;

const EVERY: u32 = (1 << S::N) - 1;

#[test]
fn nothing_is_added_to_what_is_absent_and_faults_are_noted() {
    let (n, len) = (S::N as u32, S::N as u32 + 3);
    let base = std::ptr::null_mut();
    let target =
        Target { base, lo: 0, count: 0, len, exclusive: true, absent: true, keep: false, over: false, slot: 0 };
    for first in [0, 3, 4, n, len - 1, len, len + 1, 3 * len] {
        let beyond = (0..n).filter(|k| first + k >= len).fold(0, |bits, k| bits | 1 << k);
        let (fault, all, value) = (OnceCell::new(), S::from_bits(EVERY), [S::splat(1.0)]);
        let (mut bad, mut bad_once) = (S::from_bits(0), S::from_bits(0));
        let lines = Lines::default();
        let mut acc = LaneAcc::<S, f32>::new(Acc::new(target, None, &fault), target, 0, &lines);
        acc.add_at(all, first, value, &mut bad);
        acc.flush();
        LaneAccOnce::<S, f32>::new(AccOnce::new(target, &fault)).add_at(all, first, value, &mut bad_once);
        assert_eq!((S::bits(bad), S::bits(bad_once)), (beyond, beyond), "from {first}");
        assert!(fault.get().is_none());
        acc.add_all(all, first, value, 7);
        assert_eq!(fault.get().is_some(), first >= len, "{first}");
    }
}

#[test]
fn lanes_that_are_left_out_add_nothing() {
    let mut data = vec![1.0f32; 3 * S::N];
    let (base, len, fault) = (data.as_mut_ptr().cast(), data.len() as u32, OnceCell::new());
    let (lo, count) = (1, len - 2);
    let target = Target { base, lo, count, len, exclusive: true, absent: false, keep: false, over: false, slot: 0 };
    let mut bad = S::from_bits(0);
    let mut once = LaneAccOnce::<S, f32>::new(AccOnce::new(target, &fault));
    once.add_at(S::from_bits(0b101), 2, [S::splat(5.0)], &mut bad);
    once.add_at(S::from_bits(EVERY), 1, [S::splat(0.5)], &mut bad);
    assert_eq!(S::bits(bad), 0);
    once.add_at(S::from_bits(0b1101), len - 3, [S::splat(2.0)], &mut bad);
    assert_eq!(S::bits(bad), 0b1100, "the last element belongs to another chunk");
    let expected = |i: u32| {
        let all = if (1..1 + S::N as u32).contains(&i) { 0.5 } else { 0.0 };
        1.0 + all
            + [(2, 5.0), (4, 5.0), (len - 3, 2.0)].into_iter().filter(|(k, _)| *k == i).map(|(_, x)| x).sum::<f32>()
    };
    assert_eq!(data, (0..len).map(expected).collect::<Vec<_>>());
}

/// With something to drop in a body, each of its calls is the end of a block, and compiling it takes the square of its length.
#[test]
fn views_of_lanes_have_nothing_to_drop() {
    use super::{LaneIn, LaneOut, LaneOwn, LaneTake};
    use std::mem::needs_drop;
    let owning = [
        needs_drop::<LaneAcc<'_, S, Vec3<f32>>>(),
        needs_drop::<LaneAccOnce<'_, S, Vec3<f32>>>(),
        needs_drop::<LaneIn<'_, S, Vec3<f32>>>(),
        needs_drop::<LaneOut<'_, S, Vec3<f32>>>(),
        needs_drop::<LaneOwn<'_, S, Vec3<f32>>>(),
        needs_drop::<LaneTake<'_, S, Vec3<f32>>>(),
    ];
    assert_eq!(owning, [false; 6]);
}
