//! Packs of four lanes in plain arrays, for any machine and both precisions.

use std::marker::PhantomData;

use super::memory::Lanes;
use super::values::{MOST, Values};
use crate::float::Float;

const WIDTH: usize = 4;

/// Four lanes without special instructions: what the others are checked against.
#[derive(Clone, Copy)]
pub struct Portable<F>(PhantomData<F>);

impl<F: Float> Lanes for Portable<F> {}

impl<F: Float> Values for Portable<F> {
    type F = F;
    type R = [F; WIDTH];
    type I = [u32; WIDTH];
    type M = u8;
    const N: usize = WIDTH;

    #[inline(always)]
    fn put(a: [F; WIDTH]) -> [F; MOST] {
        std::array::from_fn(|k| if k < WIDTH { a[k] } else { F::ZERO })
    }
    #[inline(always)]
    fn get(a: &[F; MOST]) -> [F; WIDTH] {
        std::array::from_fn(|k| a[k])
    }
    #[inline(always)]
    fn put_i(a: [u32; WIDTH]) -> [u32; MOST] {
        std::array::from_fn(|k| if k < WIDTH { a[k] } else { 0 })
    }
    #[inline(always)]
    fn get_i(a: &[u32; MOST]) -> [u32; WIDTH] {
        std::array::from_fn(|k| a[k])
    }
    #[inline(always)]
    fn bits(a: u8) -> u32 {
        u32::from(a)
    }
    #[inline(always)]
    fn from_bits(bits: u32) -> u8 {
        bits as u8 & ((1 << WIDTH) - 1)
    }

    // Shorter ways than through arrays of the most lanes.
    #[inline(always)]
    fn map(a: [F; WIDTH], f: impl Fn(F) -> F) -> [F; WIDTH] {
        a.map(f)
    }
    #[inline(always)]
    fn map2(a: [F; WIDTH], b: [F; WIDTH], f: impl Fn(F, F) -> F) -> [F; WIDTH] {
        std::array::from_fn(|k| f(a[k], b[k]))
    }
    #[inline(always)]
    fn map_i(a: [u32; WIDTH], b: [u32; WIDTH], f: impl Fn(u32, u32) -> u32) -> [u32; WIDTH] {
        std::array::from_fn(|k| f(a[k], b[k]))
    }
    #[inline(always)]
    fn test(a: [F; WIDTH], b: [F; WIDTH], f: impl Fn(F, F) -> bool) -> u8 {
        (0..WIDTH).fold(0, |bits, k| bits | u8::from(f(a[k], b[k])) << k)
    }
    #[inline(always)]
    fn test_i(a: [u32; WIDTH], b: [u32; WIDTH], f: impl Fn(u32, u32) -> bool) -> u8 {
        (0..WIDTH).fold(0, |bits, k| bits | u8::from(f(a[k], b[k])) << k)
    }
    #[inline(always)]
    fn select(m: u8, a: [F; WIDTH], b: [F; WIDTH]) -> [F; WIDTH] {
        std::array::from_fn(|k| if m >> k & 1 == 1 { a[k] } else { b[k] })
    }
    #[inline(always)]
    fn select_i(m: u8, a: [u32; WIDTH], b: [u32; WIDTH]) -> [u32; WIDTH] {
        std::array::from_fn(|k| if m >> k & 1 == 1 { a[k] } else { b[k] })
    }
    #[inline(always)]
    fn splat(x: F) -> [F; WIDTH] {
        [x; WIDTH]
    }
    #[inline(always)]
    fn splat_i(x: u32) -> [u32; WIDTH] {
        [x; WIDTH]
    }
}
