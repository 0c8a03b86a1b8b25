//! Statements that read and write memory, and loops that end early: values against Rust written by hand, gradients by
//! the generated checks and against formulas.

#![expect(clippy::unwrap_used, reason = "tests")]

/// The scalar body, and every kind of packs that is here.
macro_rules! natives {
    ($kernel:ident) => {{
        use diffkern::private::{Arrays, Narrow, Native, OneByOne, Wide, on_packs};
        let mut all: Vec<Native> = vec![$kernel::on_lanes::<f32, OneByOne>(), $kernel::on_lanes::<f32, Arrays>()];
        all.extend(on_packs::<Narrow>($kernel::on_lanes::<f32, Narrow>).map(|(_, native)| native));
        all.extend(on_packs::<Wide>($kernel::on_lanes::<f32, Wide>).map(|(_, native)| native));
        all
    }};
}

mod again;
mod atomics;
mod devices;
mod locals;
mod loops;
mod memory;
mod ops;
mod places;
mod random;
mod updates;

use diffkern::prelude::*;

/// Numbers in (lo, hi) that repeat for a seed.
fn numbers(seed: u64, n: usize, lo: f64, hi: f64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            lo + (hi - lo) * (state >> 11) as f64 / (1u64 << 53) as f64
        })
        .collect()
}

fn reals(dev: &Device, seed: u64, n: usize, lo: f64, hi: f64) -> Array<f64> {
    dev.array(&numbers(seed, n, lo, hi)).unwrap()
}

#[track_caller]
fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-12 * b.abs().max(1e-3), "element {k}: {a} where {b} is right");
    }
}
