//! Where arrays live and kernels run, chosen at run time.

mod memory;
mod transfer;

use std::sync::{Arc, LazyLock};

use crate::array::{Array, Blank};
use crate::backend::{HostBuffer, Storage};
use crate::buffer::Buffer;
use crate::element::{Element, Scalar};
use crate::error::{Error, Result};
use crate::faults;
use crate::kernel::ScalarTy;
use crate::tape::context;
use memory::Pool;

/// A device. Cloning gives another handle to the same one.
///
/// ```
/// use diffkern::prelude::*;
///
/// let dev = Device::best(); // a GPU, where the program was built for one and there is one; else the CPU
/// let host = Device::by_name("cpu")?;
/// let x = dev.array(&[1.0f32, 2.0])?;
/// let y = host.array(&x.to_vec()?)?;
/// assert_eq!(y.device(), &Device::cpu());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    name: String,
    kind: Kind,
    pool: Pool,
}

pub(crate) enum Kind {
    Cpu,
    #[cfg(feature = "cubecl")]
    Cube(Box<crate::backend::cubecl::CubeDevice>),
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({})", self.name())
    }
}

impl Device {
    fn new(name: &str, kind: Kind) -> Device {
        Device(Arc::new(Inner { name: name.to_owned(), kind, pool: Pool::default() }))
    }

    /// The processor: always there, `f32` and `f64`.
    pub fn cpu() -> Device {
        static CPU: LazyLock<Device> = LazyLock::new(|| Device::new("cpu", Kind::Cpu));
        CPU.clone()
    }

    /// A device that is not [`Device::cpu`].
    #[cfg(test)]
    pub(crate) fn another_cpu() -> Device {
        Device::new("cpu", Kind::Cpu)
    }

    /// A GPU through Vulkan, Metal, DX12 or WebGPU; `f32` only.
    ///
    /// # Errors
    /// When this build lacks the feature `wgpu`, the machine has no adapter, or a kernel run for a trial fails.
    pub fn wgpu() -> Result<Device> {
        Device::cube("wgpu")
    }

    /// An NVIDIA GPU; `f32` and `f64`.
    ///
    /// # Errors
    /// When this build lacks the feature `cuda`, the machine has no such device, lacks what kernels are compiled with
    /// (NVRTC and the headers of the CUDA toolkit), or a kernel run for a trial fails. The message says what to install.
    pub fn cuda() -> Result<Device> {
        Device::cube("cuda")
    }

    /// CUDA, then a hardware wgpu adapter, then the CPU: the first that is there.
    pub fn best() -> Device {
        #[cfg(feature = "cubecl")]
        {
            if let Ok(device) = Device::cuda() {
                return device;
            }
            if let Ok(device) = Device::wgpu()
                && device.is_hardware()
            {
                return device;
            }
        }
        Device::cpu()
    }

    /// The device called `cpu`, `wgpu`, `cuda`, or `best`.
    ///
    /// # Errors
    /// When there is none of this name, or it is not available.
    pub fn by_name(name: &str) -> Result<Device> {
        match name {
            "cpu" => Ok(Device::cpu()),
            "wgpu" => Device::wgpu(),
            "cuda" => Device::cuda(),
            "best" => Ok(Device::best()),
            _ => {
                Err(Error::Device { device: name.to_owned(), reason: "known are cpu, wgpu, cuda and best".to_owned() })
            }
        }
    }

    /// Name and description of each device that this build can use on this machine.
    pub fn available() -> Vec<(String, String)> {
        Device::known().into_iter().filter_map(|(name, found)| Some((name, found.ok()?))).collect()
    }

    /// Name of each device that diffkern knows, with its description, or the reason why it cannot be used here.
    pub fn known() -> Vec<(String, Result<String>)> {
        let describe = |name| (name, Device::by_name(name).map(|device| device.description()));
        ["cpu", "wgpu", "cuda"].into_iter().map(describe).map(|(name, found)| (name.to_owned(), found)).collect()
    }

    fn description(&self) -> String {
        match self.kind() {
            Kind::Cpu => {
                let threads = std::thread::available_parallelism().map_or(1, usize::from);
                format!("{threads} threads, f32 and f64")
            }
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => cube.description(),
        }
    }

    #[cfg(not(feature = "cubecl"))]
    fn cube(name: &'static str) -> Result<Device> {
        Err(Error::Device {
            device: name.to_owned(),
            reason: format!("this build has no support for it; build with `--features {name}`"),
        })
    }

