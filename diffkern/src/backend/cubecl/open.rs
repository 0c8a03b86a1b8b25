//! Finding devices, without a panic where there is none.

use std::any::TypeId;

use cubecl::device::{Device, DeviceId};
use cubecl::prelude::Runtime;

use super::client::Queue;
#[cfg(any(feature = "wgpu", feature = "cuda"))]
use super::client::{Client, guarded};

/// An open device and what it is.
#[derive(Clone)]
pub(super) struct Opened {
    pub queue: std::sync::Arc<dyn Queue>,
    pub place: Place,
    pub description: String,
    pub hardware: bool,
    pub double: bool,
    pub exact_math: bool,
    /// Threads per cube.
    pub width: u32,
}

/// A device among all of CubeCL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    runtime: TypeId,
    device: DeviceId,
}

impl Place {
    pub fn of<R: Runtime>(device: &R::Device) -> Self {
        Self { runtime: TypeId::of::<R>(), device: device.to_id() }
    }
}

/// The device called `wgpu` or `cuda`.
pub(super) fn open(name: &str) -> Result<Opened, String> {
    super::client::listen();
    match name {
        #[cfg(feature = "wgpu")]
        "wgpu" => wgpu(),
        #[cfg(feature = "cuda")]
        "cuda" => cuda(),
        _ => Err(format!("this build has no support for it; build with `--features {name}`")),
    }
}

#[cfg(feature = "wgpu")]
fn wgpu() -> Result<Opened, String> {
    use cubecl::wgpu::{AutoGraphicsApi, GraphicsApi, RuntimeOptions, WgpuDevice, WgpuRuntime, init_setup};
    use wgpu::{Backends, DeviceType, Instance, InstanceDescriptor};

    let backends = Backends::from(AutoGraphicsApi::backend());
    let instance = Instance::new(InstanceDescriptor { backends, ..InstanceDescriptor::new_without_display_handle() });
    let adapters = cubecl::future::block_on(instance.enumerate_adapters(backends));
    if adapters.is_empty() {
        return Err(format!(
            "no adapter for {:?}; install a graphics driver (on Linux without a GPU: mesa-vulkan-drivers)",
            AutoGraphicsApi::backend()
        ));
    }
    drop((adapters, instance));
    let device = WgpuDevice::DefaultDevice;
    let setup = guarded(|| init_setup::<AutoGraphicsApi>(&device, RuntimeOptions::default()));
    let client = guarded(|| <WgpuRuntime as Runtime>::client(&device))?;
    let language = if cfg!(feature = "wgpu-spirv") { "SPIR-V" } else { "WGSL" };
    let (name, backend, hardware, subgroup) = match setup {
        Ok(setup) => {
            let heard = |error: wgpu::Error| super::client::fault(error.to_string());
            setup.device.on_uncaptured_error(std::sync::Arc::new(heard));
            let info = setup.adapter.get_info();
            (info.name, info.backend, info.device_type != DeviceType::Cpu, info.subgroup_min_size)
        }
        // Somebody else in this process has opened it. An error that nobody captures is then a panic of CubeCL's thread,
        // which is heard too; and that CubeCL offers operations of subgroups tells a GPU from a processor.
        Err(_) => {
            let properties = client.properties();
            let hardware = properties.features.plane.contains(cubecl::ir::features::Plane::Ops);
            ("opened by others".to_owned(), *client.info(), hardware, properties.hardware.plane_size_min)
        }
    };
    // The atomic operations of CubeCL's SPIR-V order memory, which Mesa's software Vulkan (seen in 22.3) takes for a
    // barrier of the whole cube: as soon as one of its subgroups is done, it drops the rest of the others' loops. So a
    // cube is one subgroup there.
    let width = if hardware || language == "WGSL" { 64 } else { subgroup.clamp(1, 64) };
    Ok(Opened {
        queue: std::sync::Arc::new(Client::new(client)),
        place: Place::of::<WgpuRuntime>(&device),
        description: format!("{name} ({backend:?}, {language}), f32"),
        hardware,
        // Advertised and wrong: the transcendental functions give garbage.
        double: false,
        exact_math: false,
        width,
    })
}

#[cfg(feature = "cuda")]
fn cuda() -> Result<Opened, String> {
    use cubecl::cuda::{CudaDevice, CudaRuntime};

    // SAFETY: only looks whether the library can be loaded.
    if !unsafe { cudarc::driver::sys::is_culib_present() } {
        return Err(
            "no CUDA driver on this machine, libcuda cannot be loaded; install the driver of the NVIDIA GPU".into()
        );
    }
    let count = guarded(|| cudarc::driver::result::init().and_then(|()| cudarc::driver::result::device::get_count()))?;
    let count = count.map_err(|e| format!("the CUDA driver does not start: {e:?}"))?;
    if count < 1 {
        return Err("the CUDA driver finds no device".into());
    }
    cuda_compiler()?;
    let name = guarded(|| cudarc::driver::result::device::get(0).and_then(cudarc::driver::result::device::get_name));
    let name = name.ok().and_then(Result::ok).unwrap_or_else(|| "NVIDIA GPU".into());
    let device = CudaDevice::default();
    let client = guarded(|| <CudaRuntime as Runtime>::client(&device))?;
    Ok(Opened {
        queue: std::sync::Arc::new(Client::new(client)),
        place: Place::of::<CudaRuntime>(&device),
        description: format!("{name} (CUDA), f32 and f64"),
        hardware: true,
        double: true,
        exact_math: true,
        width: 128,
    })
}

/// What kernels are compiled with at their first launch, which the driver does not bring along.
#[cfg(feature = "cuda")]
fn cuda_compiler() -> Result<(), String> {
    // SAFETY: only looks whether the library can be loaded.
    if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
        return Err(
            "the CUDA driver is there, its compiler is not: libnvrtc cannot be loaded; install the CUDA toolkit, \
                    and name the folder of its libraries in LD_LIBRARY_PATH if they are not found"
                .into(),
        );
    }
    // CubeCL panics where it finds no folder.
    let folder = cubecl::cuda::install::cuda_path();
    if folder.as_ref().is_some_and(|folder| folder.join("include/cuda_runtime.h").is_file()) {
        return Ok(());
    }
    let looked =
        folder.map_or_else(|| "in /usr/local/cuda, /opt/cuda and /usr".into(), |at| format!("in {}", at.display()));
    Err(format!(
        "the CUDA driver is there, the headers that kernels include are not: no include/cuda_runtime.h {looked}; install \
         the CUDA toolkit and set CUDA_PATH to its folder"
    ))
}
