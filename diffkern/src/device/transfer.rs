//! Moving bytes within a device and between it and the host. Offsets and sizes are bytes.
//!
//! A caller that passes a destination holds its only reference, or the lock of the array that does; sources may be shared.

use super::Device;
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::kernel::ScalarTy;
use crate::trace;

impl Device {
    /// Copies between buffers of this device, which are not the same one.
    pub(crate) fn copy(&self, from: &Buffer, at: usize, to: &Buffer, to_at: usize, bytes: usize) -> Result<()> {
        let _span = trace::transfer("copy", bytes);
        inside(from, at, bytes)?;
        inside(to, to_at, bytes)?;
        self.0.copy((from, at), (to, to_at), bytes)
    }

    /// Repeats `pattern`, whose size divides `bytes`.
    pub(crate) fn fill(&self, to: &Buffer, at: usize, bytes: usize, pattern: &[u8]) -> Result<()> {
        let _span = trace::transfer("fill", bytes);
        inside(to, at, bytes)?;
        self.0.fill((to, at), bytes, pattern)
    }

    /// Sets bytes to zero.
    pub(crate) fn clear(&self, to: &Buffer, at: usize, bytes: usize) -> Result<()> {
        self.fill(to, at, bytes, &[0; 4])
    }

    /// Host to device.
    pub(crate) fn upload(&self, to: &Buffer, at: usize, data: &[u8]) -> Result<()> {
        let _span = trace::transfer("upload", data.len());
        inside(to, at, data.len())?;
        self.0.upload((to, at), data)
    }

    /// Device to host.
    pub(crate) fn download(&self, from: &Buffer, at: usize, data: &mut [u8]) -> Result<()> {
        let _span = trace::transfer("download", data.len());
        inside(from, at, data.len())?;
        self.0.download((from, at), data)
    }

    /// Adds `bytes` of scalars to others, which are in another buffer.
    pub(crate) fn accumulate(
        &self,
        ty: ScalarTy,
        (from, at): (&Buffer, usize),
        (to, to_at): (&Buffer, usize),
        bytes: usize,
    ) -> Result<()> {
        let _span = trace::transfer("accumulate", bytes);
        inside(from, at, bytes)?;
        inside(to, to_at, bytes)?;
        self.0.accumulate(ty, (from, at), (to, to_at), bytes)
    }
}

fn inside(buffer: &Buffer, at: usize, bytes: usize) -> Result<()> {
    match at.checked_add(bytes) {
        Some(end) if end <= buffer.bytes() => Ok(()),
        _ => Err(Error::Invalid(format!("{bytes} bytes from {at} on are outside a buffer of {}", buffer.bytes()))),
    }
}
