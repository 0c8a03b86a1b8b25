//! Sums over arrays: differentiable, with the same bits in every run on a device. [`arith`](crate::arith) adds up arrays.

use diffkern_macros::diff_kernel;

use crate::arith::{linear, same_device, same_length};
use crate::array::Array;
use crate::error::{Error, Result};
use crate::float::{Float, Linear};

/// Elements that one thread adds up.
const BLOCK: usize = 64;

/// `y_i` = sum of the `block` elements of `x` from `i * block` on, in order.
#[diff_kernel]
fn sum_blocks<F: Float>(x: &Array<F>, y: &mut Array<F>, block: usize) {
    let lo = ABSOLUTE_POS * block;
    let hi = (lo + block).min(x.len());
    let mut sum = F::new(0.0);
    for k in lo..hi {
        sum += x[k];
    }
    y[ABSOLUTE_POS] = sum;
}

/// `total += x * scale`, of one element.
#[diff_kernel]
fn add_scaled<F: Float>(x: &Array<F>, total: &mut Array<F>, scale: F) {
    total[ABSOLUTE_POS] += x[0] * scale;
}

/// The sum of all elements, an array of one; 0 for an empty array. Blocks of elements are added up in a tree, so the
/// rounding error grows with the logarithm of the length.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern::reduce;
///
/// let x = Device::cpu().array(&[1.0, 2.0, 3.0])?.requires_grad();
/// let (tape, mean) = Tape::record_value(|| reduce::mean(&x))?;
/// tape.backward(&mean)?;
/// assert_eq!(reduce::sum(&x)?.to_vec()?, [6.0]);
/// assert_eq!(x.grad()?.to_vec()?, [1.0 / 3.0; 3]);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// When memory is short or the device fails.
pub fn sum<F: Float>(x: &Array<F>) -> Result<Array<F>> {
    let device = x.device();
    if x.is_empty() {
        return device.zeros(1);
    }
    let mut x = x.clone();
    loop {
        let y = device.uninit::<F>(x.len().div_ceil(BLOCK))?;
        sum_blocks(y.len(), &x, &y, BLOCK)?;
        if y.len() == 1 {
            return Ok(y);
        }
        x = y;
    }
}

/// Adds `scale` times the sum of all elements to `total`, an array of one.
///
/// # Errors
/// When `total` has not one element, memory is short or the device fails.
pub fn sum_into<F: Float>(x: &Array<F>, scale: F, total: &Array<F>) -> Result<()> {
    same_length("sum_into", total.len(), 1)?;
    add_scaled(1, &sum(x)?, total, scale)
}

/// The mean of all elements, an array of one.
///
/// # Errors
/// When the array is empty, memory is short or the device fails.
pub fn mean<F: Float>(x: &Array<F>) -> Result<Array<F>> {
    if x.is_empty() {
        return Err(Error::Invalid("mean of an empty array".to_owned()));
    }
    let total = x.device().zeros(1)?;
    sum_into(x, F::from_f64(1.0 / x.len() as f64), &total)?;
    Ok(total)
}

/// The inner product, an array of one: the sum of products of corresponding elements, of vectors of their inner products.
///
/// # Errors
/// When the lengths or devices differ, memory is short or the device fails.
pub fn dot<T: Linear>(x: &Array<T>, y: &Array<T>) -> Result<Array<T::Real>> {
    same_device("dot", y, x)?;
    same_length("dot", y.len(), x.len())?;
    let products = x.device().uninit(x.len())?;
    linear::inner(x, y, &products)?;
    sum(&products)
}

/// The sum of the squares of all elements, of vectors of their squared lengths, an array of one. With
/// [`arith::sub`](crate::arith::sub) the squared distance.
///
/// # Errors
/// When memory is short or the device fails.
pub fn squared_norm<T: Linear>(x: &Array<T>) -> Result<Array<T::Real>> {
    dot(x, x)
}
