//! Particles to grid: advance the deformation gradient, evaluate the stress, add momentum and mass to the nodes.
//!
//! MLS-MPM (Hu et al. 2018), with `A = m C - dt 4/dx^2 V0 tau`: node `i` receives `w_i (m v + dt f + A (x_i - x_p))` and
//! `w_i m`. Summed up from the middle node, row by row, so that a node costs one addition and one scaling of a vector
//! instead of a matrix product.
//!
//! A particle outside the grid, or in a block that has no nodes, asks for nodes past the end, which the launch reports.

use super::penalty::{penalty_force_2d, penalty_force_3d};
use super::stencil::{block_starts_2d, block_starts_3d};
use super::weights::quadratic;
use crate::material::{Material, kirchhoff_2d, kirchhoff_3d};
use diffkern::prelude::*;

/// Nodes hold `(momentum, mass)`; `packed` is `(V0 mu, V0 lambda, V0 eta, mass)`; nodes are in blocks,
/// found by the `table` of [`blocks`](super::blocks).
///
/// `touching` lists the `touching_count` half-spaces that act on particles; half-space `k` is
/// `planes[2 k] = (n_x, n_y, 0, offset)`, `planes[2 k + 1] = (stiffness * area, slip speed, 0, 0)`.
#[diff_kernel]
pub fn particles_to_grid_2d<F: Float, M: Material>(
    x: &Array<Vec2<F>>,
    v: &Array<Vec2<F>>,
    c: &Array<Mat2<F>>,
    f: &Array<Mat2<F>>,
    packed: &Array<Vec4<F>>,
    planes: &Array<Vec4<F>>,
    friction: &Array<F>,
    touching: &Array<u32>,
    table: &Array<u32>,
    f_next: &mut Array<Mat2<F>>,
    grid: &mut Array<Vec3<F>>,
    origin_x: F,
    origin_y: F,
    inv_dx: F,
    dt: F,
    nx: u32,
    ny: u32,
    touching_count: u32,
) {
    let i = ABSOLUTE_POS;
    let xp = x[i];
    let vp = v[i];
    let cp = c[i];
    let q = packed[i];
    let f_old = f[i];
    let f_new = f_old + cp * f_old * dt;
    f_next[i] = f_new;

    let tau: Mat2<F> = kirchhoff_2d::<F, M>(f_new, cp, q);
    let affine = cp * q.w - tau * (4.0 * inv_dx * inv_dx * dt);
    let mut p = vp * q.w;
    for k in 0..touching_count {
        let plane = touching[k as usize] as usize;
        let force: Vec2<F> = penalty_force_2d::<F>(
            xp,
            vp,
            planes[2 * plane],
            planes[2 * plane + 1],
            friction[plane.min(friction.len() - 1)],
            dt / q.w,
        );
        p = p + force * dt;
    }

    let gx = (xp.x - origin_x) * inv_dx;
    let gy = (xp.y - origin_y) * inv_dx;
    let bx = (gx - 0.5).floor();
    let by = (gy - 0.5).floor();
    let fx = gx - bx;
    let fy = gy - by;
    let ix = i32::cast_from(bx);
    let iy = i32::cast_from(by);
    let inside = ix >= 0 && iy >= 0 && ix < nx as i32 - 2 && iy < ny as i32 - 2;
    let ux = ix as u32;
    let uy = iy as u32;
    let (near_low, near_high, far_low, far_high): (u32, u32, u32, u32) =
        block_starts_2d(table, inside, ux, uy, (ny + 7) >> 3);
    let lx = ux & 7;
    let ly = uy & 7;
    let wx: Vec3<F> = quadratic::<F>(fx);
    let wy: Vec3<F> = quadratic::<F>(fy);

    let dx = 1.0 / inv_dx;
    let ax = Vec3::new(affine[(0, 0)] * dx, affine[(1, 0)] * dx, 0.0);
    let ay = Vec3::new(affine[(0, 1)] * dx, affine[(1, 1)] * dx, 0.0);
    let value = Vec3::new(p.x, p.y, q.w) - ax * (fx - 1.0) - ay * (fy - 1.0);
    #[unroll]
    for a in 0..3 {
        let middle = (value + ax * (F::cast_from(a) - 1.0)) * wx[a];
        let step = ay * wx[a];
        let far_x = lx + a > 7;
        let row = ((lx + a) & 7) * 8;
        let low = select(far_x, far_low, near_low) + row;
        let high = select(far_x, far_high, near_high) + row;
        let first = (low + ly) as usize;
        let second = (select(ly > 6, high, low) + ((ly + 1) & 7)) as usize;
        let third = (select(ly > 5, high, low) + ((ly + 2) & 7)) as usize;
        grid[first] += (middle - step) * wy.x;
        grid[second] += middle * wy.y;
        grid[third] += (middle + step) * wy.z;
    }
}

