//! Memory shared with others in this process who use CubeCL 0.10 on the same device, [Burn](https://burn.dev) for one:
//! copied neither to the host nor on the device.
//!
//! What is shared has readers only. An array over shared memory copies it, on the device, before it is written, as it does
//! for tapes; and the others have to keep to that: Burn does, which writes into memory only where nobody else has a handle
//! of it.
//!
//! **Order.** CubeCL queues work by stream, and a thread has its own; between streams of wgpu it orders a read after the
//! write, but not the next write, or the reuse of memory, after the read. Here all threads have one stream. So the first
//! [`adopt`] or [`lend`] of a thread puts whatever that thread asks CubeCL for from then on into the same stream: one queue, in
//! the order of the program. A thread that only works with memory that another one has lent has to [`join`] itself.

use std::any::Any;

pub use crate::backend::cubecl::Handle;

use crate::array::{AnyArray, Array};
use crate::backend::cubecl::{Gpu, Runtime, name_of};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::tape::context;

/// Whether `device` is the one that CubeCL's runtime `R` calls `place`, so that memory can be shared. `Device::wgpu()` is
/// `WgpuDevice::DefaultDevice`, `Device::cuda()` is the first one.
pub fn is_on<R: Runtime>(device: &Device, place: &R::Device) -> bool {
    gpu(device).is_ok_and(|gpu| gpu.is_at::<R>(place))
}

/// Puts the work of this thread, whoever asks CubeCL for it, into the queue of `device`.
///
/// # Errors
/// When `device` is not of CubeCL, or something that this thread asked for before has failed.
pub fn join(device: &Device) -> Result<()> {
    gpu(device)?.join()
}

/// An array of `len` elements over memory of others, from the start of `handle` on, without a copy. Nobody may write to
/// that memory any more.
///
/// # Errors
/// When `device` is not `place` of the runtime `R`, the memory is too small or not aligned, or a step of a rollout runs,
/// which could not find it again.
pub fn adopt<R: Runtime, T: Element>(
    device: &Device,
    place: &R::Device,
    handle: Handle,
    len: usize,
) -> Result<Array<T>> {
    if !is_on::<R>(device, place) {
        return Err(Error::DeviceMismatch { what: "adopt", a: device.name().to_owned(), b: name_of::<R>(place) });
    }
    outside_steps("adopt")?;
    let gpu = gpu(device)?;
    gpu.join()?;
    Array::on(device, len, |bytes| {
        let buffer = Buffer::over(device.backend(), gpu.adopt(handle, bytes)?, bytes);
        buffer.lend();
        Ok(buffer)
    })
}

/// A handle to the elements of an array, for others to read, or to write once it is the only one. The array copies them
/// before it is written again. No gradient flows through it by itself.
///
/// # Errors
/// When the array is not on a device of CubeCL, something that was launched has failed, or a step of a rollout runs.
pub fn lend<T: Element>(array: &Array<T>) -> Result<Handle> {
    let gpu = gpu(array.device())?;
    outside_steps("lend")?;
    gpu.join()?;
    let (at, _) = array.byte_range();
    match gpu.can_lend(at)? {
        true => give(gpu, array.as_any()),
        false => give(gpu, array.detached()?.as_any()),
    }
}

fn give(gpu: &Gpu, array: &AnyArray) -> Result<Handle> {
    let (at, bytes) = array.byte_range();
    // Under the lock: a writer finds the mark afterwards.
    let cell = array.lock();
    gpu.lend(&cell.buffer, at, bytes)
}

fn gpu(device: &Device) -> Result<&Gpu> {
    let backend: &dyn Any = &**device.backend();
    backend.downcast_ref().ok_or_else(|| {
        let reason = "its memory is not CubeCL's, so it cannot be shared; copy through the host".to_owned();
        Error::Device { device: device.name().to_owned(), reason }
    })
}

/// A replayed step has to find what it found at first, which nobody can see to here.
fn outside_steps(what: &str) -> Result<()> {
    match context::is_stepping() {
        true => Err(Error::Invalid(format!("{what} inside a step of a rollout; do it before, or after"))),
        false => Ok(()),
    }
}
