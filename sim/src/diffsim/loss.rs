//! What positions are compared by.

use super::kernels::{nearest, square_differences, square_distances};
use crate::error::{Error, Result};
use diffkern::prelude::*;
use diffkern::reduce;

/// Mean of the squares of all `3 n` differences of coordinates \[m^2\], one element.
///
/// # Errors
/// When the lengths differ or there are no points.
pub fn mse<F: Float>(a: &Array<Vec3<F>>, b: &Array<Vec3<F>>) -> Result<Array<F>> {
    points(a)?;
    if a.len() != b.len() {
        return Err(Error::invalid("number of points", b.len(), format!("{}, as in the other set", a.len())));
    }
    let (squares, total) = (a.device().uninit(a.len())?, a.device().zeros(1)?);
    square_differences(a.len(), a, b, &squares)?;
    reduce::sum_into(&squares, F::from_f64(1.0 / (3 * a.len()) as f64), &total)?;
    Ok(total)
}

/// Chamfer distance \[m^2\], one element: the mean square of the distance from each point of `a` to the nearest of `b`, and the same from `b` to `a`.
///
/// The gradient is that of the distances to the neighbours chosen. It is one-sided where two neighbours are equally near: that of the first of them.
/// Each point is compared with all of the other set, so it takes the time of the product of their numbers.
///
/// # Errors
/// When a set is empty.
pub fn chamfer<F: Float>(a: &Array<Vec3<F>>, b: &Array<Vec3<F>>) -> Result<Array<F>> {
    points(a)?;
    points(b)?;
    let total = a.device().zeros(1)?;
    add_to_nearest(a, b, &total)?;
    add_to_nearest(b, a, &total)?;
    Ok(total)
}

fn add_to_nearest<F: Float>(a: &Array<Vec3<F>>, b: &Array<Vec3<F>>, total: &Array<F>) -> Result<()> {
    let (n, device) = (a.len(), a.device());
    let (index, squares) = (device.uninit(n)?, device.uninit(n)?);
    nearest(n, a, b, &index)?;
    square_distances(n, a, b, &index, &squares)?;
    Ok(reduce::sum_into(&squares, F::from_f64(1.0 / n as f64), total)?)
}

fn points<F: Float>(set: &Array<Vec3<F>>) -> Result<()> {
    match set.is_empty() {
        false => Ok(()),
        true => Err(Error::invalid("number of points", 0, "at least 1")),
    }
}
