//! Kernels on GPUs, through CubeCL: wgpu (Vulkan, Metal, DX12, WebGPU) and CUDA. Nothing outside names CubeCL.
//!
//! `link` parses a program with what it calls, `build` turns it into CubeCL's representation at the first launch,
//! `kernel` gives it an identity, `launch` checks arguments and sizes scratch memory, `client` talks to the device.

mod bound;
mod build;
mod client;
mod gpu;
mod kernel;
mod launch;
mod open;
mod ordered;
mod sharing;
mod stock;
#[cfg(test)]
mod tests;
mod trial;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cubecl::ir::features::AtomicUsage;
use cubecl::ir::{DeviceProperties, ElemType, FloatKind, StorageType, Type};

use crate::buffer::LaunchArg;
use crate::error::{Error, Result};
use crate::kernel::{Access, ElemTy, ParamDef, ParamKind, Program, ScalarKind, ScalarTy};
use crate::sync::lock;
use client::Queue;
pub(crate) use gpu::Gpu;
pub use sharing::Handle;
pub(crate) use sharing::{Runtime, name_of};

/// A GPU.
struct CubeDevice {
    name: &'static str,
    opened: open::Opened,
    properties: Arc<DeviceProperties>,
    atomic_add: bool,
    work: Work,
    stock: Mutex<stock::Stock>,
    /// Sums do not depend on the order in which threads run.
    deterministic: AtomicBool,
    plans: Mutex<HashMap<launch::PlanKey, Arc<launch::Plan>>>,
    /// Plans launched since the last read that may report an exceeded bound.
    flagged: Mutex<Vec<Arc<launch::Plan>>>,
    /// Stands in for every empty array.
    zeros: Handle,
    /// Kernels launched since the last flush, for the message when it fails.
    recent: Mutex<Vec<String>>,
    /// Why no read can be trusted any more.
    broken: Mutex<Option<String>>,
}

/// What a device has been asked to do so far.
#[derive(Default)]
struct Work {
    pub launches: AtomicU64,
    /// Waits of the host for the device.
    pub waits: AtomicU64,
    /// Bytes of arrays from the host.
    pub uploaded: AtomicU64,
    /// Bytes of arrays to the host.
    pub downloaded: AtomicU64,
}

/// Memory on a GPU.
struct CubeBuffer {
    handle: Mutex<Handle>,
    bytes: usize,
    /// The launch that should have written it and failed.
    poison: Mutex<Option<String>>,
}

impl CubeBuffer {
    fn new(handle: Handle, bytes: usize) -> Self {
        Self { handle: Mutex::new(handle), bytes, poison: Mutex::default() }
    }

    fn handle(&self) -> Handle {
        lock(&self.handle).clone()
    }
}

impl CubeDevice {
    /// The device called `wgpu` or `cuda`, if it is there and runs kernels.
    pub fn open(name: &'static str) -> Result<Self> {
        let failed = |reason: String| Error::Device { device: name.to_owned(), reason };
        let opened = open::open(name).map_err(failed)?;
        let properties = client::shared_properties(&*opened.queue);
        let float = if opened.double { FloatKind::F64 } else { FloatKind::F32 };
        let adds = |kind| {
            let ty = Type::new(StorageType::Atomic(ElemType::Float(kind)));
            properties.atomic_type_usage(ty).contains(AtomicUsage::Add)
        };
        let atomic_add = adds(FloatKind::F32) && adds(float);
        let zeros = opened.queue.create(&[0; 128]).map_err(failed)?;
        let device = Self {
            name,
            opened,
            properties,
            atomic_add,
            work: Work::default(),
            stock: Mutex::default(),
            deterministic: AtomicBool::new(false),
            plans: Mutex::default(),
            flagged: Mutex::default(),
            zeros,
            recent: Mutex::default(),
            broken: Mutex::default(),
        };
        device.try_out()?;
        Ok(device)
    }

    fn queue(&self) -> &dyn Queue {
        &*self.opened.queue
    }

    /// Adapter, language and scalar types.
    pub fn description(&self) -> String {
        self.opened.description.clone()
    }

    /// Whether it is more than software on the processor.
    pub fn is_hardware(&self) -> bool {
        self.opened.hardware
    }

    pub fn supports_f64(&self) -> bool {
        self.opened.double
    }

