//! Colliders of any shape: on the nodes of the grid where they act on velocities, on the particles where they act by forces.

use super::stencil::GridShape;
use diffkern::prelude::*;

/// Positions \[m\] of the nodes of the blocks in `list`, numbered as in [`blocks`](super::blocks); in space.
#[diff_kernel]
pub fn node_positions<F: Float>(list: &Array<u32>, x: &mut Array<Vec3<F>>, grid: GridShape<F>) {
    let i = ABSOLUTE_POS as u32;
    let block = list[i / 64];
    let (by, bz) = ((grid.ny + 3) / 4, (grid.nz + 3) / 4);
    let a = block / bz / by * 4 + i % 64 / 16;
    let b = block / bz % by * 4 + i % 16 / 4;
    let c = block % bz * 4 + i % 4;
    let at = Vec3::new(F::cast_from(a), F::cast_from(b), F::cast_from(c));
    x[i as usize] = grid.origin + at / grid.inv_dx;
}

/// The masses in `packed` \[kg\], see `pack_material`.
#[diff_kernel]
pub fn particle_masses<F: Float>(packed: &Array<Vec4<F>>, mass: &mut Array<F>) {
    mass[ABSOLUTE_POS] = packed[ABSOLUTE_POS].w;
}

/// `v + dt f / m`.
#[diff_kernel]
pub fn pushed<F: Float>(
    v: &Array<Vec3<F>>,
    force: &Array<Vec3<F>>,
    mass: &Array<F>,
    v_next: &mut Array<Vec3<F>>,
    dt: F,
) {
    let i = ABSOLUTE_POS;
    v_next[i] = v[i] + force[i] * (dt / mass[i]);
}
