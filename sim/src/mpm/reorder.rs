//! Particles in another order.

use diffkern::prelude::*;

/// Particle `i` is what particle `order_i` was.
#[diff_kernel]
pub fn reorder_2d<F: Float>(
    x: &Array<Vec2<F>>,
    v: &Array<Vec2<F>>,
    c: &Array<Mat2<F>>,
    f: &Array<Mat2<F>>,
    order: &Array<u32>,
    x_next: &mut Array<Vec2<F>>,
    v_next: &mut Array<Vec2<F>>,
    c_next: &mut Array<Mat2<F>>,
    f_next: &mut Array<Mat2<F>>,
) {
    let i = ABSOLUTE_POS;
    let from = order[i];
    x_next[i] = x[from];
    v_next[i] = v[from];
    c_next[i] = c[from];
    f_next[i] = f[from];
}

/// As [`reorder_2d()`] in space.
#[diff_kernel]
pub fn reorder_3d<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    c: &Array<Mat3<F>>,
    f: &Array<Mat3<F>>,
    order: &Array<u32>,
    x_next: &mut Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
    c_next: &mut Array<Mat3<F>>,
    f_next: &mut Array<Mat3<F>>,
) {
    let i = ABSOLUTE_POS;
    let from = order[i];
    x_next[i] = x[from];
    v_next[i] = v[from];
    c_next[i] = c[from];
    f_next[i] = f[from];
}

/// The packed material of particles in another order.
#[diff_kernel]
pub fn reorder_material<F: Float>(packed: &Array<Vec4<F>>, order: &Array<u32>, next: &mut Array<Vec4<F>>) {
    next[ABSOLUTE_POS] = packed[order[ABSOLUTE_POS]];
}

/// The order that leads back.
#[diff_kernel]
pub fn invert_order(order: &Array<u32>, inverse: &mut Array<u32>) {
    inverse[order[ABSOLUTE_POS]] = ABSOLUTE_POS as u32;
}
