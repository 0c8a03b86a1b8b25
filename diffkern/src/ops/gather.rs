//! Elements by index.

use diffkern_macros::diff_kernel;

use crate::array::Array;
use crate::error::{Error, Result};
use crate::float::Float;
use crate::math::Vec3;

#[diff_kernel]
fn gather_reals<F: Float>(x: &Array<F>, index: &Array<u32>, y: &mut Array<F>) {
    y[ABSOLUTE_POS] = x[index[ABSOLUTE_POS]];
}

#[diff_kernel]
fn gather_vec3s<F: Float>(x: &Array<Vec3<F>>, index: &Array<u32>, y: &mut Array<Vec3<F>>) {
    y[ABSOLUTE_POS] = x[index[ABSOLUTE_POS]];
}

#[diff_kernel]
fn gather_words(x: &Array<u32>, index: &Array<u32>, y: &mut Array<u32>) {
    y[ABSOLUTE_POS] = x[index[ABSOLUTE_POS]];
}

#[diff_kernel]
fn scatter_reals<F: Float>(x: &Array<F>, index: &Array<u32>, y: &mut Array<F>) {
    y[index[ABSOLUTE_POS]] += x[ABSOLUTE_POS];
}

#[diff_kernel]
fn scatter_vec3s<F: Float>(x: &Array<Vec3<F>>, index: &Array<u32>, y: &mut Array<Vec3<F>>) {
    y[index[ABSOLUTE_POS]] += x[ABSOLUTE_POS];
}

/// `y_i = x[index_i]`, as many as there are indices; the gradient adds up what goes to one element.
///
/// # Errors
/// When an index is out of range (on the CPU), memory is short or the device fails.
pub fn gather<F: Float>(x: &Array<F>, index: &Array<u32>) -> Result<Array<F>> {
    let y = x.device().uninit(index.len())?;
    gather_reals(index.len(), x, index, &y)?;
    Ok(y)
}

/// [`gather`] of vectors.
///
/// # Errors
/// As [`gather`].
pub fn gather_vec3<F: Float>(x: &Array<Vec3<F>>, index: &Array<u32>) -> Result<Array<Vec3<F>>>
where
    Vec3<F>: crate::Element,
{
    let y = x.device().uninit(index.len())?;
    gather_vec3s(index.len(), x, index, &y)?;
    Ok(y)
}

/// [`gather`] of integers.
///
/// # Errors
/// As [`gather`].
pub fn gather_u32(x: &Array<u32>, index: &Array<u32>) -> Result<Array<u32>> {
    let y = x.device().uninit(index.len())?;
    gather_words(index.len(), x, index, &y)?;
    Ok(y)
}

/// `y[index_i] += x_i`: the transpose of [`gather`]. On the CPU the sums have the same bits for any number of threads.
///
/// # Errors
/// When the lengths of `x` and `index` differ, an index is out of range (on the CPU), or the device fails.
pub fn scatter_add<F: Float>(x: &Array<F>, index: &Array<u32>, y: &Array<F>) -> Result<()> {
    same_length(x.len(), index.len())?;
    scatter_reals(index.len(), x, index, y)
}

/// [`scatter_add`] of vectors.
///
/// # Errors
/// As [`scatter_add`].
pub fn scatter_add_vec3<F: Float>(x: &Array<Vec3<F>>, index: &Array<u32>, y: &Array<Vec3<F>>) -> Result<()> {
    same_length(x.len(), index.len())?;
    scatter_vec3s(index.len(), x, index, y)
}

fn same_length(found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what: "scatter_add", found, expected }) }
}
