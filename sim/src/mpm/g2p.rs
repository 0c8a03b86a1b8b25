//! Grid to particles: velocity, affine velocity field (APIC) and position.
//!
//! `v = sum w u`, `C = 4/dx^2 sum w u (x_i - x_p)^T`, `x += dt v`. The moments are summed about the middle node, row by
//! row: `C_d = 4/dx (sum w u (o_d - 1) - v (f_d - 1))`.
//!
//! Source: Jiang, Schroeder, Selle, Teran, Stomakhin: The affine particle-in-cell method, 2015.

use super::stencil::{block_starts_2d, block_starts_3d};
use super::weights::quadratic;
use diffkern::prelude::*;

/// Nodes are found by the `table` of [`blocks`](super::blocks).
#[diff_kernel]
pub fn grid_to_particles_2d<F: Float>(
    x: &Array<Vec2<F>>,
    velocity: &Array<Vec2<F>>,
    table: &Array<u32>,
    x_next: &mut Array<Vec2<F>>,
    v_next: &mut Array<Vec2<F>>,
    c_next: &mut Array<Mat2<F>>,
    origin_x: F,
    origin_y: F,
    inv_dx: F,
    dt: F,
    nx: u32,
    ny: u32,
) {
    let i = ABSOLUTE_POS;
    let xp = x[i];
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

    let mut v = Vec2::zero();
    let mut mx = Vec2::zero();
    let mut my = Vec2::zero();
    #[unroll]
    for a in 0..3 {
        let far_x = lx + a > 7;
        let row = ((lx + a) & 7) * 8;
        let low = select(far_x, far_low, near_low) + row;
        let high = select(far_x, far_high, near_high) + row;
        let first = (low + ly) as usize;
        let second = (select(ly > 6, high, low) + ((ly + 1) & 7)) as usize;
        let third = (select(ly > 5, high, low) + ((ly + 2) & 7)) as usize;
        let before = velocity[first] * wy.x;
        let after = velocity[third] * wy.z;
        let sum = (before + velocity[second] * wy.y + after) * wx[a];
        v = v + sum;
        mx = mx + sum * (F::cast_from(a) - 1.0);
        my = my + (after - before) * wx[a];
    }
    let scale = 4.0 * inv_dx;
    let cx = (mx - v * (fx - 1.0)) * scale;
    let cy = (my - v * (fy - 1.0)) * scale;
    v_next[i] = v;
    c_next[i] = Mat2::new(cx.x, cy.x, cx.y, cy.y);
    x_next[i] = xp + v * dt;
}

/// As [`grid_to_particles_2d()`] in space.
#[diff_kernel]
pub fn grid_to_particles_3d<F: Float>(
    x: &Array<Vec3<F>>,
    velocity: &Array<Vec3<F>>,
    table: &Array<u32>,
    x_next: &mut Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
    c_next: &mut Array<Mat3<F>>,
    origin_x: F,
    origin_y: F,
    origin_z: F,
    inv_dx: F,
    dt: F,
    nx: u32,
    ny: u32,
    nz: u32,
) {
    let i = ABSOLUTE_POS;
    let xp = x[i];
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
    let lower = ix >= 0 && iy >= 0 && iz >= 0;
    let inside = lower && ix < nx as i32 - 2 && iy < ny as i32 - 2 && iz < nz as i32 - 2;
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

    let mut v = Vec3::zero();
    let mut mx = Vec3::zero();
    let mut my = Vec3::zero();
    let mut mz = Vec3::zero();
    #[unroll]
    for a in 0..3 {
        let far_a = lx + a > 3;
        let near_low = select(far_a, s100, s000);
        let near_high = select(far_a, s101, s001);
        let far_low = select(far_a, s110, s010);
        let far_high = select(far_a, s111, s011);
        let slab_at = ((lx + a) & 3) * 16;
        let mut slab = Vec3::zero();
        let mut slab_y = Vec3::zero();
        let mut slab_z = Vec3::zero();
        #[unroll]
        for b in 0..3 {
            let far_b = ly + b > 3;
            let row = slab_at + ((ly + b) & 3) * 4;
            let low = select(far_b, far_low, near_low) + row;
            let high = select(far_b, far_high, near_high) + row;
            let first = (low + lz) as usize;
            let second = (select(lz > 2, high, low) + ((lz + 1) & 3)) as usize;
            let third = (select(lz > 1, high, low) + ((lz + 2) & 3)) as usize;
            let before = velocity[first] * wz.x;
            let after = velocity[third] * wz.z;
            let sum = (before + velocity[second] * wz.y + after) * wy[b];
            slab = slab + sum;
            slab_y = slab_y + sum * (F::cast_from(b) - 1.0);
            slab_z = slab_z + (after - before) * wy[b];
        }
        v = v + slab * wx[a];
        mx = mx + slab * (wx[a] * (F::cast_from(a) - 1.0));
        my = my + slab_y * wx[a];
        mz = mz + slab_z * wx[a];
    }
    let scale = 4.0 * inv_dx;
    let cx = (mx - v * (fx - 1.0)) * scale;
    let cy = (my - v * (fy - 1.0)) * scale;
    let cz = (mz - v * (fz - 1.0)) * scale;
    v_next[i] = v;
    c_next[i] = Mat3::new(cx.x, cy.x, cz.x, cx.y, cy.y, cz.y, cx.z, cy.z, cz.z);
    x_next[i] = xp + v * dt;
}
