//! Arrays as they were: what a step of a recorded rollout reads from outside stays what its steps first read, in replays
//! after other writes, and whatever other threads do.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;

use super::AnyArray;
use crate::buffer::Buffer;
use crate::ids::IdMap;

thread_local! {
    static PAST: RefCell<IdMap<Arc<Buffer>>> = const { RefCell::new(HashMap::with_hasher(BuildHasherDefault::new())) };
}

/// What an array has for this thread in place of its present contents, if anything.
pub(super) fn contents(id: u64) -> Option<Arc<Buffer>> {
    PAST.with_borrow(|past| if past.is_empty() { None } else { past.get(&id).cloned() })
}

/// Arrays that have contents of then, for the reads of this thread, until it is dropped. Others see no change.
#[derive(Default)]
pub(crate) struct Past(Vec<(u64, Option<Arc<Buffer>>)>);

impl Past {
    pub(crate) fn add(&mut self, array: &AnyArray, then: Arc<Buffer>) {
        let before = PAST.with_borrow_mut(|past| past.insert(array.id(), then));
        self.0.push((array.id(), before));
    }
}

impl Drop for Past {
    fn drop(&mut self) {
        for (id, before) in self.0.drain(..).rev() {
            PAST.with_borrow_mut(|past| match before {
                Some(before) => past.insert(id, before),
                None => past.remove(&id),
            });
        }
    }
}
