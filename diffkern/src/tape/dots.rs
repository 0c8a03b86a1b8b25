//! Tangents of arrays while a tape is walked forwards.

use std::rc::Rc;
use std::sync::Arc;

use super::bars::Shape;
use super::ledger::{Kept, Ledger};
use crate::buffer::Buffer;
use crate::error::Result;
use crate::ids::IdMap;

/// By identity of the array, its tangent along one direction, of the size of the whole array; absent while it is zero.
///
/// Whoever keeps a tangent keeps that version: writing makes a copy first.
pub(crate) struct Dots {
    by_id: IdMap<Kept>,
    pub(crate) ledger: Rc<Ledger>,
}

impl Dots {
    pub(crate) fn new(ledger: &Rc<Ledger>) -> Dots {
        Dots { by_id: IdMap::default(), ledger: ledger.clone() }
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Arc<Buffer>> {
        self.by_id.get(&id).map(Kept::buffer)
    }

    /// The present version, kept.
    pub(crate) fn keep(&self, id: u64) -> Option<Kept> {
        self.by_id.get(&id).map(Kept::again)
    }

    pub(crate) fn set(&mut self, id: u64, dot: Option<Kept>) {
        match dot {
            Some(dot) => self.by_id.insert(id, dot),
            None => self.by_id.remove(&id),
        };
    }

    /// The tangent of an array, zero if it had none, with no other reference to it.
    pub(crate) fn writable(&mut self, shape: &Shape) -> Result<Arc<Buffer>> {
        let mut buffer = match self.by_id.remove(&shape.id) {
            Some(kept) => kept.buffer().clone(),
            None => shape.device.alloc_zeroed(shape.base_bytes())?,
        };
        Buffer::unshare(&mut buffer)?;
        self.by_id.insert(shape.id, Kept::new(buffer.clone(), &self.ledger));
        Ok(buffer)
    }

    /// Overwrites the tangent of the elements of `to` by what `from` has from byte `at` on; by zero without it.
    pub(crate) fn write(&mut self, to: &Shape, from: Option<(&Arc<Buffer>, usize)>) -> Result<()> {
        let (to_at, bytes) = to.byte_range();
        match from {
            Some((from, at)) => {
                let target = self.writable(to)?;
                to.device.copy(from, at, &target, to_at, bytes)
            }
            None if self.get(to.id).is_some() => {
                let target = self.writable(to)?;
                to.device.clear(&target, to_at, bytes)
            }
            None => Ok(()),
        }
    }
}
