//! Particles to grid: advance the deformation gradient, evaluate the stress, add momentum and mass to the nodes.
//!
//! MLS-MPM (Hu et al. 2018), with `A = m C - dt 4/dx^2 V0 tau`: node `i` receives `w_i (m v + dt f + A (x_i - x_p))` and
//! `w_i m`. Summed up from the middle node, row by row, so that a node costs one addition and one scaling of a vector
//! instead of a matrix product.
//!
//! A particle outside the grid, or in a block that has no nodes, asks for nodes past the end, which the launch reports.

use super::penalty::penalty_force;
use super::stencil::GridShape;
use super::weights::quadratic;
use crate::material::{Material, kirchhoff};
use diffkern::prelude::*;

/// What a step of particles to grid has beside its arrays.
#[diff_struct]
pub struct ParticleStep<F> {
    /// Where the nodes are.
    pub grid: GridShape<F>,
    /// Time step \[s\].
    pub dt: F,
    /// The half-spaces that act on particles, one bit each.
    pub touching: u32,
    /// One past the last of them.
    pub touching_end: u32,
}

/// Nodes hold `(momentum, mass)`; `packed` is `(V0 mu, V0 lambda, V0 eta, mass)`; nodes are in blocks,
/// found by the `table` of [`blocks`](super::blocks).
///
/// Half-space `k` is `planes[2 k] = (normal, offset)`, its normal in the plane `(n_x, n_y, 0)`, and
/// `planes[2 k + 1] = (stiffness * area, slip speed, friction, 0)`.
#[diff_kernel(dims(2, 3))]
pub fn particles_to_grid<F: Float, M: Material, const D: usize>(
    x: &Array<Vector<F, D>>,
    v: &Array<Vector<F, D>>,
    c: &Array<Matrix<F, D>>,
    f: &Array<Matrix<F, D>>,
    packed: &Array<Vec4<F>>,
    planes: &Array<Vec4<F>>,
    table: &Array<u32>,
    f_next: &mut Array<Matrix<F, D>>,
    grid: &mut Array<Vector<F, { D + 1 }>>,
    step: ParticleStep<F>,
) {
    // A block has `2^BITS` nodes along each axis.
    const BITS: u32 = 5 - D;
    const LAST: u32 = (1 << (5 - D)) - 1;
    let i = ABSOLUTE_POS;
    let xp = x[i];
    let vp = v[i];
    let cp = c[i];
    let q = packed[i];
    let f_old = f[i];
    let f_new = f_old + cp * f_old * step.dt;
    f_next[i] = f_new;

    let inv_dx = step.grid.inv_dx;
    let tau: Matrix<F, D> = kirchhoff::<F, M, D>(f_new, cp, q);
    let affine = cp * q.w - tau * (4.0 * inv_dx * inv_dx * step.dt);
    let mut p = vp * q.w;
    for k in 0..step.touching_end {
        if (step.touching >> k) & 1 == 1 {
            let at = 2 * k as usize;
            let force: Vector<F, D> = penalty_force::<F, D>(xp, vp, planes[at], planes[at + 1], step.dt / q.w);
            p = p + force * step.dt;
        }
    }

    let counts = [step.grid.nx, step.grid.ny, step.grid.nz];
    let mut inside = true;
    let mut first = [0u32; D];
    let mut offset = [F::new(0.0); D];
    let mut w = [Vec3::zero(); D];
    for a in 0..D {
        let g = (xp[a] - step.grid.origin[a]) * inv_dx;
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

    let dx = 1.0 / inv_dx;
    let mut axis = [Vector::<F, { D + 1 }>::zero(); D];
    let mut value = Vector::<F, { D + 1 }>::from_fn(|r| if r < D { p[r] } else { q.w });
    for a in 0..D {
        axis[a] = Vector::<F, { D + 1 }>::from_fn(|r| if r < D { affine[(r, a)] * dx } else { F::new(0.0) });
        value = value - axis[a] * (offset[a] - 1.0);
    }
    #[unroll]
    for a in 0u32..3 {
        let mut near = [0u32; 1 << (D - 1)];
        for k in 0..1 << (D - 1) {
            near[k] = select((first[0] & LAST) + a > LAST, starts[k + (1 << (D - 1))], starts[k]);
        }
        let value_a = value + axis[0] * (F::cast_from(a) - 1.0);
        // In the plane one row of nodes, in space three.
        for b in 0..3usize.pow(D - 2) {
            let mut middle = value_a;
            let mut weight = w[0][a];
            let mut row = (((first[0] & LAST) + a) & LAST) << BITS;
            let mut low = near[0];
            let mut high = near[1];
            if D == 3 {
                weight = weight * w[1][b];
                middle = middle + axis[1] * (F::cast_from(b) - 1.0);
                row = (row + (((first[1] & LAST) + b) & LAST)) << BITS;
                low = select((first[1] & LAST) + b > LAST, near[2], near[0]);
                high = select((first[1] & LAST) + b > LAST, near[3], near[1]);
            }
            middle = middle * weight;
            let slope = axis[D - 1] * weight;
            let l = first[D - 1] & LAST;
            let second = select(l > LAST - 1, high, low) + row + ((l + 1) & LAST);
            let third = select(l > LAST - 2, high, low) + row + ((l + 2) & LAST);
            grid[(low + row + l) as usize] += (middle - slope) * w[D - 1].x;
            grid[second as usize] += middle * w[D - 1].y;
            grid[third as usize] += (middle + slope) * w[D - 1].z;
        }
    }
}
