//! One queue of a device, whichever runtime it is of; and how its errors are heard.
//!
//! CubeCL works on a thread of its own: a launch returns nothing, an error appears at the next flush at best, and a
//! panic there is only logged. So faults of that thread are collected here, by a hook, and asked for before every read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, Once, RwLock};

use cubecl::ir::{DeviceProperties, StorageType, Type};
use cubecl::prelude::{
    AddressType, ArrayArg, ComputeClient, CubeCount, CubeDim, KernelLauncher, KernelSettings, Runtime,
};
use cubecl::stream_id::StreamId;
use cubecl_handle::Handle;

use super::kernel::Kernel;
use crate::sync::lock;

/// The type of memory handles.
pub(crate) mod cubecl_handle {
    pub(crate) use cubecl::server::Handle;
}

/// A scalar argument.
#[derive(Clone, Copy)]
pub(crate) struct Word {
    pub bytes: [u8; 8],
    pub ty: StorageType,
}

/// What a kernel is launched with.
pub(crate) struct Call<'a> {
    pub kernel: &'a Kernel,
    pub cubes: (u32, u32),
    /// Buffers, their scalars and number of scalars.
    pub buffers: Vec<(Handle, StorageType, usize)>,
    pub words: &'a [Word],
}

/// The operations of a device.
pub(crate) trait Queue: Send + Sync {
    fn create(&self, data: &[u8]) -> Result<Handle, String>;
    fn empty(&self, bytes: usize) -> Result<Handle, String>;
    fn read(&self, handle: Handle) -> Result<Vec<u8>, String>;
    fn launch(&self, call: Call<'_>) -> Result<(), String>;
    /// Sends everything to the device; an error of anything before.
    fn flush(&self) -> Result<(), String>;
    /// Waits until everything before is done.
    fn sync(&self) -> Result<(), String>;
    /// Puts what this thread asks other clients for into this queue too, from now on.
    fn join(&self) -> Result<(), String>;
    fn properties(&self) -> &DeviceProperties;
}

pub(crate) struct Client<R: Runtime>(ComputeClient<R>);

/// All threads share one stream: between two, launches on the same arrays lose updates.
const STREAM: StreamId = StreamId { value: 0 };

impl<R: Runtime> Client<R> {
    pub fn new(mut client: ComputeClient<R>) -> Self {
        // SAFETY: whoever else has handles of it is on the same stream, see `shared`.
        unsafe { client.set_stream(STREAM) };
        Self(client)
    }
}

impl<R: Runtime> Queue for Client<R> {
    fn create(&self, data: &[u8]) -> Result<Handle, String> {
        guarded(|| self.0.create_from_slice(data))
    }

    fn empty(&self, bytes: usize) -> Result<Handle, String> {
        guarded(|| self.0.empty(bytes))
    }

    fn read(&self, handle: Handle) -> Result<Vec<u8>, String> {
        let read = guarded(|| self.0.read_one(handle))?;
        read.map(|bytes| bytes.to_vec()).map_err(|e| brief(&format!("{e:?}")))
    }

    fn launch(&self, call: Call<'_>) -> Result<(), String> {
        guarded(|| {
            let settings =
                KernelSettings::default().cube_dim(CubeDim::new_1d(call.kernel.width)).address_type(AddressType::U32);
            let mut launcher = KernelLauncher::<R>::new(settings);
            for (handle, ty, len) in call.buffers {
                // SAFETY: the length is that of the buffer, and the kernel clamps every index to it.
                let arg = unsafe { ArrayArg::from_raw_parts(handle, len) };
                launcher.register_array(arg, Type::new(ty));
            }
            for word in call.words {
                launcher.register_scalar_raw(&word.bytes[..word.ty.size()], word.ty);
            }
            let (x, y) = call.cubes;
            // SAFETY: the kernel clamps or guards each access itself, and its loops are bounded.
            unsafe { launcher.launch_unchecked(CubeCount::Static(x, y, 1), call.kernel.clone(), &self.0) };
        })
    }

    fn flush(&self) -> Result<(), String> {
        let flushed = guarded(|| self.0.flush());
        let faults = std::mem::take(&mut *lock(&FAULTS));
        match flushed {
            _ if !faults.is_empty() => Err(brief(&faults.join("; "))),
            Ok(Ok(())) => Ok(()),
            Ok(Err(e)) => Err(brief(&format!("{e:?}"))),
            Err(e) => Err(e),
        }
    }

    fn sync(&self) -> Result<(), String> {
        guarded(|| cubecl::future::block_on(self.0.sync()))?.map_err(|e| brief(&format!("{e:?}")))
    }

    fn join(&self) -> Result<(), String> {
        let before = StreamId::current();
        if before == STREAM {
            return Ok(());
        }
        let mut there = self.0.clone();
        // SAFETY: it only sends off what this thread has asked for there.
        unsafe { there.set_stream(before) };
        guarded(|| there.flush())?.map_err(|e| brief(&format!("{e:?}")))?;
        // SAFETY: a stream is a queue and a pool of memory. Nothing of this thread is left in its old queue; of the old
        // pool it only gives memory back.
        unsafe { StreamId::swap(STREAM) };
        Ok(())
    }

    fn properties(&self) -> &DeviceProperties {
        self.0.properties()
    }
}

/// What went wrong on the devices' threads and in their drivers.
static FAULTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Launches share it; who wants to know which launch failed has it alone.
pub(crate) static GATE: RwLock<()> = RwLock::new(());

/// Notes an error that nobody else would hear of.
pub(crate) fn fault(message: String) {
    lock(&FAULTS).push(message);
}

std::thread_local! {
    /// Whether a panic on this thread is turned into an error.
    static QUIET: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Panics of CubeCL's device threads, and those inside [`guarded`], are noted instead of printed.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let thread = std::thread::current();
            let device = thread.name().is_some_and(|name| name.starts_with("DSD-") || name.starts_with("DSU-"));
            if device {
                fault(info.to_string());
            } else if !QUIET.get() {
                before(info);
            }
        }));
    });
}

/// Runs what may panic inside CubeCL.
pub(crate) fn guarded<T>(task: impl FnOnce() -> T) -> Result<T, String> {
    let before = QUIET.replace(true);
    let done = catch_unwind(AssertUnwindSafe(task));
    QUIET.set(before);
    done.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let faults = std::mem::take(&mut *lock(&FAULTS));
        brief(&format!("{} {text}", faults.join("; ")))
    })
}

/// The part of a message that fits into an error: the rest is the source of a shader, or a backtrace.
fn brief(message: &str) -> String {
    let message = message.split("backtrace").next().unwrap_or(message);
    let short: String = message.chars().take(600).collect();
    short.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Properties shared with the kernels.
pub(crate) fn shared_properties(queue: &dyn Queue) -> Arc<DeviceProperties> {
    Arc::new(queue.properties().clone())
}
