//! How far the particles are from where they should be.

use super::dimension::Dimension;
use crate::error::Result;
use diffkern::prelude::*;
use diffkern::reduce;

/// `out_i = |x_i - target_0|^2`.
#[diff_kernel]
pub fn square_distance_2d<F: Float>(x: &Array<Vec2<F>>, target: &Array<Vec2<F>>, out: &mut Array<F>) {
    let d = x[ABSOLUTE_POS] - target[0];
    out[ABSOLUTE_POS] = d.dot(d);
}

/// `out_i = |x_i - target_0|^2`.
#[diff_kernel]
pub fn square_distance_3d<F: Float>(x: &Array<Vec3<F>>, target: &Array<Vec3<F>>, out: &mut Array<F>) {
    let d = x[ABSOLUTE_POS] - target[0];
    out[ABSOLUTE_POS] = d.dot(d);
}

/// Mean of `|x_i - target|^2` \[m^2\], one element; differentiable in `x`.
///
/// # Errors
/// When a launch fails.
pub fn mean_square_distance<D: Dimension, F: Float>(x: &Array<D::Vector<F>>, target: D::Coords) -> Result<Array<F>> {
    let device = x.device();
    let target = device.array(&[D::vector::<F>(&target)])?;
    let squares = device.zeros::<F>(x.len())?;
    D::square_distance::<F>(x, &target, &squares)?;
    Ok(reduce::mean(&squares)?)
}
