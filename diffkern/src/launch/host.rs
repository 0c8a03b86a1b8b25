//! What the host writes to arrays, copies between them and reads of them; observers take part in that as in launches.

use super::observers::{self, Event, Read};
use crate::array::{AnyArray, Array, Blank, active};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::{Element, Scalar, bytes_of};
use crate::error::{Error, Result};
use crate::memory;

impl Device {
    /// An array with the given elements.
    ///
    /// # Errors
    /// When memory is short or the device does not have the type.
    pub fn array<T: Element>(&self, elements: &[T]) -> Result<Array<T>> {
        let bytes = bytes_of(elements);
        observers::upload(bytes);
        self.filled(elements.len(), bytes)
    }

    /// `n` elements that are 0.
    ///
    /// # Errors
    /// As [`Device::array`].
    pub fn zeros<T: Element>(&self, n: usize) -> Result<Array<T>> {
        Array::blank_on(self, n, Blank::Zeros)
    }

    /// `n` elements that are `value`.
    ///
    /// # Errors
    /// As [`Device::array`].
    pub fn full<T: Element>(&self, n: usize, value: T) -> Result<Array<T>> {
        let element = bytes_of(std::slice::from_ref(&value));
        observers::upload(&n.to_ne_bytes());
        observers::upload(element);
        Array::on(self, n, |bytes| {
            let buffer = self.alloc(bytes)?;
            self.fill(&buffer, 0, bytes, element)?;
            Ok(buffer)
        })
    }

    /// `n` elements of unspecified value, for a kernel that stores each of them. In debug builds reals are NaN and
    /// integers large, so that a missed element shows.
    ///
    /// # Errors
    /// As [`Device::array`].
    pub fn uninit<T: Element>(&self, n: usize) -> Result<Array<T>> {
        Array::blank_on(self, n, Blank::Uninit(<T::Scalar as Scalar>::TY))
    }

    fn filled<T: Element>(&self, n: usize, data: &[u8]) -> Result<Array<T>> {
        Array::on(self, n, |bytes| {
            let buffer = self.alloc(bytes)?;
            self.upload(&buffer, 0, data)?;
            Ok(buffer)
        })
    }
}

impl<T: Element> Array<T> {
    /// A copy of the elements on the host.
    ///
    /// # Errors
    /// When the device fails, or a replayed step of a rollout reads something else than it did at first.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let mut elements = memory::filled(self.len(), T::ZERO)?;
        let bytes = size_of_val(elements.as_slice());
        // SAFETY: any bits are a valid element, by the contract of `Element`.
        let raw = unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast::<u8>(), bytes) };
        self.as_any().download(raw)?;
        Ok(elements)
    }

    /// Sets all elements to `value`. Recorded by a tape, like every write.
    ///
    /// # Errors
    /// When the device fails, or the write is refused (see [`Overwrite`](crate::Overwrite)).
    pub fn fill(&self, value: T) -> Result<()> {
        self.as_any().fill(bytes_of(&[value]))
    }

    /// Copies all elements of another array of the same length.
    ///
    /// # Errors
    /// When the lengths or devices differ, or as for [`Array::fill`].
    pub fn copy_from(&self, from: &Array<T>) -> Result<()> {
        self.as_any().copy_from(from.as_any())
    }

    /// Overwrites all elements.
    ///
    /// # Errors
    /// When the lengths differ, or as for [`Array::fill`].
    pub fn write(&self, elements: &[T]) -> Result<()> {
        if elements.len() != self.len() {
            return Err(Error::Length { what: "write", found: elements.len(), expected: self.len() });
        }
        self.as_any().upload(bytes_of(elements))
    }

    /// A new array with the same elements, on no tape: no gradient flows through it.
    ///
    /// # Errors
    /// When memory is short, or the step of a rollout may not read the array.
    pub fn detached(&self) -> Result<Array<T>> {
        observers::read(self, &Read::Constant("detached"))?;
        let copy = Array::on(self.device(), self.len(), |bytes| self.device().alloc(bytes))?;
        let (at, bytes) = self.byte_range();
        let from = self.buffer();
        copy.update(|to| self.device().copy(&from, at, to, 0, bytes))?;
        Ok(copy)
    }
}

impl AnyArray {
    /// Overwrites all elements from the host; recorded.
    pub(crate) fn upload(&self, bytes: &[u8]) -> Result<()> {
        let (at, size) = self.byte_range();
        debug_assert_eq!(size, bytes.len());
        overwrite(self, "write", bytes, |to| self.device().upload(to, at, bytes))
    }

    /// Sets all elements to the one with these bytes; recorded.
    pub(crate) fn fill(&self, element: &[u8]) -> Result<()> {
        let (at, size) = self.byte_range();
        overwrite(self, "fill", element, |to| self.device().fill(to, at, size, element))
    }

    /// All elements, to the host. A rollout's step that reads is checked to read the same when it is replayed.
    pub(crate) fn download(&self, into: &mut [u8]) -> Result<()> {
        let (at, _) = self.byte_range();
        let buffer = self.buffer();
        self.device().download(&buffer, at, into)?;
        observers::read(self, &Read::Host(into))
    }

    /// Copies all elements from another array; recorded.
    pub(crate) fn copy_from(&self, from: &AnyArray) -> Result<()> {
        const WHAT: &str = "copy_from";
        if self.device() != from.device() {
            let (a, b) = (self.device().name().to_owned(), from.device().name().to_owned());
            return Err(Error::DeviceMismatch { what: WHAT, a, b });
        }
        if self.len() != from.len() {
            return Err(Error::Length { what: WHAT, found: from.len(), expected: self.len() });
        }
        if self.overlaps(from) {
            return match self.offset() == from.offset() {
                true => Ok(()),
                false => Err(Error::Invalid("copy_from: the two overlap; copy through a third array".to_owned())),
            };
        }
        copy(self, from)
    }
}

/// Overwrites elements of an array by `content`.
fn overwrite(
    array: &AnyArray,
    what: &'static str,
    content: &[u8],
    write: impl FnOnce(&Buffer) -> Result<()>,
) -> Result<()> {
    observers::around(&Event::Overwrite { array, what, content }, || {
        array.update(write)?;
        active::note_strays(|| std::iter::once(array), || std::iter::once(array));
        Ok(())
    })
}

/// Copies elements between arrays that fit.
fn copy(to: &AnyArray, from: &AnyArray) -> Result<()> {
    observers::around(&Event::Copy { to, from }, || {
        let (source, (at, _), (to_at, bytes)) = (from.buffer(), from.byte_range(), to.byte_range());
        to.update(|target| to.device().copy(&source, at, target, to_at, bytes))?;
        active::note_strays(|| [from, to].into_iter(), || std::iter::once(to));
        Ok(())
    })
}
