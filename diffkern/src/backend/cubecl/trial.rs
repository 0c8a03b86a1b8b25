//! Whether a device that opens runs kernels, too.
//!
//! A driver that answers is not yet a device: the compiler of kernels, its headers or a library that it loads may be
//! missing, or be of another version than the driver. All of that shows at the first launch only, as an error of
//! whatever was launched.

use std::sync::atomic::Ordering;

use super::CubeDevice;
use crate::error::{Error, Result};

/// Words that the trial writes: more than one cube has threads.
const WORDS: usize = 300;

impl CubeDevice {
    /// Compiles and runs a kernel, and reads back what it wrote.
    pub(super) fn try_out(&self) -> Result<()> {
        let word = |k: usize| if k.is_multiple_of(2) { 0x0DD5_EED5_u32 } else { 0x1234_5678 };
        let run = || -> Result<Vec<u8>> {
            let buffer = self.alloc(4 * WORDS, false)?;
            let pattern: Vec<u8> = [word(0), word(1)].into_iter().flat_map(u32::to_ne_bytes).collect();
            self.fill(&buffer, 0, 4 * WORDS, &pattern)?;
            let mut read = vec![0; 4 * WORDS];
            self.download(&buffer, 0, &mut read)?;
            Ok(read)
        };
        let failed = |reason: String| {
            let remedy = "check that the driver and the compiler of kernels fit each other";
            self.error(format!("it is there, but a kernel run on it for a trial fails, {reason}; {remedy}"))
        };
        let read = run().map_err(|error| match error {
            Error::Device { reason, .. } => failed(reason),
            other => failed(other.to_string()),
        })?;
        let wrong = (0..WORDS).find(|&k| read[4 * k..4 * k + 4] != word(k).to_ne_bytes());
        if let Some(k) = wrong {
            return Err(failed(format!("word {k} of what it should have written is {:02x?}", &read[4 * k..4 * k + 4])));
        }
        // The counters are of the user's launches.
        for count in [&self.work.launches, &self.work.waits, &self.work.downloaded] {
            count.store(0, Ordering::Relaxed);
        }
        Ok(())
    }
}