    #[cfg(feature = "cubecl")]
    fn cube(name: &'static str) -> Result<Device> {
        use crate::backend::cubecl::CubeDevice;
        static OPEN: std::sync::Mutex<Vec<Device>> = std::sync::Mutex::new(Vec::new());
        let mut open = crate::buffer::lock(&OPEN);
        if let Some(device) = open.iter().find(|d| d.name() == name) {
            return Ok(device.clone());
        }
        let device = Device::new(name, Kind::Cube(Box::new(CubeDevice::open(name)?)));
        open.push(device.clone());
        Ok(device)
    }

    #[cfg(feature = "cubecl")]
    fn is_hardware(&self) -> bool {
        match self.kind() {
            Kind::Cpu => false,
            Kind::Cube(cube) => cube.is_hardware(),
        }
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// Whether it is the CPU.
    pub(crate) fn is_cpu(&self) -> bool {
        matches!(self.kind(), Kind::Cpu)
    }

    /// `cpu`, `wgpu` or `cuda`.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether arrays of `f64` can live here.
    pub fn supports_f64(&self) -> bool {
        match self.kind() {
            Kind::Cpu => true,
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => cube.supports_f64(),
        }
    }

    /// Whether the same launches give the same bits in each run. Always so on the CPU; on a GPU as chosen by
    /// [`Device::set_deterministic`].
    pub fn is_deterministic(&self) -> bool {
        match self.kind() {
            Kind::Cpu => true,
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => cube.is_deterministic(),
        }
    }

    /// Whether old values of `fetch_add` are the same in each run.
    pub(crate) fn repeats_fetches(&self) -> bool {
        matches!(self.kind(), Kind::Cpu)
    }

    /// Programs that a GPU has been asked to run so far (with those that copy, clear and add up arrays), and how often the
    /// host has waited for it. Of the CPU, where there is no queue, both are 0.
    pub fn queued(&self) -> (u64, u64) {
        match self.kind() {
            Kind::Cpu => (0, 0),
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => {
                use std::sync::atomic::Ordering::Relaxed;
                (cube.work.launches.load(Relaxed), cube.work.waits.load(Relaxed))
            }
        }
    }

    /// Bytes that arrays on a GPU have got from the host so far, and given to it. Of the CPU, where both are in the same
    /// memory, both are 0. Scalars of launches are not counted.
    pub fn transferred(&self) -> (u64, u64) {
        match self.kind() {
            Kind::Cpu => (0, 0),
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => {
                use std::sync::atomic::Ordering::Relaxed;
                (cube.work.uploaded.load(Relaxed), cube.work.downloaded.load(Relaxed))
            }
        }
    }

    /// Chooses for launches from now on, through all handles, whether sums on a GPU have the same bits in each run. Where
    /// threads add reals to elements of their choice, atomic additions round in an order that nobody controls; instead,
    /// a fixed number of threads then adds into copies, which are added up in order. That takes up to 64 MiB for each
    /// array added to, two more launches, and fewer threads, so it is slower. `f64` can be added so where a device has
    /// no atomic addition of it. Nothing changes on the CPU.
    pub fn set_deterministic(&self, on: bool) {
        match self.kind() {
            Kind::Cpu => {
                let _ = on;
            }
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => cube.set_deterministic(on),
        }
    }

    /// Bytes in live arrays, tapes and snapshots on this device.
    pub fn bytes_live(&self) -> usize {
        self.0.pool.live()
    }

    /// The most that [`Device::bytes_live`] has been. On the CPU the memory taken from the system for arrays,
    /// recycled blocks included, never exceeds it.
    pub fn bytes_peak(&self) -> usize {
        self.0.pool.peak()
    }

    /// Waits until everything launched so far is done.
    pub(crate) fn wait(&self) -> Result<()> {
        match self.kind() {
            Kind::Cpu => Ok(()),
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => cube.wait(),
        }
    }

    /// An array with the given elements.
    ///
    /// # Errors
    /// When memory is short or the device does not have the type.
    pub fn array<T: Element>(&self, elements: &[T]) -> Result<Array<T>> {
        let bytes = bytes_of(elements);
        context::observe_upload(bytes);
        self.filled(elements.len(), bytes)
    }

    /// `n` elements that are 0.
    ///
    /// # Errors
    /// As [`Device::array`].
    pub fn zeros<T: Element>(&self, n: usize) -> Result<Array<T>> {
        Array::blank_on(self, n, Blank::Zeros)
    }

    /// `n` elements that are `value`.
    ///
    /// # Errors
    /// As [`Device::array`].
    pub fn full<T: Element>(&self, n: usize, value: T) -> Result<Array<T>> {
        let element = bytes_of(std::slice::from_ref(&value));
        context::observe_upload(&n.to_ne_bytes());
        context::observe_upload(element);
        Array::on(self, n, |bytes| {
            let buffer = self.alloc(bytes)?;
            self.fill(&buffer, 0, bytes, element)?;
            Ok(buffer)
        })
    }

    /// `n` elements of unspecified value, for a kernel that stores each of them. In debug builds reals are NaN and
    /// integers large, so that a missed element shows.
    ///
    /// # Errors
    /// As [`Device::array`].
    pub fn uninit<T: Element>(&self, n: usize) -> Result<Array<T>> {
        Array::blank_on(self, n, Blank::Uninit(<T::Scalar as Scalar>::TY))
    }

    fn filled<T: Element>(&self, n: usize, data: &[u8]) -> Result<Array<T>> {
        Array::on(self, n, |bytes| {
            let buffer = self.alloc(bytes)?;
            self.upload(&buffer, 0, data)?;
            Ok(buffer)
        })
    }

    /// Memory of unspecified contents.
    pub(crate) fn alloc(&self, bytes: usize) -> Result<Arc<Buffer>> {
        self.alloc_with(bytes, false)
    }

    /// Memory that is zero.
    pub(crate) fn alloc_zeroed(&self, bytes: usize) -> Result<Arc<Buffer>> {
        self.alloc_with(bytes, true)
    }

    /// Memory of unspecified contents; in debug builds signalling NaN, which no arithmetic returns, or large integers.
    pub(crate) fn alloc_poisoned(&self, bytes: usize, scalar: ScalarTy) -> Result<Arc<Buffer>> {
        let buffer = self.alloc(bytes)?;
        if cfg!(debug_assertions) {
            match scalar {
                ScalarTy::F32 => self.fill(&buffer, 0, bytes, &0xFFBF_FFFF_u32.to_ne_bytes())?,
                ScalarTy::F64 => self.fill(&buffer, 0, bytes, &0xFFF7_FFFF_FFFF_FFFF_u64.to_ne_bytes())?,
                ScalarTy::U32 | ScalarTy::I32 => self.fill(&buffer, 0, bytes, &[0xFF; 4])?,
            }
        }
        Ok(buffer)
    }

    fn alloc_with(&self, bytes: usize, zero: bool) -> Result<Arc<Buffer>> {
        if faults::allocation(bytes) {
            return Err(self.out_of_memory(bytes));
        }
        match self.kind() {
            Kind::Cpu => {
                let (host, is_zero) = self.alloc_host(bytes)?;
                let storage = Storage::Host(host);
                Ok(match zero && !is_zero {
                    true => Buffer::to_zero(storage, bytes, self.clone()),
                    false => Buffer::new(storage, bytes, self.clone()),
                })
            }
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => {
                let memory = cube.alloc(bytes, zero)?;
                self.0.pool.account(bytes);
                Ok(Buffer::new(Storage::Cube(memory), bytes, self.clone()))
            }
        }
    }

    /// Memory that others of this process made on this device.
    #[cfg(feature = "cubecl")]
    pub(crate) fn adopt(&self, memory: crate::backend::cubecl::CubeBuffer, bytes: usize) -> Arc<Buffer> {
        self.0.pool.account(bytes);
        Buffer::new(Storage::Cube(memory), bytes, self.clone())
    }

    fn alloc_host(&self, bytes: usize) -> Result<(HostBuffer, bool)> {
        self.0.pool.take(bytes).ok_or_else(|| self.out_of_memory(bytes))
    }

    fn out_of_memory(&self, bytes: usize) -> Error {
        let reason = format!("the system has none left, {} bytes are in use", self.bytes_live());
        Error::Memory { device: self.name().to_owned(), bytes, reason }
    }

    /// Takes back the memory of a dropped buffer.
    pub(crate) fn reclaim(&self, storage: Storage, bytes: usize) {
        match storage {
            Storage::Host(host) => self.0.pool.give(host),
            #[cfg(feature = "cubecl")]
            Storage::Cube(_) => self.0.pool.unaccount(bytes),
        }
        #[cfg(not(feature = "cubecl"))]
        let _ = bytes;
    }
}

/// The elements as plain bytes.
pub(crate) fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    debug_assert_eq!(size_of::<T>(), T::COMPONENTS * <T::Scalar as Scalar>::TY.bytes());
    // SAFETY: an element is scalars in a row without padding, by the contract of `Element`.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}
