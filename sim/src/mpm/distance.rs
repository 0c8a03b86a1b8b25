//! How far the particles are from where they should be.

use crate::error::Result;
use diffkern::prelude::*;
use diffkern::reduce;

/// `out_i = |x_i - target_0|^2`.
#[diff_kernel(dims(2, 3))]
pub fn square_distance<F: Float, const D: usize>(
    x: &Array<Vector<F, D>>,
    target: &Array<Vector<F, D>>,
    out: &mut Array<F>,
) {
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
    square_distance::<F, D>(x.len(), x, &target, &squares)?;
    Ok(reduce::mean(&squares)?)
}
