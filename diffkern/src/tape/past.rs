//! Arrays as they were: a step that is run again reads what it read at first.

use std::cell::RefCell;
use std::sync::Arc;

use crate::array::AnyArray;
use crate::buffer::Buffer;
use crate::ids::IdMap;

thread_local! {
    static PAST: RefCell<IdMap<Arc<Buffer>>> = RefCell::default();
}

/// What an array has for this thread in place of its present contents, if anything.
pub(crate) fn contents(id: u64) -> Option<Arc<Buffer>> {
    PAST.with_borrow(|past| if past.is_empty() { None } else { past.get(&id).cloned() })
}

/// Gives arrays their contents of then, for the reads of this thread, until it is dropped. Others see no change.
#[derive(Default)]
pub(crate) struct Past(Vec<(u64, Option<Arc<Buffer>>)>);

impl Past {
    pub(crate) fn of<'a>(arrays: impl Iterator<Item = (&'a AnyArray, Arc<Buffer>)>) -> Past {
        PAST.with_borrow_mut(|past| {
            Past(arrays.map(|(array, then)| (array.id(), past.insert(array.id(), then))).collect())
        })
    }
}

impl Drop for Past {
    fn drop(&mut self) {
        let put_back = |past: &mut IdMap<Arc<Buffer>>| {
            for (id, before) in self.0.drain(..).rev() {
                match before {
                    Some(before) => past.insert(id, before),
                    None => past.remove(&id),
                };
            }
        };
        PAST.with_borrow_mut(put_back);
    }
}
