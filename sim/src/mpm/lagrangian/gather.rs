//! Grid to particles at the end of a phase: from nodes that have moved.
//!
//! `v = sum w u`. Of the velocity gradient, `C = sym(L R^T) + skew(B)`: the moment `L = 4/dx^2 sum w u (x_i - x_p)^T` about where nodes were
//! and the rotation `R` of the particle since then give the symmetric part, the moment `B = 4/dx^2 sum w u (y_i - y_p)^T` about where they are,
//! `y = x + d`, the rest. So particles have the angular momentum of the nodes to rounding, `sum m_i y_i x u_i = sum m (y_p x v + dx^2/4 axial(C))`.
//! All of `B` would be as accurate, but gives a particle whose nodes have spread more energy than they have: runs with it blew up.

use crate::material::polar;
use crate::mpm::stencil::GridShape;
use crate::mpm::weights::quadratic;
use diffkern::prelude::*;

/// `shift` is `sum w d` \[m\], `h` the gradient of the displacement; nodes are found by the `table` of [`blocks`](crate::mpm::blocks).
#[diff_kernel(dims(2, 3))]
pub fn gather_moved<F: Float, const D: usize>(
    x: &Array<Vector<F, D>>,
    velocity: &Array<Vector<F, D>>,
    displacement: &Array<Vector<F, D>>,
    shift: &Array<Vector<F, D>>,
    h: &Array<Matrix<F, D>>,
    table: &Array<u32>,
    v_next: &mut Array<Vector<F, D>>,
    c_next: &mut Array<Matrix<F, D>>,
    grid: GridShape<F>,
) {
    // A block has `2^BITS` nodes along each axis.
    const BITS: u32 = 5 - D;
    const LAST: u32 = (1 << (5 - D)) - 1;
    let i = ABSOLUTE_POS;
    let xp = x[i];
    let moved = shift[i];
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
    let mut v = Vector::<F, D>::zero();
    let mut moment = [Vector::<F, D>::zero(); D];
    let mut spread = [Vector::<F, D>::zero(); D];
    #[unroll]
    for a in 0u32..3 {
        let mut near = [0u32; 1 << (D - 1)];
        for k in 0..1 << (D - 1) {
            near[k] = select((first[0] & LAST) + a > LAST, starts[k + (1 << (D - 1))], starts[k]);
        }
        // In the plane one row of nodes, in space three.
        for b in 0..3usize.pow(D - 2) {
            let mut weight = w[0][a];
            let mut row = (((first[0] & LAST) + a) & LAST) << BITS;
            let mut low = near[0];
            let mut high = near[1];
            if D == 3 {
                weight = weight * w[1][b];
                row = (row + (((first[1] & LAST) + b) & LAST)) << BITS;
                low = select((first[1] & LAST) + b > LAST, near[2], near[0]);
                high = select((first[1] & LAST) + b > LAST, near[3], near[1]);
            }
            let l = first[D - 1] & LAST;
            let second = select(l > LAST - 1, high, low) + row + ((l + 1) & LAST);
            let third = select(l > LAST - 2, high, low) + row + ((l + 2) & LAST);
            let places = [low + row + l, second, third];
            #[unroll]
            for c in 0..3usize {
                let at = places[c] as usize;
                let weighted = velocity[at] * (weight * w[D - 1][c]);
                let away = displacement[at] - moved;
                v = v + weighted;
                for e in 0..D {
                    spread[e] = spread[e] + weighted * away[e];
                }
                moment[0] = moment[0] + weighted * ((F::cast_from(a) - offset[0]) * dx);
                if D == 3 {
                    moment[1] = moment[1] + weighted * ((F::cast_from(b) - offset[1]) * dx);
                }
                moment[D - 1] = moment[D - 1] + weighted * ((F::cast_from(c) - offset[D - 1]) * dx);
            }
        }
    }
    let scale = 4.0 * grid.inv_dx * grid.inv_dx;
    let l = Matrix::<F, D>::from_fn(|r, c| moment[c][r] * scale);
    let b = l + Matrix::<F, D>::from_fn(|r, c| spread[c][r] * scale);
    let rotation: Matrix<F, D> = polar::<F, D>(Matrix::<F, D>::identity() + h[i]);
    let rate = l * rotation.transpose();
    v_next[i] = v;
    c_next[i] = (rate + rate.transpose() + b - b.transpose()) * 0.5;
}
