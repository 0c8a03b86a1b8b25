//! Where programs run: one folder for the CPU, one for GPUs, each with its [`Backend`].

#[cfg(feature = "cubecl")]
pub(crate) mod cubecl;
pub(crate) mod native;
mod writes;

use std::sync::Arc;

use crate::buffer::{Backend, Buffer, LaunchArg, Run};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::faults;
use crate::interrupt;
use crate::kernel::{KernelDef, ScalarTy, Which};
use native::NativeBody;

/// The backend called `wgpu` or `cuda`.
#[cfg(feature = "cubecl")]
pub(crate) fn open(name: &'static str) -> Result<Arc<dyn Backend>> {
    Ok(Arc::new(cubecl::Gpu::open(name)?))
}

/// The backend called `wgpu` or `cuda`.
#[cfg(not(feature = "cubecl"))]
pub(crate) fn open(name: &'static str) -> Result<Arc<dyn Backend>> {
    Err(Error::Device {
        device: name.to_owned(),
        reason: format!("this build has no support for it; build with `--features {name}`"),
    })
}

/// Runs a program of a kernel. `args` fit its parameters, and the caller keeps the promise of
/// [`LaunchArg::Buffer`].
pub(crate) fn run(
    backend: &dyn Backend,
    (def, which, body): (&'static KernelDef, Which, NativeBody),
    scalar: ScalarTy,
    domain: Domain,
    args: &[LaunchArg<'_, Buffer>],
) -> Result<()> {
    let program = which.of(def)?;
    if faults::launch() {
        return Err(Error::Launch { kernel: def.name, reason: "the device refused it".to_owned() });
    }
    interrupt::check()?;
    debug_assert_eq!(program.params.len(), args.len(), "arguments of `{}`", def.name);
    let divided_as = match which {
        Which::Tangent | Which::Directions => Some(&def.primal),
        Which::Primal | Which::Adjoint | Which::Clear | Which::Second => None,
    };
    let unproven = writes::unproven(backend, program, domain, args)?;
    backend.run(&Run { def, program, divided_as, body: &body, scalar, domain, args, unproven: &unproven })
}
