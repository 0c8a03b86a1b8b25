//! A block of device memory with a fixed size, shared by reference count and never written while shared.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::backend::{HostBuffer, Storage};
use crate::device::Device;
use crate::error::Result;

/// Locks even after a panic elsewhere: no invariant spans the locks of this crate.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory of one array. Whoever holds the only reference may write; see [`Buffer::unshare`].
pub(crate) struct Buffer {
    /// `None` only while it is dropped.
    storage: Option<Storage>,
    bytes: usize,
    device: Device,
}

impl Buffer {
    pub(crate) fn new(storage: Storage, bytes: usize, device: Device) -> Arc<Buffer> {
        Arc::new(Buffer { storage: Some(storage), bytes, device })
    }

    /// Size in bytes of the contents.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The host memory, when it is that.
    pub(crate) fn host(&self) -> Option<&HostBuffer> {
        match self.storage.as_ref() {
            Some(Storage::Host(host)) => Some(host),
            #[cfg(feature = "cubecl")]
            _ => None,
            #[cfg(not(feature = "cubecl"))]
            None => None,
        }
    }

    /// The memory of a CubeCL device, when it is that.
    #[cfg(feature = "cubecl")]
    pub(crate) fn cube(&self) -> Option<&crate::backend::cubecl::CubeBuffer> {
        match self.storage.as_ref() {
            Some(Storage::Cube(cube)) => Some(cube),
            _ => None,
        }
    }

    /// Makes `shared` the only reference to its buffer, by a copy if it is not.
    pub(crate) fn unshare(shared: &mut Arc<Buffer>) -> Result<()> {
        if Arc::get_mut(shared).is_none() {
            let fresh = shared.device.alloc(shared.bytes)?;
            shared.device.copy(shared, 0, &fresh, 0, shared.bytes)?;
            *shared = fresh;
        }
        Ok(())
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(storage) = self.storage.take() {
            self.device.reclaim(storage, self.bytes);
        }
    }
}
