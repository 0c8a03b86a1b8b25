//! Kernels of depth.
//!
//! The reciprocal of the depth along the optical axis is affine in the image of a plane (of a lens that does not distort), so its
//! mean over a pixel that one triangle covers is its value at the middle of the pixel, exactly.

use diffkern::prelude::*;

/// The reciprocal of the depth of every normal group \[1/m\], in the place of a colour.
#[diff_kernel]
pub fn inverse_depths<F: Float>(projected: &Array<Vec3<F>>, group_vertex: &Array<u32>, inverse: &mut Array<Vec3<F>>) {
    let zero = F::new(0.0);
    inverse[ABSOLUTE_POS] = Vec3::new(1.0 / projected[group_vertex[ABSOLUTE_POS] as usize].z, zero, zero);
}

/// Splits what is drawn with these into coverage and the sum of reciprocals of depth over the covered part.
#[diff_kernel]
pub fn split_depths<F: Float>(pixels: &Array<Vec4<F>>, coverage: &mut Array<F>, inverse: &mut Array<F>) {
    let p = pixels[ABSOLUTE_POS];
    coverage[ABSOLUTE_POS] = p.w;
    inverse[ABSOLUTE_POS] = p.x;
}
