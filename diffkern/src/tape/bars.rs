//! Adjoints of arrays while a tape is walked backwards.

use std::rc::Rc;
use std::sync::Arc;

use super::ledger::{Kept, Ledger};
use crate::array::AnyArray;
use crate::buffer::{Buffer, LaunchArg};
use crate::device::Device;
use crate::error::Result;
use crate::ids::{IdMap, Label};
use crate::kernel::{ElemTy, ScalarTy};
use crate::tangent::Elements;

/// What backward needs to know of an array, which may be gone by then.
#[derive(Clone)]
pub(crate) struct Shape {
    pub(crate) id: u64,
    name: Option<Arc<str>>,
    pub(crate) device: Device,
    pub(crate) scalar: ScalarTy,
    pub(crate) elem: ElemTy,
    /// Of the whole array, in elements.
    pub(crate) base_len: u32,
    pub(crate) offset: u32,
    pub(crate) len: u32,
}

impl Shape {
    pub(crate) fn of(array: &AnyArray) -> Shape {
        Shape {
            id: array.id(),
            name: array.name(),
            device: array.device().clone(),
            scalar: array.scalar(),
            elem: array.elem(),
            base_len: array.base_len(),
            offset: array.offset(),
            len: array.len() as u32,
        }
    }

    /// What reports and errors call it.
    pub(crate) fn label(&self) -> Label {
        Label::new(self.id, self.name.clone())
    }

    /// What it is in a graph.
    pub(crate) fn part(&self) -> crate::report::Part {
        crate::report::Part {
            id: self.id,
            name: self.name.clone(),
            elem: self.elem.name(self.scalar),
            offset: self.offset as usize,
            len: self.len as usize,
            whole: self.is_whole(),
        }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.offset == 0 && self.len == self.base_len
    }

    fn elem_bytes(&self) -> usize {
        self.elem.components() * self.scalar.bytes()
    }

    pub(crate) fn base_bytes(&self) -> usize {
        self.base_len as usize * self.elem_bytes()
    }

    /// Start and size of the elements in the buffer of the whole array.
    pub(crate) fn byte_range(&self) -> (usize, usize) {
        (self.offset as usize * self.elem_bytes(), self.len as usize * self.elem_bytes())
    }

    pub(crate) fn overlaps(&self, other: &Shape) -> bool {
        self.id == other.id && self.offset < other.offset + other.len && other.offset < self.offset + self.len
    }
}

impl Elements for Shape {
    fn device(&self) -> &Device {
        &self.device
    }

    fn base_bytes(&self) -> usize {
        Shape::base_bytes(self)
    }

    fn byte_range(&self) -> (usize, usize) {
        Shape::byte_range(self)
    }

    fn within<'a>(&self, buffer: Option<&'a Buffer>) -> LaunchArg<'a, Buffer> {
        match buffer {
            Some(buffer) => LaunchArg::Buffer { buffer, offset: self.offset, len: self.len, elem: self.elem },
            None => LaunchArg::Absent { len: self.len },
        }
    }
}

/// By identity of the array, its adjoint, of the size of the whole array. One reference each, so they may be written.
pub(crate) struct Bars {
    by_id: IdMap<Kept>,
    pub(crate) ledger: Rc<Ledger>,
}

impl Bars {
    pub(crate) fn new(ledger: &Rc<Ledger>) -> Bars {
        Bars { by_id: IdMap::default(), ledger: ledger.clone() }
    }

    pub(crate) fn has(&self, id: u64) -> bool {
        self.by_id.contains_key(&id)
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Arc<Buffer>> {
        self.by_id.get(&id).map(Kept::buffer)
    }

    /// The adjoint of an array, zero if it had none.
    pub(crate) fn ensure(&mut self, shape: &Shape) -> Result<&Arc<Buffer>> {
        use std::collections::hash_map::Entry;
        let kept = match self.by_id.entry(shape.id) {
            Entry::Occupied(kept) => kept.into_mut(),
            Entry::Vacant(empty) => {
                empty.insert(Kept::new(shape.device.alloc_zeroed(shape.base_bytes())?, &self.ledger))
            }
        };
        Ok(kept.buffer())
    }

    pub(crate) fn take(&mut self, id: u64) -> Option<Kept> {
        self.by_id.remove(&id)
    }

    /// Makes the memory of an adjoint on the host that of another array of the same size, which has none; whether it did.
    pub(crate) fn hand_over(&mut self, from: u64, to: &Shape) -> bool {
        let ready = |kept: &Kept| Arc::strong_count(kept.buffer()) == 1 && kept.buffer().host().is_some();
        match self.by_id.remove(&from) {
            Some(kept) if ready(&kept) && !self.has(to.id) => {
                self.by_id.insert(to.id, kept);
                true
            }
            Some(kept) => {
                self.by_id.insert(from, kept);
                false
            }
            None => false,
        }
    }

    /// Adds the adjoint `bar` of a whole array.
    pub(crate) fn add(&mut self, shape: &Shape, bar: Kept) -> Result<()> {
        match self.by_id.get(&shape.id) {
            Some(sum) => {
                let from = (&**bar.buffer(), 0);
                shape.device.accumulate(shape.scalar, from, (sum.buffer(), 0), shape.base_bytes())
            }
            None => {
                self.by_id.insert(shape.id, bar);
                Ok(())
            }
        }
    }

    /// Adds what `from` has from byte `at` on to the adjoint of the elements of the view.
    pub(crate) fn add_part(&mut self, shape: &Shape, from: &Arc<Buffer>, at: usize) -> Result<()> {
        let (to_at, bytes) = shape.byte_range();
        let to = self.ensure(shape)?;
        if !Arc::ptr_eq(from, to) {
            return shape.device.accumulate(shape.scalar, (from, at), (to, to_at), bytes);
        }
        // Two views of one array: a GPU does not read and write one buffer in one launch.
        let apart = shape.device.alloc(bytes)?;
        shape.device.copy(from, at, &apart, 0, bytes)?;
        shape.device.accumulate(shape.scalar, (&apart, 0), (to, to_at), bytes)
    }

    /// Sets the adjoint of the elements of the view to zero.
    pub(crate) fn clear(&mut self, shape: &Shape) -> Result<()> {
        match self.get(shape.id) {
            Some(bar) => {
                let (at, bytes) = shape.byte_range();
                shape.device.clear(bar, at, bytes)
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_overlap_where_they_have_an_element_in_common() -> Result<()> {
        let (a, b) = (Device::cpu().zeros::<f64>(9)?, Device::cpu().zeros::<f64>(9)?);
        let view = |from: usize, to: usize| Ok::<_, crate::Error>(Shape::of(a.slice(from..to)?.as_any()));
        let middle = view(3, 6)?;
        let cases = [((0, 3), false), ((0, 4), true), ((3, 6), true), ((4, 5), true), ((5, 9), true), ((6, 9), false)];
        for ((from, to), expected) in cases {
            let other = view(from, to)?;
            assert_eq!((middle.overlaps(&other), other.overlaps(&middle)), (expected, expected), "{from}..{to}");
        }
        assert!(!middle.overlaps(&Shape::of(b.as_any())));
        Ok(())
    }
}
