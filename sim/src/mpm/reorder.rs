//! Particles in another order.
//!
//! They are sent to their new places, not fetched: so the adjoint fetches, where it would otherwise add up what goes to
//! places all over memory.

use diffkern::prelude::*;

/// Particle `i` becomes particle `to_i`; `to` is a permutation.
#[diff_kernel(injective)]
pub fn reorder_2d<F: Float>(
    x: &Array<Vec2<F>>,
    v: &Array<Vec2<F>>,
    c: &Array<Mat2<F>>,
    f: &Array<Mat2<F>>,
    to: &Array<u32>,
    x_next: &mut Array<Vec2<F>>,
    v_next: &mut Array<Vec2<F>>,
    c_next: &mut Array<Mat2<F>>,
    f_next: &mut Array<Mat2<F>>,
) {
    let i = ABSOLUTE_POS;
    let at = to[i];
    x_next[at] = x[i];
    v_next[at] = v[i];
    c_next[at] = c[i];
    f_next[at] = f[i];
}

/// As [`reorder_2d()`] in space.
#[diff_kernel(injective)]
pub fn reorder_3d<F: Float>(
    x: &Array<Vec3<F>>,
    v: &Array<Vec3<F>>,
    c: &Array<Mat3<F>>,
    f: &Array<Mat3<F>>,
    to: &Array<u32>,
    x_next: &mut Array<Vec3<F>>,
    v_next: &mut Array<Vec3<F>>,
    c_next: &mut Array<Mat3<F>>,
    f_next: &mut Array<Mat3<F>>,
) {
    let i = ABSOLUTE_POS;
    let at = to[i];
    x_next[at] = x[i];
    v_next[at] = v[i];
    c_next[at] = c[i];
    f_next[at] = f[i];
}

/// The packed material of particles in another order; `to` is a permutation.
#[diff_kernel(injective)]
pub fn reorder_material<F: Float>(packed: &Array<Vec4<F>>, to: &Array<u32>, next: &mut Array<Vec4<F>>) {
    next[to[ABSOLUTE_POS]] = packed[ABSOLUTE_POS];
}

/// The order that leads back; `order` is a permutation.
#[diff_kernel(injective)]
pub fn invert_order(order: &Array<u32>, inverse: &mut Array<u32>) {
    inverse[order[ABSOLUTE_POS]] = ABSOLUTE_POS as u32;
}
