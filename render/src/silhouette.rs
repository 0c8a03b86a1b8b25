//! The kernel of the silhouette.

use diffkern::prelude::*;

use crate::coverage::{doubled_area, triangle_area, triangle_reach};

/// Coverage of every pixel, `min(1, sum of the triangles' shares)`; domain (width, height).
///
/// `corners` holds six numbers per triangle: three vertices, three normal groups. `start` and `list` are the candidates
/// of each tile of 8 by 8 pixels.
#[diff_kernel]
pub fn silhouette<F: Float>(
    projected: &Array<Vec3<F>>,
    corners: &Array<u32>,
    start: &Array<u32>,
    list: &Array<u32>,
    coverage: &mut Array<F>,
    filter: F,
    tiles_x: u32,
    #[comptime] two_sided: bool,
) {
    let column = ABSOLUTE_POS_X;
    let row = ABSOLUTE_POS_Y;
    let tile = (row / 8) * (tiles_x as usize) + column / 8;
    let x0 = F::cast_from(column) + 0.5 - 0.5 * filter;
    let y0 = F::cast_from(row) + 0.5 - 0.5 * filter;
    let lo = start[tile] as usize;
    let hi = start[tile + 1] as usize;
    let mut sum = F::new(0.0);
    for k in lo..hi {
        let t = 6 * (list[k] as usize);
        let a = projected[corners[t] as usize];
        let b = projected[corners[t + 1] as usize];
        let c = projected[corners[t + 2] as usize];
        let doubled: F = doubled_area::<F>(a, b, c);
        let reach: F = triangle_reach::<F>(a, b, c, x0, y0, filter);
        if reach > 0.0 && (two_sided || doubled < 0.0) {
            let share: F = triangle_area::<F>(a, b, c, x0, y0, filter);
            sum += share;
        }
    }
    coverage[ABSOLUTE_POS] = sum.min(1.0);
}
