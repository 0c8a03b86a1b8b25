//! Ctrl-C, and signals that would end the program where an error should.

use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use train::job::{Flow, Stop};

/// Exit code of a program that a signal stopped.
pub(super) const INTERRUPTED: u8 = 130;

/// Set by Ctrl-C.
#[derive(Clone)]
pub(super) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens for Ctrl-C, and on Unix for the end of the session and requests to terminate: the first asks for a clean
    /// end, the second ends at once. A signal that was ignored when the program began stays ignored: `nohup` and the
    /// background jobs of scripts ask for that.
    pub(super) fn listen() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        system::listen(&flag)?;
        Ok(Self(flag))
    }

    /// Whether it came.
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// The same for the steps of a simulator.
    pub(super) fn stop(&self) -> Stop {
        Stop::new(self.0.clone())
    }

    /// What a job should do.
    pub(super) fn flow(&self) -> Flow {
        if self.is_set() { Flow::Stop } else { Flow::Continue }
    }
}

#[cfg(unix)]
mod system {
    use super::INTERRUPTED;
    use anyhow::{Context, Result};
    use signal_hook::flag::{register, register_conditional_shutdown};
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    pub(super) fn listen(flag: &Arc<AtomicBool>) -> Result<()> {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            if is_ignored(signal).context("cannot ask for the handler of a signal")? {
                continue;
            }
            // In this order: the first signal finds the flag not set yet.
            register_conditional_shutdown(signal, INTERRUPTED.into(), flag.clone())
                .and_then(|_| register(signal, flag.clone()))
                .context("cannot listen for Ctrl-C")?;
        }
        // With a handler, a write over the limit of file sizes returns an error.
        register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false))).context("cannot handle the limit of file sizes")?;
        Ok(())
    }

    fn is_ignored(signal: libc::c_int) -> io::Result<bool> {
        // SAFETY: a `sigaction` is made of integers, a set of bits and a pointer that may be null: zeros are one.
        let mut handler: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: `handler` is valid for writes; without a new handler the call only reads the old one.
        match unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut handler) } {
            0 => Ok(handler.sa_sigaction == libc::SIG_IGN),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(not(unix))]
mod system {
    use super::INTERRUPTED;
    use anyhow::{Context, Result};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) fn listen(flag: &Arc<AtomicBool>) -> Result<()> {
        let set = flag.clone();
        ctrlc::set_handler(move || {
            if set.swap(true, Ordering::SeqCst) {
                std::process::exit(INTERRUPTED.into());
            }
        })
        .context("cannot listen for Ctrl-C")
    }
}
