//! Prefix sums: sums of blocks, their prefix sums, and from these those of the elements.

use diffkern_macros::diff_kernel;

use crate::array::Array;
use crate::element::Element;
use crate::error::Result;
use crate::float::Float;

/// Elements that one thread adds up.
const BLOCK: usize = 128;

#[diff_kernel]
fn sum_blocks<F: Float>(x: &Array<F>, sums: &mut Array<F>, block: usize) {
    let lo = ABSOLUTE_POS * block;
    let mut sum = F::new(0.0);
    for k in lo..(lo + block).min(x.len()) {
        sum += x[k];
    }
    sums[ABSOLUTE_POS] = sum;
}

/// `y_k` = what is before its block, and the elements of the block before `k`.
#[diff_kernel(injective)]
fn scan_blocks<F: Float>(x: &Array<F>, before: &Array<F>, y: &mut Array<F>, block: usize) {
    let lo = ABSOLUTE_POS * block;
    let mut sum = before[ABSOLUTE_POS];
    for k in lo..(lo + block).min(x.len()) {
        y[k] = sum;
        sum += x[k];
    }
}

#[diff_kernel]
fn sum_word_blocks(x: &Array<u32>, sums: &mut Array<u32>, block: usize) {
    let lo = ABSOLUTE_POS * block;
    let mut sum = 0u32;
    for k in lo..(lo + block).min(x.len()) {
        sum += x[k];
    }
    sums[ABSOLUTE_POS] = sum;
}

#[diff_kernel(injective)]
fn scan_word_blocks(x: &Array<u32>, before: &Array<u32>, y: &mut Array<u32>, block: usize) {
    let lo = ABSOLUTE_POS * block;
    let mut sum = before[ABSOLUTE_POS];
    for k in lo..(lo + block).min(x.len()) {
        y[k] = sum;
        sum += x[k];
    }
}

/// `y_i = x_0 + .. + x_{i-1}`, as many as there are elements, the first of them 0. The gradient is exact; the order of
/// additions is that of blocks, so rounding differs a little from a running sum.
///
/// # Errors
/// When memory is short or the device fails.
pub fn exclusive_sum<F: Float>(x: &Array<F>) -> Result<Array<F>> {
    by_blocks(x, sum_blocks, scan_blocks)
}

/// [`exclusive_sum`] of integers, which wrap around at 2^32.
///
/// # Errors
/// When memory is short or the device fails.
pub fn exclusive_sum_u32(x: &Array<u32>) -> Result<Array<u32>> {
    by_blocks(x, sum_word_blocks, scan_word_blocks)
}

type SumBlocks<T> = fn(usize, &Array<T>, &Array<T>, usize) -> Result<()>;
type ScanBlocks<T> = fn(usize, &Array<T>, &Array<T>, &Array<T>, usize) -> Result<()>;

fn by_blocks<T: Element>(x: &Array<T>, sum: SumBlocks<T>, scan: ScanBlocks<T>) -> Result<Array<T>> {
    let (device, blocks) = (x.device(), x.len().div_ceil(BLOCK));
    let y = device.uninit(x.len())?;
    let before = if blocks <= 1 {
        device.zeros(1)?
    } else {
        let sums = device.uninit(blocks)?;
        sum(blocks, x, &sums, BLOCK)?;
        by_blocks(&sums, sum, scan)?
    };
    scan(blocks, x, &before, &y, BLOCK)?;
    Ok(y)
}
