//! Particles in another order.
//!
//! They are sent to their new places, not fetched: so the adjoint fetches, where it would otherwise add up what goes to
//! places all over memory.

use diffkern::prelude::*;

/// Particle `i` becomes particle `to_i`; `to` is a permutation.
#[diff_kernel(dims(2, 3), injective)]
pub fn reorder<F: Float, const D: usize>(
    x: &Array<Vector<F, D>>,
    v: &Array<Vector<F, D>>,
    c: &Array<Matrix<F, D>>,
    f: &Array<Matrix<F, D>>,
    to: &Array<u32>,
    x_next: &mut Array<Vector<F, D>>,
    v_next: &mut Array<Vector<F, D>>,
    c_next: &mut Array<Matrix<F, D>>,
    f_next: &mut Array<Matrix<F, D>>,
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
