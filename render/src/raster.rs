//! Kernels of the coloured picture.

use diffkern::prelude::*;

use crate::coverage::{doubled_area, triangle_reach, triangle_weights};

/// Premultiplied colour and coverage of every pixel; domain (width, height).
///
/// Candidates come front to back; each takes what the ones before it left uncovered. Within a layer, where shares add
/// up to at most 1, the order does not matter and the colour is the exact box-filtered one. `most` is the largest number
/// of candidates of a tile: a GPU has to know it, to set memory aside for the gradient.
#[diff_kernel]
pub fn rasterize<F: Float>(
    projected: &Array<Vec3<F>>,
    corners: &Array<u32>,
    color: &Array<Vec3<F>>,
    start: &Array<u32>,
    list: &Array<u32>,
    pixels: &mut Array<Vec4<F>>,
    filter: F,
    tiles_x: u32,
    most: u32,
    #[comptime] two_sided: bool,
) {
    let column = ABSOLUTE_POS_X;
    let row = ABSOLUTE_POS_Y;
    let tile = (row / 8) * (tiles_x as usize) + column / 8;
    let x0 = F::cast_from(column) + 0.5 - 0.5 * filter;
    let y0 = F::cast_from(row) + 0.5 - 0.5 * filter;
    let first = start[tile];
    let count = (start[tile + 1] - first).min(most);
    let mut sum = Vec3::new(F::new(0.0), F::new(0.0), F::new(0.0));
    let mut covered = F::new(0.0);
    for k in 0..count {
        let t = 6 * (list[(first + k) as usize] as usize);
        let a = projected[corners[t] as usize];
        let b = projected[corners[t + 1] as usize];
        let c = projected[corners[t + 2] as usize];
        let doubled: F = doubled_area::<F>(a, b, c);
        let reach: F = triangle_reach::<F>(a, b, c, x0, y0, filter);
        let visible = doubled < -1e-9 || (two_sided && doubled > 1e-9);
        if reach > 0.0 && visible && covered < 1.0 {
            let weights: Vec3<F> = triangle_weights::<F>(a, b, c, x0, y0, filter);
            let share = weights.x + weights.y + weights.z;
            let left_over = 1.0 - covered;
            let mut kept = F::new(1.0);
            if share > left_over {
                kept = left_over / share;
            }
            let ca = color[corners[t + 3] as usize];
            let cb = color[corners[t + 4] as usize];
            let cc = color[corners[t + 5] as usize];
            sum += (ca * weights.x + cb * weights.y + cc * weights.z) * kept;
            covered += share * kept;
        }
    }
    pixels[ABSOLUTE_POS] = Vec4::new(sum.x, sum.y, sum.z, covered);
}

/// Puts premultiplied pixels over the background and splits off the coverage.
#[diff_kernel]
pub fn composite<F: Float>(
    pixels: &Array<Vec4<F>>,
    background: &Array<Vec3<F>>,
    color: &mut Array<Vec3<F>>,
    coverage: &mut Array<F>,
) {
    let i = ABSOLUTE_POS;
    let p = pixels[i];
    color[i] = Vec3::new(p.x, p.y, p.z) + background[0] * (1.0 - p.w);
    coverage[i] = p.w;
}
