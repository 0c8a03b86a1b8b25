//! Grid to particles: velocity, affine velocity field (APIC) and position.
//!
//! `v = sum w u`, `C = 4/dx^2 sum w u (x_i - x_p)^T`, `x += dt v`. The moments are summed about the middle node, row by
//! row: `C_d = 4/dx (sum w u (o_d - 1) - v (f_d - 1))`.
//!
//! Source: Jiang, Schroeder, Selle, Teran, Stomakhin: The affine particle-in-cell method, 2015.

use super::stencil::GridShape;
use super::weights::quadratic;
use diffkern::prelude::*;

/// Nodes are found by the `table` of [`blocks`](super::blocks).
#[diff_kernel(dims(2, 3), directions = 3)]
pub fn grid_to_particles<F: Float, const D: usize>(
    x: &Array<Vector<F, D>>,
    velocity: &Array<Vector<F, D>>,
    table: &Array<u32>,
    x_next: &mut Array<Vector<F, D>>,
    v_next: &mut Array<Vector<F, D>>,
    c_next: &mut Array<Matrix<F, D>>,
    grid: GridShape<F>,
    dt: F,
) {
    // A block has `2^BITS` nodes along each axis.
    const BITS: u32 = 5 - D;
    const LAST: u32 = (1 << (5 - D)) - 1;
    let i = ABSOLUTE_POS;
    let xp = x[i];
    let counts = [grid.nx, grid.ny, grid.nz];
    let mut inside = true;
    let mut first = [0u32; D];
    let mut offset = [F::new(0.0); D];
    let mut w = [Vec3::zero(); D];
    for a in 0..D {
        let g = (xp[a] - grid.origin[a]) * grid.inv_dx;
        let base = (g - 0.5).floor();
        let node = i32::cast_from(base);
        offset[a] = g - base;
        inside = inside && node >= 0 && node < counts[a] as i32 - 2;
        first[a] = node as u32;
        let weights: Vec3<F> = quadratic::<F>(offset[a]);
        w[a] = weights;
    }
    let mut starts = [0u32; 1 << D];
    for corner in 0..1 << D {
        let mut block = (first[0] + 2 * (corner >> (D - 1))) >> BITS;
        for a in 1..D {
            block = block * ((counts[a] + LAST) >> BITS) + ((first[a] + 2 * ((corner >> (D - 1 - a)) & 1)) >> BITS);
        }
        starts[corner] = table[select(inside, block, table.len() as u32 - 1)];
    }

    let mut v = Vector::<F, D>::zero();
    let mut moment = [Vector::<F, D>::zero(); D];
    #[unroll]
    for a in 0u32..3 {
        let mut near = [0u32; 1 << (D - 1)];
        for k in 0..1 << (D - 1) {
            near[k] = select((first[0] & LAST) + a > LAST, starts[k + (1 << (D - 1))], starts[k]);
        }
        // The sum over the nodes of a slab, and its moments along y and z.
        let mut slab = [Vector::<F, D>::zero(); 3];
        // In the plane one row of nodes, in space three.
        for b in 0..3usize.pow(D - 2) {
            let mut row = (((first[0] & LAST) + a) & LAST) << BITS;
            let mut low = near[0];
            let mut high = near[1];
            if D == 3 {
                row = (row + (((first[1] & LAST) + b) & LAST)) << BITS;
                low = select((first[1] & LAST) + b > LAST, near[2], near[0]);
                high = select((first[1] & LAST) + b > LAST, near[3], near[1]);
            }
            let l = first[D - 1] & LAST;
            let second = select(l > LAST - 1, high, low) + row + ((l + 1) & LAST);
            let third = select(l > LAST - 2, high, low) + row + ((l + 2) & LAST);
            let before = velocity[(low + row + l) as usize] * w[D - 1].x;
            let after = velocity[third as usize] * w[D - 1].z;
            let sum = before + velocity[second as usize] * w[D - 1].y + after;
            if D == 3 {
                let weighted = sum * w[1][b];
                slab[0] = slab[0] + weighted;
                slab[1] = slab[1] + weighted * (F::cast_from(b) - 1.0);
                slab[2] = slab[2] + (after - before) * w[1][b];
            } else {
                let weighted = sum * w[0][a];
                v = v + weighted;
                moment[0] = moment[0] + weighted * (F::cast_from(a) - 1.0);
                moment[1] = moment[1] + (after - before) * w[0][a];
            }
        }
        if D == 3 {
            v = v + slab[0] * w[0][a];
            moment[0] = moment[0] + slab[0] * (w[0][a] * (F::cast_from(a) - 1.0));
            moment[1] = moment[1] + slab[1] * w[0][a];
            moment[2] = moment[2] + slab[2] * w[0][a];
        }
    }
    let scale = 4.0 * grid.inv_dx;
    for a in 0..D {
        moment[a] = (moment[a] - v * (offset[a] - 1.0)) * scale;
    }
    v_next[i] = v;
    c_next[i] = Matrix::<F, D>::from_fn(|r, c| moment[c][r]);
    x_next[i] = xp + v * dt;
}
