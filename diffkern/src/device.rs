//! Where arrays live and kernels run, chosen at run time.

mod transfer;

use std::sync::{Arc, LazyLock, Mutex};

use crate::backend;
use crate::backend::native::{Cpu, Native, NativeBody};
use crate::buffer::{Backend, Buffer, LaunchArg};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::kernel::{KernelDef, ScalarTy, Which};
use crate::sync::lock;

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
pub struct Device(Arc<dyn Backend>);

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.0), Arc::as_ptr(&other.0))
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({})", self.name())
    }
}

impl Device {
    /// The processor: always there, `f32` and `f64`.
    pub fn cpu() -> Device {
        static CPU: LazyLock<Device> = LazyLock::new(|| Device(Arc::new(Cpu::default())));
        CPU.clone()
    }

    /// A device that is not [`Device::cpu`].
    #[cfg(test)]
    pub(crate) fn another_cpu() -> Device {
        Device(Arc::new(Cpu::default()))
    }

    /// A GPU through Vulkan, Metal, DX12 or WebGPU; `f32` only.
    ///
    /// # Errors
    /// When this build lacks the feature `wgpu`, the machine has no adapter, or a kernel run for a trial fails.
    pub fn wgpu() -> Result<Device> {
        Device::opened("wgpu")
    }

    /// An NVIDIA GPU; `f32` and `f64`.
    ///
    /// # Errors
    /// When this build lacks the feature `cuda`, the machine has no such device, lacks what kernels are compiled with
    /// (NVRTC and the headers of the CUDA toolkit), or a kernel run for a trial fails. The message says what to install.
    pub fn cuda() -> Result<Device> {
        Device::opened("cuda")
    }

    /// CUDA, then a hardware wgpu adapter, then the CPU: the first that is there.
    pub fn best() -> Device {
        let wgpu = || Device::wgpu().ok().filter(|device| device.0.is_hardware());
        Device::cuda().ok().or_else(wgpu).unwrap_or_else(Device::cpu)
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
        let describe = |name| (name, Device::by_name(name).map(|device| device.0.description()));
        ["cpu", "wgpu", "cuda"].into_iter().map(describe).map(|(name, found)| (name.to_owned(), found)).collect()
    }

    fn opened(name: &'static str) -> Result<Device> {
        static OPEN: Mutex<Vec<Device>> = Mutex::new(Vec::new());
        let mut open = lock(&OPEN);
        if let Some(device) = open.iter().find(|d| d.name() == name) {
            return Ok(device.clone());
        }
        let device = Device(backend::open(name)?);
        open.push(device.clone());
        Ok(device)
    }

    #[cfg(any(test, feature = "cubecl"))]
    pub(crate) fn backend(&self) -> &Arc<dyn Backend> {
        &self.0
    }

    /// Whether it is the CPU.
    pub(crate) fn is_cpu(&self) -> bool {
        self.0.is_cpu()
    }

    /// `cpu`, `wgpu` or `cuda`.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// Whether arrays of `f64` can live here.
    pub fn supports_f64(&self) -> bool {
        self.0.supports_f64()
    }

    /// Whether the same launches give the same bits in each run. Always so on the CPU; on a GPU as chosen by
    /// [`Device::set_deterministic`].
    pub fn is_deterministic(&self) -> bool {
        self.0.is_deterministic()
    }

    /// Whether old values of `fetch_add` are the same in each run.
    pub(crate) fn repeats_fetches(&self) -> bool {
        self.is_cpu()
    }

    /// Programs that a GPU has been asked to run so far (with those that copy, clear and add up arrays), and how often the
    /// host has waited for it. Of the CPU, where there is no queue, both are 0.
    pub fn queued(&self) -> (u64, u64) {
        self.0.queued()
    }

    /// Bytes that arrays on a GPU have got from the host so far, and given to it. Of the CPU, where both are in the same
    /// memory, both are 0. Scalars of launches are not counted.
    pub fn transferred(&self) -> (u64, u64) {
        self.0.transferred()
    }

    /// Chooses for launches from now on, through all handles, whether sums on a GPU have the same bits in each run. Where
    /// threads add reals to elements of their choice, atomic additions round in an order that nobody controls; instead,
    /// a fixed number of threads then adds into copies, which are added up in order. That takes up to 64 MiB for each
    /// array added to, two more launches, and fewer threads, so it is slower. `f64` can be added so where a device has
    /// no atomic addition of it. Nothing changes on the CPU.
    pub fn set_deterministic(&self, on: bool) {
        self.0.set_deterministic(on);
    }

    /// Bytes in live arrays, tapes and snapshots on this device.
    pub fn bytes_live(&self) -> usize {
        self.0.pool().live()
    }

    /// The most that [`Device::bytes_live`] has been. On the CPU the memory taken from the system for arrays,
    /// recycled blocks included, never exceeds it.
    pub fn bytes_peak(&self) -> usize {
        self.0.pool().peak()
    }

    /// Waits until everything launched so far is done.
    pub(crate) fn wait(&self) -> Result<()> {
        self.0.wait()
    }

    /// Memory of unspecified contents.
    pub(crate) fn alloc(&self, bytes: usize) -> Result<Arc<Buffer>> {
        Buffer::alloc(&self.0, bytes, false)
    }

    /// Memory that is zero.
    pub(crate) fn alloc_zeroed(&self, bytes: usize) -> Result<Arc<Buffer>> {
        Buffer::alloc(&self.0, bytes, true)
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

    /// Runs a program of a kernel. `args` fit its parameters, and the caller keeps the promise of
    /// [`LaunchArg::Buffer`].
    pub(crate) fn run(
        &self,
        program: (&'static KernelDef, Which, NativeBody),
        scalar: ScalarTy,
        domain: Domain,
        args: &[LaunchArg<'_, Buffer>],
    ) -> Result<()> {
        backend::run(&*self.0, program, scalar, domain, args)
    }
}

impl Native {
    /// What keeps them from packs of lanes on `device`. Packs are of `f32` and on the CPU.
    pub(crate) fn lacks_on(&self, device: &Device) -> [Option<&'static str>; 2] {
        if self.scalar == ScalarTy::F32 && device.is_cpu() { self.lacks } else { [None; 2] }
    }
}
