//! Sums, scaled sums and products of arrays as operations, so that a loss is put together without a kernel. They are kernels
//! of the kernel language: recorded by tapes, on every device, with gradients, tangents and second derivatives. Sums over
//! the elements of one array are in [`reduce`](crate::reduce).
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern::{arith, reduce};
//!
//! let dev = Device::cpu();
//! let x = dev.array(&[1.0, 2.0])?.requires_grad();
//! let seen = dev.array(&[3.0, 3.0])?;
//! // |x - seen|^2 / 2 + 0.1 |x|^2
//! let (tape, loss) = Tape::record_value(|| {
//!     let misfit = reduce::squared_norm(&arith::sub(&x, &seen)?)?;
//!     arith::scaled_sum(&[(0.5, &misfit), (0.1, &reduce::squared_norm(&x)?)])
//! })?;
//! tape.backward(&loss)?;
//! assert_eq!(loss.to_vec()?, [3.0]);
//! assert_eq!(x.grad()?.to_vec()?, [-1.8, -0.6]);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Why there are no operators
//! An operation allocates and launches, so it can fail: lengths differ, memory is short, a device is lost. `a + b` of the
//! standard library could only give a `Result<Array>`, which no further operator takes, so that each step of a formula wants
//! its own `?` and parentheses. Operators that build an expression, to be run later, would report the error far from the
//! mistake and hide how many launches and arrays a line costs. A function shows both where it is called.
//!
//! # Where gradients go
//! To every array that is an argument. A factor that is a number on the host (`scale: T::Real`) is a constant; a factor that
//! is an array of one element ([`scale_by`]) has its gradient. Its sum over all elements rounds each time, see the kernel
//! language on `y[0] += e`.

mod kernels;
pub(crate) mod linear;
#[cfg(test)]
mod tests;

pub use crate::float::Linear;

use crate::array::{AnyArray, Array};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::float::Float;

/// `a + b` by element.
///
/// # Errors
/// When the lengths or devices differ, memory is short or the device fails.
pub fn add<T: Linear>(a: &Array<T>, b: &Array<T>) -> Result<Array<T>> {
    combined("add", (one::<T>(), a), (one::<T>(), b))
}

/// `a - b` by element.
///
/// # Errors
/// As [`add`].
pub fn sub<T: Linear>(a: &Array<T>, b: &Array<T>) -> Result<Array<T>> {
    combined("sub", (one::<T>(), a), (-one::<T>(), b))
}

/// `s_1 a_1 + s_2 a_2 + ..` by element: also the sum of losses, arrays of one, with their weights. The terms are added in
/// their order, one launch for the first two and one for each further.
///
/// # Errors
/// When there is no term, or as [`add`].
pub fn scaled_sum<T: Linear>(terms: &[(T::Real, &Array<T>)]) -> Result<Array<T>> {
    const WHAT: &str = "scaled_sum";
    let (sum, rest) = match terms {
        [] => return Err(Error::Invalid(format!("{WHAT}: no term, at least one is needed"))),
        [(s, a)] => return scale(a, *s),
        [first, second, rest @ ..] => (combined(WHAT, *first, *second)?, rest),
    };
    for (s, a) in rest {
        fits(WHAT, a, &sum)?;
        linear::accumulate::<T>(a, &sum, *s)?;
    }
    Ok(sum)
}

/// `y += scale * x` by element, in place.
///
/// # Errors
/// As [`add`], when the two have an element in common, or the write is refused (see [`Overwrite`](crate::Overwrite)).
pub fn add_scaled<T: Linear>(x: &Array<T>, scale: T::Real, y: &Array<T>) -> Result<()> {
    fits("add_scaled", x, y)?;
    linear::accumulate::<T>(x, y, scale)
}

/// `scale * x`
///
/// # Errors
/// When memory is short or the device fails.
pub fn scale<T: Linear>(x: &Array<T>, scale: T::Real) -> Result<Array<T>> {
    let y = x.device().uninit(x.len())?;
    linear::scaled::<T>(x, &y, scale)?;
    Ok(y)
}

/// `scale * x` with a factor on the device, an array of one, to which the gradient goes as well.
///
/// # Errors
/// When `scale` has not one element or is on another device, memory is short or the device fails.
pub fn scale_by<T: Linear>(x: &Array<T>, scale: &Array<T::Real>) -> Result<Array<T>> {
    const WHAT: &str = "scale_by";
    same_device(WHAT, scale, x)?;
    same_length(WHAT, scale.len(), 1)?;
    let y = x.device().uninit(x.len())?;
    linear::scaled_by::<T>(x, scale, &y)?;
    Ok(y)
}

/// `w x` by element: the product of two arrays of reals, or of vectors with a factor for each.
///
/// # Errors
/// As [`add`].
pub fn multiply<T: Linear>(w: &Array<T::Real>, x: &Array<T>) -> Result<Array<T>> {
    const WHAT: &str = "multiply";
    same_device(WHAT, w, x)?;
    same_length(WHAT, w.len(), x.len())?;
    let y = x.device().uninit(x.len())?;
    linear::weighted::<T>(w, x, &y)?;
    Ok(y)
}

/// The components of all elements in a row, as an array of reals: of vectors, `x_0, y_0, .., x_1, y_1, ..`. A copy, through
/// which gradients flow.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern::arith;
///
/// let points = Device::cpu().array(&[Vec2::new(1.0, 2.0), Vec2::new(3.0, 4.0)])?;
/// let reals = arith::components(&points)?;
/// assert_eq!(reals.to_vec()?, [1.0, 2.0, 3.0, 4.0]);
/// assert_eq!(arith::from_components::<Vec2<f64>>(&reals)?.to_vec()?, points.to_vec()?);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// When memory is short or the device fails.
pub fn components<T: Linear>(x: &Array<T>) -> Result<Array<T::Real>> {
    let y = x.device().uninit(x.len() * T::COMPONENTS)?;
    linear::split::<T>(x, &y)?;
    Ok(y)
}

/// The elements with these components: [`components`] the other way round.
///
/// # Errors
/// When the components do not make whole elements, memory is short or the device fails.
pub fn from_components<T: Linear>(x: &Array<T::Real>) -> Result<Array<T>> {
    let n = x.len().div_ceil(T::COMPONENTS);
    same_length("from_components", x.len(), n * T::COMPONENTS)?;
    let y = x.device().uninit(n)?;
    linear::join::<T>(x, &y)?;
    Ok(y)
}

fn one<T: Linear>() -> T::Real {
    Float::one()
}

fn combined<T: Linear>(
    what: &'static str,
    (s, a): (T::Real, &Array<T>),
    (t, b): (T::Real, &Array<T>),
) -> Result<Array<T>> {
    fits(what, b, a)?;
    let y = a.device().uninit(a.len())?;
    linear::combine::<T>(a, b, &y, s, t)?;
    Ok(y)
}

fn fits<T: Element>(what: &'static str, x: &Array<T>, like: &Array<T>) -> Result<()> {
    same_device(what, x, like)?;
    same_length(what, x.len(), like.len())
}

pub(crate) fn same_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, found, expected }) }
}

pub(crate) fn same_device(what: &'static str, x: &AnyArray, like: &AnyArray) -> Result<()> {
    match x.device() == like.device() {
        true => Ok(()),
        false => {
            let (a, b) = (like.device().name().to_owned(), x.device().name().to_owned());
            Err(Error::DeviceMismatch { what, a, b })
        }
    }
}
