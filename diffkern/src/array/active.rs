//! Active recordings and forward-mode evaluations, of all threads: they miss what other threads launch.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::AnyArray;
use super::marks::forget;
use crate::few::Few;
use crate::sync::lock;

/// How many are under way, and each with how often it was opened.
static COUNT: AtomicUsize = AtomicUsize::new(0);
static OPEN: Mutex<Vec<(u64, usize)>> = Mutex::new(Vec::new());

thread_local! {
    /// Those of this thread.
    static HERE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// A recording, a replay of a part of it, or a forward-mode evaluation, under way until this is dropped. Of one thread.
pub(crate) struct Open(u64, PhantomData<*const ()>);

impl Open {
    pub(crate) fn new(recording: u64) -> Open {
        let mut open = lock(&OPEN);
        match open.iter_mut().find(|(other, _)| *other == recording) {
            Some((_, times)) => *times += 1,
            None => {
                open.push((recording, 1));
                COUNT.store(open.len(), Ordering::Release);
                HERE.with_borrow_mut(|here| here.push(recording));
            }
        }
        Open(recording, PhantomData)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut open = lock(&OPEN);
        let Some(place) = open.iter().position(|(recording, _)| *recording == self.0) else { return };
        open[place].1 -= 1;
        if open[place].1 == 0 {
            open.swap_remove(place);
            COUNT.store(open.len(), Ordering::Release);
            drop(open);
            HERE.with_borrow_mut(|here| here.retain(|recording| *recording != self.0));
            forget(self.0);
        }
    }
}

/// Whether there is more than one.
pub(crate) fn several() -> bool {
    COUNT.load(Ordering::Acquire) > 1
}

/// Whether something is so of one that is under way on this thread.
pub(super) fn any_here(is: impl Fn(u64) -> bool) -> bool {
    HERE.with_borrow(|here| here.iter().any(|&recording| is(recording)))
}

/// Whether this one is under way.
pub(crate) fn is_open(recording: u64) -> bool {
    lock(&OPEN).iter().any(|(other, _)| *other == recording)
}

/// To be called when arrays have been written: where one of those used, which these are among, has or would have a gradient
/// in what another thread has under way, the arrays have strayed from that.
///
/// A thread that got such an array from the one that records has synchronised with it, so it sees the recording here.
pub(crate) fn note_strays<'a, U, W>(used: impl Fn() -> U, written: impl Fn() -> W)
where
    U: Iterator<Item = &'a AnyArray>,
    W: Iterator<Item = &'a AnyArray>,
{
    let count = COUNT.load(Ordering::Acquire);
    if count == 0 || HERE.with_borrow(Vec::len) == count {
        return;
    }
    let open: Few<u64, 8> = lock(&OPEN).iter().map(|(recording, _)| *recording).collect();
    for &recording in open.iter().filter(|recording| HERE.with_borrow(|here| !here.contains(recording))) {
        let depends = |array: &AnyArray| array.is_real() && (array.needs_grad() || array.marks().depends_on(recording));
        if used().any(depends) {
            written().filter(|array| array.is_real()).for_each(|array| array.marks().set_strayed_from(recording));
        }
    }
}
