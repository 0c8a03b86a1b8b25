//! A block of device memory with a fixed size, shared by reference count and never written while shared.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use crate::backend::{Entries, HostBuffer, Storage};
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
    /// Host memory with old contents that count as zero until `zeroed` is done.
    dirty: bool,
    zeroed: Once,
    last_use: AtomicBool,
    /// What is known of its contents as a list of indices.
    distinct: Mutex<Option<(Entries, bool)>>,
}

impl Buffer {
    pub(crate) fn new(storage: Storage, bytes: usize, device: Device) -> Arc<Buffer> {
        Buffer::build(storage, bytes, device, false)
    }

    /// Host memory that counts as zero, whatever is in it: whoever comes first clears it, or writes all of it.
    pub(crate) fn to_zero(storage: Storage, bytes: usize, device: Device) -> Arc<Buffer> {
        Buffer::build(storage, bytes, device, true)
    }

    fn build(storage: Storage, bytes: usize, device: Device, dirty: bool) -> Arc<Buffer> {
        let (zeroed, last_use, distinct) = (Once::new(), AtomicBool::new(false), Mutex::new(None));
        Arc::new(Buffer { storage: Some(storage), bytes, device, dirty, zeroed, last_use, distinct })
    }

    /// Size in bytes of the contents.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The host memory, when it is that, with its contents.
    pub(crate) fn host(&self) -> Option<&HostBuffer> {
        let host = self.memory()?;
        if self.dirty {
            // SAFETY: who gets at the memory before this is done has claimed it instead (see `claim_zeros`).
            self.zeroed.call_once(|| unsafe { host.clear() });
        }
        Some(host)
    }

    /// Whether the contents count as zero without being zero; then the caller, who may write, has to write all of them.
    pub(crate) fn claim_zeros(&self) -> bool {
        let mut claimed = false;
        if self.dirty {
            self.zeroed.call_once(|| claimed = true);
        }
        claimed
    }

    /// Says that nobody needs the contents after the next launch.
    pub(crate) fn set_last_use(&self) {
        self.last_use.store(true, Ordering::Relaxed);
    }

    /// Whether nobody needs the contents after this launch.
    pub(crate) fn is_last_use(&self) -> bool {
        self.last_use.load(Ordering::Relaxed)
    }

    fn memory(&self) -> Option<&HostBuffer> {
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

    /// Whether somebody outside this crate has the memory, too.
    fn is_lent(&self) -> bool {
        #[cfg(feature = "cubecl")]
        return self.cube().is_some_and(|cube| cube.is_shared());
        #[cfg(not(feature = "cubecl"))]
        false
    }

    /// Whether entries of it are distinct: `look` says, once for the present contents.
    pub(crate) fn are_distinct(&self, entries: Entries, look: impl FnOnce() -> Result<bool>) -> Result<bool> {
        if self.is_lent() {
            return look();
        }
        let mut known = lock(&self.distinct);
        match *known {
            Some((of, distinct)) if of == entries => Ok(distinct),
            _ => Ok(known.insert((entries, look()?)).1),
        }
    }

    /// Makes `shared` the only reference to its buffer, by a copy if it is not. The caller is about to write.
    pub(crate) fn unshare(shared: &mut Arc<Buffer>) -> Result<()> {
        let lent = shared.is_lent();
        match Arc::get_mut(shared) {
            Some(own) if !lent => *own.distinct.get_mut().unwrap_or_else(PoisonError::into_inner) = None,
            _ => {
                let fresh = shared.device.alloc(shared.bytes)?;
                shared.device.copy(shared, 0, &fresh, 0, shared.bytes)?;
                *shared = fresh;
            }
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
