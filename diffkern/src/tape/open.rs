//! Which recordings are under way, on all threads: a launch on a thread that does not record may miss one of them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::context;
use crate::array::AnyArray;
use crate::buffer::lock;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static OPEN: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// A recording that is under way until this is dropped.
pub(super) struct Open(u64);

impl Open {
    pub(super) fn new(recording: u64) -> Open {
        lock(&OPEN).push(recording);
        COUNT.fetch_add(1, Ordering::Relaxed);
        Open(recording)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::Relaxed);
        lock(&OPEN).retain(|&recording| recording != self.0);
    }
}

/// To be called when arrays have been written: where one of those used, which these are among, depends on what another
/// thread is recording, the arrays have strayed from that.
///
/// A thread that got such an array from the one that records has synchronised with it, so it sees the recording here.
pub(crate) fn note_strays<'a>(used: impl Iterator<Item = &'a AnyArray>, written: impl Iterator<Item = &'a AnyArray>) {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    let most = used.map(|array| array.marks().depends_on()).max().unwrap_or(0);
    if most == 0 || context::recording() == Some(most) || !lock(&OPEN).contains(&most) {
        return;
    }
    written.for_each(|array| array.marks().set_strayed_from(most));
}
