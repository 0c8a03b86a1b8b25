//! A stable radix sort, from the least digit of four bits to the greatest.

use diffkern_macros::diff_kernel;

use super::scan::exclusive_sum_u32;
use crate::array::Array;
use crate::error::Result;

/// Keys that one thread counts and moves, in their order.
const BLOCK: usize = 256;

/// Keys in order, and where they were before.
#[derive(Clone, Debug)]
pub struct Sorted {
    /// Not decreasing.
    pub keys: Array<u32>,
    /// `keys_i` is the key that was at `order_i`; equal keys stay in their order.
    pub order: Array<u32>,
}

#[diff_kernel]
fn count_up(x: &mut Array<u32>) {
    x[ABSOLUTE_POS] = ABSOLUTE_POS as u32;
}

/// How often each digit occurs in each block: digit by digit, block by block.
#[diff_kernel(injective)]
fn count_digits(keys: &Array<u32>, counts: &mut Array<u32>, shift: u32, block: usize) {
    let b = ABSOLUTE_POS;
    let blocks = counts.len() / 16;
    let lo = b * block;
    let mut count = [0u32; 16];
    for k in lo..(lo + block).min(keys.len()) {
        count[(keys[k] >> shift) & 15] += 1;
    }
    for d in 0..16 {
        counts[d * blocks + b] = count[d];
    }
}

/// Moves the keys of each block, and their old places, to where their digits start.
#[diff_kernel(injective)]
fn move_digits(
    keys: &Array<u32>,
    order: &Array<u32>,
    starts: &Array<u32>,
    keys_next: &mut Array<u32>,
    order_next: &mut Array<u32>,
    shift: u32,
    block: usize,
) {
    let b = ABSOLUTE_POS;
    let blocks = starts.len() / 16;
    let lo = b * block;
    let mut next = [0u32; 16];
    for d in 0..16 {
        next[d] = starts[d * blocks + b];
    }
    for k in lo..(lo + block).min(keys.len()) {
        let digit = (keys[k] >> shift) & 15;
        let to = next[digit];
        next[digit] = to + 1;
        keys_next[to] = keys[k];
        order_next[to] = order[k];
    }
}

/// Sorts keys, stably: the same result on every device.
///
/// # Errors
/// When memory is short or the device fails.
pub fn sort(keys: &Array<u32>) -> Result<Sorted> {
    let (device, n) = (keys.device(), keys.len());
    let mut now = Sorted { keys: keys.clone(), order: device.uninit(n)? };
    count_up(n, &now.order)?;
    if n == 0 {
        return Ok(now);
    }
    let blocks = n.div_ceil(BLOCK);
    let counts = device.uninit(16 * blocks)?;
    for shift in (0..32).step_by(4) {
        count_digits(blocks, &now.keys, &counts, shift, BLOCK)?;
        let starts = exclusive_sum_u32(&counts)?;
        let next = Sorted { keys: device.uninit(n)?, order: device.uninit(n)? };
        move_digits(blocks, &now.keys, &now.order, &starts, &next.keys, &next.order, shift, BLOCK)?;
        now = next;
    }
    Ok(now)
}
