//! Finding the blocks that particles reach, and the order in which particles share them. Integers: no gradient.

use super::blocks::{NODES, NOWHERE};
use super::stencil::GridShape;
use diffkern::prelude::*;

/// By particle: the first of its nodes, numbered as in [`blocks`](super::blocks) with all blocks there, or the one before.
///
/// It is taken a hundredth of a cell early, so that other kernels, which may round otherwise, find the node or the next one.
/// A particle outside the grid counts as at its rim.
#[diff_kernel(dims(2, 3))]
pub fn base_nodes<F: Float, const D: usize>(x: &Array<Vector<F, D>>, nodes: &mut Array<u32>, grid: GridShape<F>) {
    // A block has `2^BITS` nodes along each axis.
    const BITS: u32 = 5 - D;
    const LAST: u32 = (1 << (5 - D)) - 1;
    let xp = x[ABSOLUTE_POS];
    let counts = [grid.nx, grid.ny, grid.nz];
    let mut block = 0u32;
    let mut place = 0u32;
    for a in 0..D {
        let base = i32::cast_from(((xp[a] - grid.origin[a]) * grid.inv_dx - 0.51).floor());
        let node = base.clamp(0, counts[a] as i32 - 3) as u32;
        block = block * ((counts[a] + LAST) >> BITS) + (node >> BITS);
        place = (place << BITS) + (node & LAST);
    }
    nodes[ABSOLUTE_POS] = block * 64 + place;
}

/// Counts the particles by the block of their first node.
#[diff_kernel]
pub fn mark_blocks(nodes: &Array<u32>, marks: &mut Array<u32>) {
    marks[nodes[ABSOLUTE_POS] / 64] += 1;
}

/// 1 for blocks with a particle in them or in a neighbour before them, else 0; for the entry past the last block 0.
/// Block `(a, b, c)` is at `(a * by + b) * bz + c`.
///
/// The nodes of a particle are at most three after the first, so they reach no further than the next block.
#[diff_kernel]
pub fn flag_blocks(marks: &Array<u32>, flags: &mut Array<u32>, by: u32, bz: u32) {
    let i = ABSOLUTE_POS as u32;
    let mut count = 0u32;
    if i < marks.len() as u32 {
        let c = i % bz;
        let b = i / bz % by;
        let a = i / bz / by;
        for k in 0u32..8 {
            let da = (k >> 2) & 1;
            let db = (k >> 1) & 1;
            let dc = k & 1;
            if da <= a && db <= b && dc <= c {
                count += marks[i - (da * by + db) * bz - dc];
            }
        }
    }
    flags[i] = select(count > 0, 1u32, 0u32);
}

/// The table and the list of the flagged blocks; `before` counts those before each.
#[diff_kernel(injective)]
pub fn number_blocks(flags: &Array<u32>, before: &Array<u32>, table: &mut Array<u32>, list: &mut Array<u32>) {
    let i = ABSOLUTE_POS;
    let at = before[i];
    table[i] = select(flags[i] == 1, at * 64, 4294967232u32);
    if flags[i] == 1 {
        list[at] = i as u32;
    }
}

// The kernels spell these numbers out.
const _: () = assert!(NODES == 64 && NOWHERE == 4294967232);