/// As [`particles_to_grid_2d()`] in space.
#[diff_kernel]
pub fn particles_to_grid_3d<F: Float, M: Material>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    c: &Array<Mat3<F>>,
    f: &Array<Mat3<F>>,
    packed: &Array<Vec4<F>>,
    planes: &Array<Vec4<F>>,
    friction: &Array<F>,
    touching: &Array<u32>,
    table: &Array<u32>,
    f_next: &mut Array<Mat3<F>>,
    grid: &mut Array<Vec4<F>>,
    origin_x: F,
    origin_y: F,
    origin_z: F,
    inv_dx: F,
    dt: F,
    nx: u32,
    ny: u32,
    nz: u32,
    touching_count: u32,
) {
    let i = ABSOLUTE_POS;
    let xp = x[i];
    let vp = v[i];
    let cp = c[i];
    let q = packed[i];
    let f_old = f[i];
    let f_new = f_old + cp * f_old * dt;
    f_next[i] = f_new;

    let tau: Mat3<F> = kirchhoff_3d::<F, M>(f_new, cp, q);
    let affine = cp * q.w - tau * (4.0 * inv_dx * inv_dx * dt);
    let mut p = vp * q.w;
    for k in 0..touching_count {
        let plane = touching[k as usize] as usize;
        let force: Vec3<F> = penalty_force_3d::<F>(
            xp,
            vp,
            planes[2 * plane],
            planes[2 * plane + 1],
            friction[plane.min(friction.len() - 1)],
            dt / q.w,
        );
        p = p + force * dt;
    }

    let gx = (xp.x - origin_x) * inv_dx;
    let gy = (xp.y - origin_y) * inv_dx;
    let gz = (xp.z - origin_z) * inv_dx;
    let bx = (gx - 0.5).floor();
    let by = (gy - 0.5).floor();
    let bz = (gz - 0.5).floor();
    let fx = gx - bx;
    let fy = gy - by;
    let fz = gz - bz;
    let ix = i32::cast_from(bx);
    let iy = i32::cast_from(by);
    let iz = i32::cast_from(bz);
    let low = ix >= 0 && iy >= 0 && iz >= 0;
    let inside = low && ix < nx as i32 - 2 && iy < ny as i32 - 2 && iz < nz as i32 - 2;
    let ux = ix as u32;
    let uy = iy as u32;
    let uz = iz as u32;
    let (s000, s001, s010, s011, s100, s101, s110, s111): (u32, u32, u32, u32, u32, u32, u32, u32) =
        block_starts_3d(table, inside, ux, uy, uz, (ny + 3) >> 2, (nz + 3) >> 2);
    let lx = ux & 3;
    let ly = uy & 3;
    let lz = uz & 3;
    let wx: Vec3<F> = quadratic::<F>(fx);
    let wy: Vec3<F> = quadratic::<F>(fy);
    let wz: Vec3<F> = quadratic::<F>(fz);

    let dx = 1.0 / inv_dx;
    let ax = Vec4::new(affine[(0, 0)] * dx, affine[(1, 0)] * dx, affine[(2, 0)] * dx, 0.0);
    let ay = Vec4::new(affine[(0, 1)] * dx, affine[(1, 1)] * dx, affine[(2, 1)] * dx, 0.0);
    let az = Vec4::new(affine[(0, 2)] * dx, affine[(1, 2)] * dx, affine[(2, 2)] * dx, 0.0);
    let value = Vec4::new(p.x, p.y, p.z, q.w) - ax * (fx - 1.0) - ay * (fy - 1.0) - az * (fz - 1.0);
    #[unroll]
    for a in 0..3 {
        let far_a = lx + a > 3;
        let near_low = select(far_a, s100, s000);
        let near_high = select(far_a, s101, s001);
        let far_low = select(far_a, s110, s010);
        let far_high = select(far_a, s111, s011);
        let slab_at = ((lx + a) & 3) * 16;
        let value_a = value + ax * (F::cast_from(a) - 1.0);
        #[unroll]
        for b in 0..3 {
            let w_ab = wx[a] * wy[b];
            let middle = (value_a + ay * (F::cast_from(b) - 1.0)) * w_ab;
            let step = az * w_ab;
            let far_b = ly + b > 3;
            let row = slab_at + ((ly + b) & 3) * 4;
            let low = select(far_b, far_low, near_low) + row;
            let high = select(far_b, far_high, near_high) + row;
            let first = (low + lz) as usize;
            let second = (select(lz > 2, high, low) + ((lz + 1) & 3)) as usize;
            let third = (select(lz > 1, high, low) + ((lz + 2) & 3)) as usize;
            grid[first] += (middle - step) * wz.x;
            grid[second] += middle * wz.y;
            grid[third] += (middle + step) * wz.z;
        }
    }
}
