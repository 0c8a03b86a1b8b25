//! Particles to grid: an affine field around each particle, weighted by mass.

use crate::mpm::stencil::GridShape;
use crate::mpm::weights::quadratic;
use diffkern::prelude::*;

/// Node `i` receives `w_i m (value + slope (x_i - x_p))` and `w_i m`; `packed` is `(_, _, _, m)`, nodes are found by the `table` of
/// [`blocks`](crate::mpm::blocks). Momentum of velocities and their gradients, or force of accelerations and theirs.
#[diff_kernel(dims(2, 3))]
pub fn scatter_affine<F: Float, const D: usize>(
    x: &Array<Vector<F, D>>,
    value: &Array<Vector<F, D>>,
    slope: &Array<Matrix<F, D>>,
    packed: &Array<Vec4<F>>,
    table: &Array<u32>,
    nodes: &mut Array<Vector<F, { D + 1 }>>,
    grid: GridShape<F>,
) {
    // A block has `2^BITS` nodes along each axis.
    const BITS: u32 = 5 - D;
    const LAST: u32 = (1 << (5 - D)) - 1;
    let i = ABSOLUTE_POS;
    let xp = x[i];
    let mass = packed[i].w;
    let p = value[i] * mass;
    let affine = slope[i] * mass;
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

    let dx = 1.0 / grid.inv_dx;
    let mut axis = [Vector::<F, { D + 1 }>::zero(); D];
    let mut middle = Vector::<F, { D + 1 }>::from_fn(|r| if r < D { p[r] } else { mass });
    for a in 0..D {
        axis[a] = Vector::<F, { D + 1 }>::from_fn(|r| if r < D { affine[(r, a)] * dx } else { F::new(0.0) });
        middle = middle - axis[a] * (offset[a] - 1.0);
    }
    #[unroll]
    for a in 0u32..3 {
        let mut near = [0u32; 1 << (D - 1)];
        for k in 0..1 << (D - 1) {
            near[k] = select((first[0] & LAST) + a > LAST, starts[k + (1 << (D - 1))], starts[k]);
        }
        let slab = middle + axis[0] * (F::cast_from(a) - 1.0);
        // In the plane one row of nodes, in space three.
        for b in 0..3usize.pow(D - 2) {
            let mut centre = slab;
            let mut weight = w[0][a];
            let mut row = (((first[0] & LAST) + a) & LAST) << BITS;
            let mut low = near[0];
            let mut high = near[1];
            if D == 3 {
                weight = weight * w[1][b];
                centre = centre + axis[1] * (F::cast_from(b) - 1.0);
                row = (row + (((first[1] & LAST) + b) & LAST)) << BITS;
                low = select((first[1] & LAST) + b > LAST, near[2], near[0]);
                high = select((first[1] & LAST) + b > LAST, near[3], near[1]);
            }
            centre = centre * weight;
            let along = axis[D - 1] * weight;
            let l = first[D - 1] & LAST;
            let second = select(l > LAST - 1, high, low) + row + ((l + 1) & LAST);
            let third = select(l > LAST - 2, high, low) + row + ((l + 2) & LAST);
            nodes[(low + row + l) as usize] += (centre - along) * w[D - 1].x;
            nodes[second as usize] += centre * w[D - 1].y;
            nodes[third as usize] += (centre + along) * w[D - 1].z;
        }
    }
}
