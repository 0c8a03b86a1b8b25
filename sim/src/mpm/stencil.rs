//! Where the nodes of a particle are: in up to `2^d` blocks of the grid.
//!
//! On each axis the first node is in the near block, the third in the far one (the same or the next), and the second in one
//! of them.

use diffkern::prelude::*;

/// First nodes of the blocks `(near, near)`, `(near, far)`, `(far, near)`, `(far, far)` of the stencil whose first node is
/// `(ix, iy)`, for blocks of 8 x 8 with `blocks_y` of them along y. A stencil that is not inside has none.
#[diff_fn]
pub fn block_starts_2d(table: &Array<u32>, inside: bool, ix: u32, iy: u32, blocks_y: u32) -> (u32, u32, u32, u32) {
    let none = table.len() as u32 - 1;
    let near = (ix >> 3) * blocks_y;
    let far = ((ix + 2) >> 3) * blocks_y;
    let low = iy >> 3;
    let high = (iy + 2) >> 3;
    (
        table[select(inside, near + low, none)],
        table[select(inside, near + high, none)],
        table[select(inside, far + low, none)],
        table[select(inside, far + high, none)],
    )
}

/// As [`block_starts_2d()`], of the eight blocks of 4 x 4 x 4, the last bit of their number that of z.
#[diff_fn]
pub fn block_starts_3d(
    table: &Array<u32>,
    inside: bool,
    ix: u32,
    iy: u32,
    iz: u32,
    blocks_y: u32,
    blocks_z: u32,
) -> (u32, u32, u32, u32, u32, u32, u32, u32) {
    let none = table.len() as u32 - 1;
    let near_x = (ix >> 2) * blocks_y;
    let far_x = ((ix + 2) >> 2) * blocks_y;
    let near_y = iy >> 2;
    let far_y = (iy + 2) >> 2;
    let low = iz >> 2;
    let high = (iz + 2) >> 2;
    let r00 = (near_x + near_y) * blocks_z;
    let r01 = (near_x + far_y) * blocks_z;
    let r10 = (far_x + near_y) * blocks_z;
    let r11 = (far_x + far_y) * blocks_z;
    (
        table[select(inside, r00 + low, none)],
        table[select(inside, r00 + high, none)],
        table[select(inside, r01 + low, none)],
        table[select(inside, r01 + high, none)],
        table[select(inside, r10 + low, none)],
        table[select(inside, r10 + high, none)],
        table[select(inside, r11 + low, none)],
        table[select(inside, r11 + high, none)],
    )
}
