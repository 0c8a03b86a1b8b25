//! Memory that others in this process have, too, who use CubeCL on the same device.

use cubecl::device::Device as _;
pub(crate) use cubecl::prelude::Runtime;
pub use cubecl::server::Handle;

use super::open::Place;
use super::{CubeBuffer, CubeDevice, Gpu, gpu};
use crate::buffer::{Backend, Block, Buffer, Storage};
use crate::error::{Error, Result};

/// What CubeCL's runtime `R` calls a device, in words.
pub(crate) fn name_of<R: Runtime>(place: &R::Device) -> String {
    format!("{:?} of {}", place.to_id(), std::any::type_name::<R>())
}

impl Gpu {
    /// Whether it is the one that CubeCL's runtime `R` calls `place`.
    pub(crate) fn is_at<R: Runtime>(&self, place: &R::Device) -> bool {
        self.device.opened.place == Place::of::<R>(place)
    }

    /// Puts the work of this thread into its queue.
    pub(crate) fn join(&self) -> Result<()> {
        self.device.queue().join().map_err(|e| self.device.error(e))
    }

    /// The first `bytes` of memory of others.
    pub(crate) fn adopt(&self, handle: Handle, bytes: usize) -> Result<Block> {
        let there = usize::try_from(handle.size_in_used()).unwrap_or(usize::MAX);
        if bytes > there || bytes > self.device.max_bytes() {
            let reason = format!("the handle has {there} bytes, and one array can have {}", self.device.max_bytes());
            return Err(Error::Memory { device: self.name().to_owned(), bytes, reason });
        }
        if !self.device.is_aligned(handle.offset_start.unwrap_or(0)) {
            return Err(Error::Invalid("adopt: the memory starts where no kernel can bind it; copy it".to_owned()));
        }
        self.pool().account(bytes);
        Ok(Block { storage: Storage::Device(Box::new(CubeBuffer::new(handle, bytes))), dirty: false })
    }

    /// Whether nothing that was launched has failed, and another can bind memory from byte `at` of an array on.
    pub(crate) fn can_lend(&self, at: usize) -> Result<bool> {
        self.device.settle()?;
        self.device.check_bounds()?;
        Ok(self.device.is_aligned(at as u64))
    }

    /// Some bytes of a buffer, which is not written any more.
    pub(crate) fn lend(&self, buffer: &Buffer, at: usize, bytes: usize) -> Result<Handle> {
        let Some(memory) = gpu::of(buffer) else {
            return Err(Error::Invalid("lend: the array is not in memory of its device".to_owned()));
        };
        self.device.check(memory)?;
        buffer.lend();
        let handle = memory.handle();
        let beyond = handle.size_in_used() - (at + bytes) as u64;
        Ok(handle.offset_start(at as u64).offset_end(beyond))
    }
}

impl CubeDevice {
    fn is_aligned(&self, offset: u64) -> bool {
        offset.is_multiple_of(self.properties.memory.alignment)
    }
}
