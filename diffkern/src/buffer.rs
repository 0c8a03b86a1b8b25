//! A block of memory with a fixed size, shared by reference count and never written while shared; and what a backend does
//! with such blocks.

mod backend;
mod host;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod huge;
mod pool;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError};

pub(crate) use backend::{Backend, Block, LaunchArg, Part, Run, Storage};
#[cfg(doc)]
pub(crate) use host::BEYOND;
pub(crate) use host::HostBuffer;
pub(crate) use pool::Pool;

use crate::error::{Error, Result};
use crate::faults;
use crate::sync::lock;
use crate::trace;

/// The entries of a list that a launch stores by, and the elements that they may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entries {
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) stride: u32,
    /// Elements of the array that is stored to; an index beyond is a fault of its own.
    pub(crate) elements: u32,
}

/// Memory of one array. Whoever holds the only reference may write; see [`Buffer::unshare`].
pub(crate) struct Buffer {
    /// `None` only while it is dropped.
    storage: Option<Storage>,
    bytes: usize,
    owner: Arc<dyn Backend>,
    /// Somebody outside this crate has the memory, too: it is not written any more.
    lent: AtomicBool,
    /// Host memory with old contents that count as zero until `zeroed` is done.
    dirty: bool,
    zeroed: Once,
    last_use: AtomicBool,
    /// What is known of its contents as a list of indices.
    distinct: Mutex<Option<(Entries, bool)>>,
}

impl Buffer {
    /// Memory of unspecified contents; with `zero`, of zeros.
    pub(crate) fn alloc(owner: &Arc<dyn Backend>, bytes: usize, zero: bool) -> Result<Arc<Buffer>> {
        if faults::allocation(bytes) {
            return Err(Buffer::out_of_memory(&**owner, bytes));
        }
        Ok(Buffer::over(owner, owner.alloc(bytes, zero)?, bytes))
    }

    /// Over memory of a backend.
    pub(crate) fn over(owner: &Arc<dyn Backend>, block: Block, bytes: usize) -> Arc<Buffer> {
        Arc::new(Buffer {
            storage: Some(block.storage),
            bytes,
            owner: owner.clone(),
            lent: AtomicBool::new(false),
            dirty: block.dirty,
            zeroed: Once::new(),
            last_use: AtomicBool::new(false),
            distinct: Mutex::new(None),
        })
    }

    pub(crate) fn out_of_memory(owner: &dyn Backend, bytes: usize) -> Error {
        let reason = format!("the system has none left, {} bytes are in use", owner.pool().live());
        Error::Memory { device: owner.name().to_owned(), bytes, reason }
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
        match self.storage.as_ref()? {
            Storage::Host(host) => Some(host),
            Storage::Device(_) => None,
        }
    }

    /// The memory of a backend that has its own kind of it.
    #[cfg(feature = "cubecl")]
    pub(crate) fn device(&self) -> Option<&(dyn std::any::Any + Send + Sync)> {
        match self.storage.as_ref()? {
            Storage::Host(_) => None,
            Storage::Device(memory) => Some(&**memory),
        }
    }

    /// Says that somebody outside this crate has the memory, too.
    #[cfg(feature = "cubecl")]
    pub(crate) fn lend(&self) {
        self.lent.store(true, Ordering::Relaxed);
    }

    fn is_lent(&self) -> bool {
        self.lent.load(Ordering::Relaxed)
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
                let fresh = Buffer::alloc(&shared.owner, shared.bytes, false)?;
                let _span = trace::transfer("copy", shared.bytes);
                shared.owner.copy((shared, 0), (&fresh, 0), shared.bytes)?;
                *shared = fresh;
            }
        }
        Ok(())
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(storage) = self.storage.take() {
            self.owner.reclaim(storage, self.bytes);
        }
    }
}
