//! Grid to particles: velocity, affine velocity field (APIC) and position.
//!
//! `v = sum w u`, `C = 4/dx^2 sum w u (x_i - x_p)^T`, `x += dt v`. The moments are summed about the middle node, row by
//! row: `C_d = 4/dx (sum w u (o_d - 1) - v (f_d - 1))`.
//!
//! Source: Jiang, Schroeder, Selle, Teran, Stomakhin: The affine particle-in-cell method, 2015.

use super::weights::quadratic;
use diffkern::prelude::*;

/// Node `(a, b)` is at `a * ny + b`.
#[diff_kernel]
pub fn grid_to_particles_2d<F: Float>(
    x: &Array<Vec2<F>>,
    velocity: &Array<Vec2<F>>,
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
    let stride = ny as usize;
    let base = select(inside, ix as usize * stride + iy as usize, velocity.len());
    let wx: Vec3<F> = quadratic::<F>(fx);
    let wy: Vec3<F> = quadratic::<F>(fy);

    let mut v = Vec2::zero();
    let mut mx = Vec2::zero();
    let mut my = Vec2::zero();
    #[unroll]
    for a in 0..3 {
        let node = base + a * stride;
        let low = velocity[node] * wy.x;
        let high = velocity[node + 2] * wy.z;
        let row = (low + velocity[node + 1] * wy.y + high) * wx[a];
        v = v + row;
        mx = mx + row * (F::cast_from(a) - 1.0);
        my = my + (high - low) * wx[a];
    }
    let scale = 4.0 * inv_dx;
    let cx = (mx - v * (fx - 1.0)) * scale;
    let cy = (my - v * (fy - 1.0)) * scale;
    v_next[i] = v;
    c_next[i] = Mat2::new(cx.x, cy.x, cx.y, cy.y);
    x_next[i] = xp + v * dt;
}

/// As [`grid_to_particles_2d()`] in space; node `(a, b, c)` is at `(a * ny + b) * nz + c`.
#[diff_kernel]
pub fn grid_to_particles_3d<F: Float>(
    x: &Array<Vec3<F>>,
    velocity: &Array<Vec3<F>>,
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
    let row_len = nz as usize;
    let slab_len = ny as usize * row_len;
    let base = select(inside, ix as usize * slab_len + iy as usize * row_len + iz as usize, velocity.len());
    let wx: Vec3<F> = quadratic::<F>(fx);
    let wy: Vec3<F> = quadratic::<F>(fy);
    let wz: Vec3<F> = quadratic::<F>(fz);

    let mut v = Vec3::zero();
    let mut mx = Vec3::zero();
    let mut my = Vec3::zero();
    let mut mz = Vec3::zero();
    #[unroll]
    for a in 0..3 {
        let mut slab = Vec3::zero();
        let mut slab_y = Vec3::zero();
        let mut slab_z = Vec3::zero();
        #[unroll]
        for b in 0..3 {
            let node = base + a * slab_len + b * row_len;
            let low = velocity[node] * wz.x;
            let high = velocity[node + 2] * wz.z;
            let row = (low + velocity[node + 1] * wz.y + high) * wy[b];
            slab = slab + row;
            slab_y = slab_y + row * (F::cast_from(b) - 1.0);
            slab_z = slab_z + (high - low) * wy[b];
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
