//! Random numbers inside kernels, by counters: a number is a function of a seed, a stream and a counter, so every thread
//! draws its own, on any device, in any order, and a replay draws the same.
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern::rand;
//!
//! #[diff_kernel]
//! fn jitter<F: Float>(mean: &Array<F>, spread: &Array<F>, y: &mut Array<F>, seed: u32) {
//!     let i = ABSOLUTE_POS;
//!     let z: F = rand::normal::<F>(seed, i as u32, 0u32);
//!     y[i] = mean[0] + spread[0] * z; // exact gradient to both: the number is a constant of the draw
//! }
//! ```
//!
//! The generator is Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
//! 3", SC 2011), checked against the vectors published with Random123. No number carries a derivative; to differentiate
//! with respect to a parameter of a distribution, transform a draw by the parameter, as above.

use diffkern_macros::diff_fn;

/// Four rounds: add, rotate by `a`, `b`, `c`, `d`, exclusive or.
#[diff_fn]
pub(crate) fn four(x: u32, y: u32, a: u32, b: u32, c: u32, d: u32) -> (u32, u32) {
    let mut p = x + y;
    let mut q = ((y << a) | (y >> (32 - a))) ^ p;
    p += q;
    q = ((q << b) | (q >> (32 - b))) ^ p;
    p += q;
    q = ((q << c) | (q >> (32 - c))) ^ p;
    p += q;
    q = ((q << d) | (q >> (32 - d))) ^ p;
    (p, q)
}

/// Two random words of two counters, under a key of two words: Threefry-2x32-20.
#[diff_fn]
pub fn threefry(key0: u32, key1: u32, counter0: u32, counter1: u32) -> (u32, u32) {
    let key2 = 0x1BD1_1BDAu32 ^ key0 ^ key1;
    let (p, q): (u32, u32) = four(counter0 + key0, counter1 + key1, 13u32, 15u32, 26u32, 6u32);
    let (p, q): (u32, u32) = four(p + key1, q + key2 + 1, 17u32, 29u32, 16u32, 24u32);
    let (p, q): (u32, u32) = four(p + key2, q + key0 + 2, 13u32, 15u32, 26u32, 6u32);
    let (p, q): (u32, u32) = four(p + key0, q + key1 + 3, 17u32, 29u32, 16u32, 24u32);
    let (p, q): (u32, u32) = four(p + key1, q + key2 + 4, 13u32, 15u32, 26u32, 6u32);
    (p + key2, q + key0 + 5)
}

/// A real in [0, 1) of two random words: multiples of 2^-24 in `f32`, of 2^-51 in `f64`.
#[diff_fn]
pub(crate) fn unit<F: Float>(a: u32, b: u32) -> F {
    let high = F::cast_from(a >> 8) * F::new(5.960464477539063e-8);
    let fine = high + F::cast_from(b >> 5) * F::new(4.440892098500626e-16);
    // In f32 the sum may round up to 1.
    select(fine < 1.0, fine, high)
}

/// Uniform in [0, 1).
#[diff_fn]
pub fn uniform<F: Float>(seed: u32, stream: u32, counter: u32) -> F {
    let (a, b): (u32, u32) = threefry(seed, stream, counter, 0u32);
    let u: F = unit::<F>(a, b);
    u
}

/// Normal with mean 0 and variance 1, by the transform of Box and Muller (1958): in `f32` at most 5.8 from 0, as its
/// uniform numbers are multiples of 2^-24. Independent of [`uniform()`] of the same arguments.
#[diff_fn]
pub fn normal<F: Float>(seed: u32, stream: u32, counter: u32) -> F {
    let (a, b): (u32, u32) = threefry(seed, stream, counter, 1u32);
    let (c, d): (u32, u32) = threefry(seed, stream, counter, 2u32);
    let u: F = unit::<F>(a, b);
    let v: F = unit::<F>(c, d);
    // 1 - u is in (0, 1], so its logarithm is finite.
    (-2.0 * (1.0 - u).ln()).sqrt() * (v * F::new(6.283185307179586)).cos()
}
