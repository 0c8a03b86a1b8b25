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

use cubecl::device::Device as _;
use cubecl::prelude::Runtime;
pub use cubecl::server::Handle;

use super::open::Place;
use super::{CubeBuffer, CubeDevice};
use crate::array::{AnyArray, Array};
use crate::device::{Device, Kind};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::tape::context;
use std::sync::atomic::Ordering;

/// Whether `device` is the one that CubeCL's runtime `R` calls `place`, so that memory can be shared. `Device::wgpu()` is
/// `WgpuDevice::DefaultDevice`, `Device::cuda()` is the first one.
pub fn is_on<R: Runtime>(device: &Device, place: &R::Device) -> bool {
    matches!(device.kind(), Kind::Cube(cube) if cube.opened.place == Place::of::<R>(place))
}

/// Puts the work of this thread, whoever asks CubeCL for it, into the queue of `device`.
///
/// # Errors
/// When `device` is not of CubeCL, or something that this thread asked for before has failed.
pub fn join(device: &Device) -> Result<()> {
    let cube = cube(device)?;
    cube.queue().join().map_err(|e| cube.error(e))
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
        let (a, b) = (device.name().to_owned(), format!("{:?} of {}", place.to_id(), std::any::type_name::<R>()));
        return Err(Error::DeviceMismatch { what: "adopt", a, b });
    }
    outside_steps("adopt")?;
    join(device)?;
    let cube = cube(device)?;
    Array::on(device, len, |bytes| {
        let there = usize::try_from(handle.size_in_used()).unwrap_or(usize::MAX);
        if bytes > there || bytes > cube.max_bytes() {
            let reason = format!("the handle has {there} bytes, and one array can have {}", cube.max_bytes());
            return Err(Error::Memory { device: device.name().to_owned(), bytes, reason });
        }
        if !cube.is_aligned(handle.offset_start.unwrap_or(0)) {
            return Err(Error::Invalid("adopt: the memory starts where no kernel can bind it; copy it".to_owned()));
        }
        let memory = CubeBuffer::new(handle, bytes);
        memory.shared.store(true, Ordering::Relaxed);
        Ok(device.adopt(memory, bytes))
    })
}

/// A handle to the elements of an array, for others to read, or to write once it is the only one. The array copies them
/// before it is written again. No gradient flows through it by itself.
///
/// # Errors
/// When the array is not on a device of CubeCL, something that was launched has failed, or a step of a rollout runs.
pub fn lend<T: Element>(array: &Array<T>) -> Result<Handle> {
    let cube = cube(array.device())?;
    outside_steps("lend")?;
    join(array.device())?;
    cube.settle()?;
    cube.check_bounds()?;
    let (at, _) = array.byte_range();
    if !cube.is_aligned(at as u64) {
        return give(cube, array.detached()?.as_any());
    }
    give(cube, array.as_any())
}

fn give(cube: &CubeDevice, array: &AnyArray) -> Result<Handle> {
    let (at, bytes) = array.byte_range();
    // Under the lock: whoever writes afterwards finds the mark.
    let cell = array.lock();
    let Some(memory) = cell.buffer.cube() else {
        return Err(Error::Invalid("lend: the array is not in memory of its device".to_owned()));
    };
    cube.check(memory)?;
    memory.shared.store(true, Ordering::Relaxed);
    let handle = memory.handle();
    let beyond = handle.size_in_used() - (at + bytes) as u64;
    Ok(handle.offset_start(at as u64).offset_end(beyond))
}

fn cube(device: &Device) -> Result<&CubeDevice> {
    match device.kind() {
        Kind::Cube(cube) => Ok(cube),
        Kind::Cpu => {
            let reason = "its memory is not CubeCL's, so it cannot be shared; copy through the host".to_owned();
            Err(Error::Device { device: device.name().to_owned(), reason })
        }
    }
}

/// A replayed step has to find what it found at first, which nobody can see to here.
fn outside_steps(what: &str) -> Result<()> {
    match context::is_stepping() {
        true => Err(Error::Invalid(format!("{what} inside a step of a rollout; do it before, or after"))),
        false => Ok(()),
    }
}

impl CubeDevice {
    fn is_aligned(&self, offset: u64) -> bool {
        offset.is_multiple_of(self.properties.memory.alignment)
    }
}
