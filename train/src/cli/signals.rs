//! Ctrl-C, and signals that would end the program where an error should.

use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use train::job::Flow;

/// Set by Ctrl-C.
#[derive(Clone)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens for Ctrl-C: the first asks for a clean end, the second ends at once.
    pub(super) fn listen() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        let set = flag.clone();
        ctrlc::set_handler(move || {
            if set.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        })
        .context("cannot listen for Ctrl-C")?;
        writes_fail_instead_of_killing()?;
        Ok(Self(flag))
    }

    /// Whether it came.
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// What a job should do.
    pub(super) fn flow(&self) -> Flow {
        if self.is_set() { Flow::Stop } else { Flow::Continue }
    }
}

/// With a handler for `SIGXFSZ`, a write over the limit of file sizes returns an error.
#[cfg(unix)]
fn writes_fail_instead_of_killing() -> Result<()> {
    signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)))
        .context("cannot handle the limit of file sizes")?;
    Ok(())
}

#[cfg(not(unix))]
fn writes_fail_instead_of_killing() -> Result<()> {
    Ok(())
}
