//! Locks of this crate.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks even after a panic elsewhere: no invariant spans the locks of this crate.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