    /// Whether sums have the same bits in each run.
    pub fn is_deterministic(&self) -> bool {
        self.deterministic.load(Ordering::Relaxed)
    }

    /// Makes sums have the same bits in each run, or not.
    pub fn set_deterministic(&self, on: bool) {
        self.deterministic.store(on, Ordering::Relaxed);
    }

    /// Most buffers of one kernel.
    pub fn max_bindings(&self) -> usize {
        self.properties.hardware.max_bindings as usize
    }

    /// Most bytes of one buffer.
    pub fn max_bytes(&self) -> usize {
        usize::try_from(self.properties.memory.max_page_size).unwrap_or(usize::MAX)
    }

    fn error(&self, reason: String) -> Error {
        Error::Device { device: self.name.to_owned(), reason }
    }

    /// Memory that is zero, or of unspecified contents.
    pub fn alloc(&self, bytes: usize, zero: bool) -> Result<CubeBuffer> {
        if bytes > self.max_bytes() {
            let reason = format!("one array can have {} here; split it, or use the cpu device", self.max_bytes());
            return Err(Error::Memory { device: self.name.to_owned(), bytes, reason });
        }
        if zero && let Some(handle) = self.stocked(bytes)? {
            return Ok(CubeBuffer::new(handle, bytes));
        }
        let handle = self.queue().empty(bytes.max(16)).map_err(|e| self.error(e))?;
        let buffer = CubeBuffer::new(handle, bytes);
        if zero {
            self.clear(&buffer, 0, bytes)?;
        }
        Ok(buffer)
    }

    /// Host to device, from byte `at` on.
    pub fn upload(&self, to: &CubeBuffer, at: usize, data: &[u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        self.work.uploaded.fetch_add(data.len() as u64, Ordering::Relaxed);
        let handle = self.queue().create(data).map_err(|e| self.error(e))?;
        if at == 0 && data.len() == to.bytes {
            *lock(&to.handle) = handle;
            *lock(&to.poison) = None;
            return Ok(());
        }
        self.copy(&CubeBuffer::new(handle, data.len()), 0, to, at, data.len())
    }

    /// Device to host, from byte `at` on.
    ///
    /// # Errors
    /// When anything launched before has failed.
    pub fn download(&self, from: &CubeBuffer, at: usize, data: &mut [u8]) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        self.check(from)?;
        self.settle()?;
        self.check_bounds()?;
        self.work.waits.fetch_add(1, Ordering::Relaxed);
        self.work.downloaded.fetch_add(data.len() as u64, Ordering::Relaxed);
        let end = from.handle().size_in_used() - (at + data.len()) as u64;
        let part = from.handle().offset_start(at as u64).offset_end(end);
        let bytes = self.queue().read(part).map_err(|e| self.error(e))?;
        self.settle()?;
        match bytes.get(..data.len()) {
            Some(bytes) => data.copy_from_slice(bytes),
            None => return Err(self.error(format!("a read of {} bytes gave {}", data.len(), bytes.len()))),
        }
        Ok(())
    }

    /// Copies between two buffers.
    pub fn copy(&self, from: &CubeBuffer, at: usize, to: &CubeBuffer, to_at: usize, bytes: usize) -> Result<()> {
        let part = |buffer, at: usize| LaunchArg::Buffer {
            buffer,
            offset: (at / 4) as u32,
            len: (bytes / 4) as u32,
            elem: ElemTy::U32,
        };
        self.launch(&COPY, ScalarTy::F32, (bytes / 4).into(), &[part(from, at), part(to, to_at)])?;
        if to_at == 0 && bytes == to.bytes {
            *lock(&to.poison) = None;
        }
        Ok(())
    }

    /// Repeats a pattern: here if it has 4 or 8 bytes, else brought from the host.
    pub fn fill(&self, to: &CubeBuffer, at: usize, bytes: usize, pattern: &[u8]) -> Result<()> {
        let word = |bytes: &[u8; 4]| LaunchArg::U32(u32::from_ne_bytes(*bytes));
        match pattern.as_chunks() {
            _ if pattern.iter().all(|&b| b == 0) => self.clear(to, at, bytes),
            ([one], []) => self.repeat(to, at, bytes, [word(one); 2]),
            ([even, odd], []) => self.repeat(to, at, bytes, [word(even), word(odd)]),
            _ => self.upload(to, at, &pattern.repeat(bytes.checked_div(pattern.len()).unwrap_or(0))),
        }
    }

