//! An end asked for from outside, by Ctrl-C say: a flag that every launch looks at.
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! use diffkern::prelude::*;
//! use diffkern::{interrupt, reduce};
//!
//! let x = Device::cpu().array(&[1.0, 2.0])?;
//! let flag = Arc::new(AtomicBool::new(false)); // a handler of signals has a clone
//! assert_eq!(interrupt::scope(&flag, || reduce::sum(&x))?.to_vec()?, [3.0]);
//! flag.store(true, Ordering::Relaxed);
//! assert_eq!(interrupt::scope(&flag, || reduce::sum(&x)).err(), Some(Error::Interrupted));
//! # Ok::<(), Error>(())
//! ```

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::few::Few;

/// The flags of a thread's scopes; more than two are rare.
pub(crate) type Flags = Few<Arc<AtomicBool>, 2>;

thread_local! {
    static SCOPES: RefCell<Vec<Arc<AtomicBool>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f`, in which launches of this thread fail with [`Error::Interrupted`] once `flag` is set: those of adjoints,
/// tangents and steps that are run again included. A launch that is under way on the CPU ends early; what it writes is then
/// undefined. Scopes nest, and any flag counts.
pub fn scope<T>(flag: &Arc<AtomicBool>, f: impl FnOnce() -> T) -> T {
    SCOPES.with_borrow_mut(|scopes| scopes.push(flag.clone()));
    let _leave = Leave;
    f()
}

/// Leaves the innermost scope when dropped.
struct Leave;

impl Drop for Leave {
    fn drop(&mut self) {
        SCOPES.with_borrow_mut(Vec::pop);
    }
}

/// For loops that launch nothing for long.
///
/// # Errors
/// [`Error::Interrupted`] inside a [`scope`] whose flag is set.
pub fn check() -> Result<()> {
    let set = SCOPES.with_borrow(|scopes| scopes.iter().any(|flag| flag.load(Ordering::Relaxed)));
    if set { Err(Error::Interrupted) } else { Ok(()) }
}

/// The flags to look at during a launch of this thread.
pub(crate) fn flags() -> Flags {
    SCOPES.with_borrow(|scopes| {
        let mut flags = Flags::new();
        scopes.iter().for_each(|flag| flags.push(flag.clone()));
        flags
    })
}
