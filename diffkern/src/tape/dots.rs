//! Tangents of arrays while a tape is swept forwards.

use std::rc::Rc;
use std::sync::Arc;

use super::bars::Shape;
use super::ledger::{Kept, Ledger};
use crate::buffer::Buffer;
use crate::error::Result;
use crate::ids::IdMap;
use crate::tangent::Tangents;

/// By identity of the array, its tangent along one direction, of the size of the whole array; absent while it is zero.
pub(crate) struct Dots {
    by_id: IdMap<Kept>,
    pub(crate) ledger: Rc<Ledger>,
}

impl Dots {
    pub(crate) fn new(ledger: &Rc<Ledger>) -> Dots {
        Dots { by_id: IdMap::default(), ledger: ledger.clone() }
    }

    pub(crate) fn has(&self, id: u64) -> bool {
        self.by_id.contains_key(&id)
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
}

impl Tangents<Shape> for Dots {
    fn get(&self, shape: &Shape) -> Option<Arc<Buffer>> {
        self.by_id.get(&shape.id).map(|kept| kept.buffer().clone())
    }

    fn take(&mut self, shape: &Shape) -> Option<Arc<Buffer>> {
        self.by_id.remove(&shape.id).map(|kept| kept.buffer().clone())
    }

    fn put(&mut self, shape: &Shape, tangent: Arc<Buffer>) {
        self.by_id.insert(shape.id, Kept::new(tangent, &self.ledger));
    }

    /// The kernel of second derivatives is compiled for what is absent as well.
    fn zeros(&mut self, _: &Shape) -> Result<Option<Arc<Buffer>>> {
        Ok(None)
    }
}