    fn repeat(&self, to: &CubeBuffer, at: usize, bytes: usize, words: [LaunchArg<'_, CubeBuffer>; 2]) -> Result<()> {
        if at == 0 && bytes == to.bytes {
            *lock(&to.poison) = None;
        }
        let len = (bytes / 4) as u32;
        let arg = LaunchArg::Buffer { buffer: to, offset: (at / 4) as u32, len, elem: ElemTy::U32 };
        self.launch(&REPEAT, ScalarTy::F32, (len as usize).into(), &[arg, words[0], words[1]])
    }

    /// Sets bytes to zero.
    pub fn clear(&self, to: &CubeBuffer, at: usize, bytes: usize) -> Result<()> {
        let len = (bytes / 4) as u32;
        let arg = LaunchArg::Buffer { buffer: to, offset: (at / 4) as u32, len, elem: ElemTy::U32 };
        self.launch(&CLEAR, ScalarTy::F32, (len as usize).into(), &[arg])
    }

    /// Sends what is queued to the device, and hears whether it failed.
    fn settle(&self) -> Result<()> {
        let _alone = client::GATE.write().unwrap_or_else(PoisonError::into_inner);
        self.settle_alone()
    }

    /// Waits until everything launched so far is done.
    pub fn wait(&self) -> Result<()> {
        self.settle()?;
        self.work.waits.fetch_add(1, Ordering::Relaxed);
        self.queue().sync().map_err(|e| self.error(e))
    }

    /// [`CubeDevice::settle`] for the holder of the gate.
    fn settle_alone(&self) -> Result<()> {
        let flushed = self.queue().flush();
        let recent = std::mem::take(&mut *lock(&self.recent));
        if let Err(reason) = flushed {
            let message = format!("a launch failed, one of {}: {reason}", recent.join(", "));
            *lock(&self.broken) = Some(message);
        }
        match &*lock(&self.broken) {
            Some(message) => Err(self.error(message.clone())),
            None => Ok(()),
        }
    }

    /// An error when `buffer` holds what a failed launch left.
    fn check(&self, buffer: &CubeBuffer) -> Result<()> {
        match &*lock(&buffer.poison) {
            Some(message) => Err(self.error(format!("an array that a failed launch should have written: {message}"))),
            None => Ok(()),
        }
    }
}

const fn whole(name: &'static str, access: Access) -> ParamDef {
    ParamDef { name, kind: ParamKind::Array { elem: ElemTy::U32, access, owned: true } }
}

const fn word(name: &'static str) -> ParamDef {
    ParamDef { name, kind: ParamKind::Scalar { ty: ScalarKind::U32, comptime: false } }
}

static COPY: Program = Program {
    file: file!(),
    params: &[whole("from", Access::Read), whole("to", Access::Store)],
    text: "fn copy\narray 0 read u32 from owned\narray 1 store u32 to owned\nbody\n%0 : usize = pos\n\
           %1 : u32 = load 0 %0 @1\nstore 1 %0 %1 @1\n",
    work: 0,
    callees: &[],
    writes: &[],
};

/// `to[i] = if i % 2 == 0 { even } else { odd }`
static REPEAT: Program = Program {
    file: file!(),
    params: &[whole("to", Access::Store), word("even"), word("odd")],
    text: "fn repeat\narray 0 store u32 to owned\nscalar 1 %0 u32 even\nscalar 2 %1 u32 odd\nbody\n\
           %2 : usize = pos\n%3 : usize = const 2\n%4 : usize = rem %2 %3\n%5 : usize = const 0\n\
           %6 : bool = eq %4 %5\n%7 : u32 = select %6 %0 %1\nstore 0 %2 %7 @1\n",
    work: 0,
    callees: &[],
    writes: &[],
};

static CLEAR: Program = Program {
    file: file!(),
    params: &[whole("to", Access::Store)],
    text: "fn clear\narray 0 store u32 to owned\nbody\n%0 : usize = pos\n%1 : u32 = const 0\nstore 0 %0 %1 @1\n",
    work: 0,
    callees: &[],
    writes: &[],
};
