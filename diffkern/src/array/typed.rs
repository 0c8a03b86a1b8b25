//! The typed handle.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use super::{AnyArray, Blank};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::float::Float;
use crate::kernel::ScalarTy;

/// Elements of type `T` on a device. Cloning gives another handle to the same array; the contents are shared with
/// tapes and snapshots and copied when they are written while one of those still needs them.
///
/// Handles may be sent to other threads. A write excludes other accesses to the same array while it runs.
///
/// ```
/// use diffkern::prelude::*;
///
/// let dev = Device::cpu();
/// let x = dev.array(&[1.0, 2.0, 3.0, 4.0])?;
/// x.slice(1..3)?.fill(0.0)?;
/// assert_eq!(x.to_vec()?, [1.0, 0.0, 0.0, 4.0]);
/// let points = dev.zeros::<Vec3<f32>>(100)?; // elements may be vectors, matrices, integers or your own structs
/// assert_eq!(points.len(), 100);
/// # Ok::<(), Error>(())
/// ```
pub struct Array<T> {
    any: AnyArray,
    elem: PhantomData<fn() -> T>,
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Array<T> {
        Array { any: self.any.clone(), elem: PhantomData }
    }
}

impl<T> std::fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.any.fmt(f)
    }
}

impl<T> std::ops::Deref for Array<T> {
    type Target = AnyArray;

    fn deref(&self) -> &AnyArray {
        &self.any
    }
}

impl<T: Element> TryFrom<AnyArray> for Array<T> {
    type Error = Error;

    fn try_from(any: AnyArray) -> Result<Array<T>> {
        let scalar = <T::Scalar as Scalar>::TY;
        if any.elem() != T::ELEM || any.scalar() != scalar || !any.len().is_multiple_of(T::PARTS) {
            let (found, expected) = (any.elem().name(any.scalar()), T::ELEM.name(scalar));
            return Err(Error::Type { what: "typed array", found, expected });
        }
        Ok(Array { any, elem: PhantomData })
    }
}

impl<T: Element> Array<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.any.len() / T::PARTS
    }
}

impl<T> Array<T> {
    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.any.is_empty()
    }

    /// The handle without its type.
    pub fn as_any(&self) -> &AnyArray {
        &self.any
    }
}

impl<T: Element> Array<T> {
    pub(crate) fn on(device: &Device, n: usize, alloc: impl FnOnce(usize) -> Result<Arc<Buffer>>) -> Result<Array<T>> {
        Array::with_origin(device, n, alloc, None)
    }

    /// An array that nothing has been written to.
    pub(crate) fn blank_on(device: &Device, n: usize, blank: Blank) -> Result<Array<T>> {
        Array::with_origin(device, n, |bytes| blank.alloc(device, bytes), Some(blank))
    }

    fn with_origin(
        device: &Device,
        n: usize,
        alloc: impl FnOnce(usize) -> Result<Arc<Buffer>>,
        blank: Option<Blank>,
    ) -> Result<Array<T>> {
        let scalar = <T::Scalar as Scalar>::TY;
        if scalar == ScalarTy::F64 && !device.supports_f64() {
            let reason = "it has no f64; use f32 here, or f64 on `cpu` or `cuda`".to_owned();
            return Err(Error::Device { device: device.name().to_owned(), reason });
        }
        let bytes = n.saturating_mul(size_of::<T>());
        let scalars = n.saturating_mul(T::COMPONENTS);
        let (Ok(len), Ok(_)) = (u32::try_from(n.saturating_mul(T::PARTS)), u32::try_from(scalars)) else {
            let reason = format!("{scalars} scalars, the most in one array is {}", u32::MAX);
            return Err(Error::Memory { device: device.name().to_owned(), bytes, reason });
        };
        let any = AnyArray::with_origin(device, (scalar, T::ELEM, len), alloc(bytes)?, blank);
        Ok(Array { any, elem: PhantomData })
    }

    /// Asks for the gradient of this array: [`Tape::backward`](crate::Tape::backward) adds it to [`Array::grad`].
    /// Call it before the launches that read the array are recorded; afterwards, that recording refuses the array.
    /// An array of integers has none, and no such function.
    #[must_use]
    pub fn requires_grad(self) -> Array<T>
    where
        T::Scalar: Float,
    {
        self.any.set_requires_grad();
        self
    }

    /// Gives the array a name, or another one: reports, graphs and errors show it beside the number. Views share it.
    ///
    /// ```
    /// use diffkern::prelude::*;
    ///
    /// let x = Device::cpu().array(&[1.0, 2.0])?.requires_grad().named("stiffness");
    /// let error = x.grad().unwrap_err().to_string();
    /// assert!(error.starts_with("`stiffness` (array "), "{error}");
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn named(self, name: impl Into<std::sync::Arc<str>>) -> Array<T> {
        self.any.set_name(Some(name.into()));
        self
    }

    /// The gradient that `backward` has accumulated.
    ///
    /// # Errors
    /// When there is none: `requires_grad` or `backward` was not called, or it does not influence the loss.
    pub fn grad(&self) -> Result<Array<T>> {
        let missing = |reason| Error::NoGradient { array: self.label(), reason };
        if !self.any.needs_grad() {
            return Err(missing("call `requires_grad` on it before the tape records"));
        }
        let grad = self.any.lock_grad().clone();
        let grad = grad.ok_or_else(|| missing("no `backward` has reached it: the loss does not depend on it"))?;
        let start = self.any.offset() as usize;
        Array::try_from(grad.view(start, start + self.any.len())?)
    }

    /// Forgets the gradient.
    pub fn zero_grad(&self) {
        *self.any.lock_grad() = None;
    }

    /// A view of some elements: it shares their memory and their gradient.
    ///
    /// # Errors
    /// When the range is not inside the array.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Array<T>> {
        let from = match range.start_bound() {
            Bound::Included(&n) => n,
            Bound::Excluded(&n) => n.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let to = match range.end_bound() {
            Bound::Included(&n) => n.saturating_add(1),
            Bound::Excluded(&n) => n,
            Bound::Unbounded => self.len(),
        };
        Ok(Array { any: self.any.view(from.saturating_mul(T::PARTS), to.saturating_mul(T::PARTS))?, elem: PhantomData })
    }
}
