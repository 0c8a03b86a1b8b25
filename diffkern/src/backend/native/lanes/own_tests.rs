//! Packs at the positions of a chunk, at its ends and inside.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::float::lanes::portable::Portable;
use crate::float::lanes::values::Values;

type S = Portable<f32>;
const N: usize = <S as Values>::N;
const ALL: u32 = (1 << N) - 1;

/// Two positions more than a pack has, from the third on.
const COVERED: Covered = Covered { start: 3, n: N as u32 + 2 };

/// Elements for all positions and some beyond: element `k` is `k + 1`.
fn memory() -> Vec<f32> {
    (0..2 * N + 8).map(|k| k as f32 + 1.0).collect()
}

fn target(of: &mut [f32]) -> Target {
    let (lo, count, len) = (COVERED.start, COVERED.n, of.len() as u32);
    let base = of.as_mut_ptr().cast();
    Target { base, lo, count, len, exclusive: true, absent: false, keep: false, over: false, slot: 0 }
}

fn view(target: Target) -> LaneOwn<'static, S, f32> {
    LaneOwn::write(target, COVERED)
}

fn mask(bits: u32) -> <S as Values>::M {
    S::from_bits(bits)
}

/// The first lanes of a pack; the others are 0.
fn lanes(of: impl IntoIterator<Item = f32>, n: usize) -> Vec<f32> {
    let mut all: Vec<f32> = of.into_iter().take(n).collect();
    all.resize(N, 0.0);
    all
}

#[test]
fn a_pack_is_a_row_if_all_of_it_is_covered() {
    let mut all = memory();
    let view = view(target(&mut all));
    let rows = |p: u32| view.row(p).is_some();
    assert_eq!([2, 3, 4, 5, 6].map(rows), [false, true, true, true, false]);
}

#[test]
fn elements_are_read_where_positions_are() {
    let mut all = memory();
    let view = LaneOwn::<S, f32>::read(all.as_mut_ptr(), all.len() as u32, COVERED);
    let ints: Vec<u32> = (0..2 * N as u32 + 8).map(|k| k + 1).collect();
    let counts = LaneOwn::<S, u32>::read(ints.as_ptr(), ints.len() as u32, COVERED);
    let bad = &mut mask(0);
    for (p, bits, n) in [(3, ALL, N), (5, ALL, N), (6, ALL, N - 1), (3 + N as u32, ALL, 2), (3 + N as u32, 0b11, 2)] {
        let expected = lanes((p..).map(|k| k as f32 + 1.0), n);
        assert_eq!(S::put(view.load_at(mask(bits), p, bad)[0])[..N], expected, "{p} {bits:b}");
        let found = S::put_i(counts.load_i_at(mask(bits), p, bad));
        assert_eq!(found[..N].iter().map(|x| *x as f32).collect::<Vec<_>>(), expected, "{p} {bits:b}");
    }
    // Of a part of the lanes, one at a time.
    assert_eq!(S::put(view.load_at(mask(0b10), 3 + N as u32, bad)[0])[..2], [0.0, N as f32 + 5.0]);
}

#[test]
fn what_is_taken_goes_or_stays() {
    for (keep, p, n) in [(false, 4, N), (true, 4, N), (false, 3 + N as u32, 2), (true, 3 + N as u32, 2)] {
        let mut all = memory();
        let view = view(Target { keep, ..target(&mut all) });
        let taken = S::put(view.take_at(mask(ALL), p, 0)[0]);
        assert_eq!(taken[..N], lanes((p..).map(|k| k as f32 + 1.0), n));
        let gone = |k: usize| !keep && (p as usize..p as usize + n).contains(&k);
        let left: Vec<f32> = memory().iter().enumerate().map(|(k, x)| if gone(k) { 0.0 } else { *x }).collect();
        assert_eq!(all, left, "keep {keep}, position {p}");
    }
    let mut all = memory();
    let absent = view(Target { absent: true, ..target(&mut all) });
    assert_eq!(S::put(absent.take_at(mask(ALL), 3, 0)[0])[..N], [0.0; N]);
    assert_eq!(all, memory());
}

#[test]
fn what_is_added_goes_to_its_positions() {
    for (over, p, n) in [(false, 4, N), (true, 4, N), (false, 3 + N as u32, 2), (true, 3 + N as u32, 2)] {
        let mut all = memory();
        let view = view(Target { over, ..target(&mut all) });
        view.add_at(mask(ALL), p, [S::splat(0.5)], &mut mask(0));
        let touched = |k: usize| (p as usize..p as usize + n).contains(&k);
        let sum = |(k, x): (usize, &f32)| match (touched(k), over) {
            (true, true) => 0.5,
            (true, false) => x + 0.5,
            (false, _) => *x,
        };
        assert_eq!(all, memory().iter().enumerate().map(sum).collect::<Vec<_>>(), "over {over}, position {p}");
    }
    let mut all = memory();
    view(Target { absent: true, ..target(&mut all) }).add_at(mask(ALL), 3, [S::splat(0.5)], &mut mask(0));
    assert_eq!(all, memory());
}

#[test]
fn an_array_that_does_not_cover_the_positions_is_refused() {
    let mut all = memory();
    let whole = target(&mut all);
    let refused = |target: Target| catch_unwind(AssertUnwindSafe(|| view(target).covered.n)).is_err();
    assert!(!refused(whole) && !refused(Target { count: whole.count + 1, ..whole }));
    assert!(refused(Target { exclusive: false, ..whole }));
    assert!(refused(Target { lo: whole.lo - 1, ..whole }));
    assert!(refused(Target { count: whole.count - 1, ..whole }));
    assert!(!refused(Target { absent: true, exclusive: false, ..whole }));
    let short = |len: u32| catch_unwind(|| LaneOwn::<S, f32>::read(std::ptr::null(), len, COVERED).covered.n).is_err();
    assert_eq!([N as u32 + 4, N as u32 + 5].map(short), [true, false]);
}
