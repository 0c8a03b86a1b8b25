//! Where programs run. The rest of the crate sees [`Storage`], [`LaunchArg`] and, per backend, one function that
//! runs a program.

#[cfg(feature = "cubecl")]
pub(crate) mod cubecl;
pub(crate) mod host;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod huge;
pub(crate) mod native;
mod writes;

#[cfg(doc)]
pub(crate) use host::BEYOND;
pub(crate) use host::HostBuffer;
pub(crate) use writes::Entries;

use std::ptr::NonNull;

use crate::buffer::Buffer;
use crate::device::{Device, Kind};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::faults;
use crate::few::Few;
use crate::interrupt;
use crate::kernel::{Access, ElemTy, KernelDef, NativeBody, ParamDef, ParamKind, Program, ScalarTy};
use native::{Fault, HostArg, HostArray};

/// Memory of one array on the device it belongs to.
pub(crate) enum Storage {
    Host(HostBuffer),
    #[cfg(feature = "cubecl")]
    Cube(cubecl::CubeBuffer),
}

/// An argument of a program, its arrays in buffers of type `B`.
pub(crate) enum LaunchArg<'a, B> {
    /// `len` elements of `elem` from element `offset` on. The launcher guarantees that nothing else writes to them
    /// meanwhile, and that a written range overlaps no other argument of the launch, except that bars may be the same
    /// range twice when both only accumulate.
    Buffer {
        buffer: &'a B,
        offset: u32,
        len: u32,
        elem: ElemTy,
    },
    /// One of two whole bars that are one buffer, by one of [`KernelDef::places`]; on the host. What is taken out of the
    /// buffer is taken for the last time, what is added counts as added to zero.
    Place {
        buffer: &'a B,
        len: u32,
        elem: ElemTy,
    },
    /// An array that is not read (only its length may be asked for), or a gradient that nobody wants: reads are zero,
    /// adds are dropped.
    Absent {
        len: u32,
    },
    Real(f64),
    U32(u32),
    I32(i32),
    /// Index.
    Usize(u32),
    Bool(bool),
}

impl<B> Clone for LaunchArg<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for LaunchArg<'_, B> {}

/// Which of the programs of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Primal,
    Adjoint,
    Tangent,
    Clear,
    /// The adjoint and its tangent in one.
    Second,
}

impl Which {
    pub(crate) fn of(self, def: &'static KernelDef) -> Result<&'static Program> {
        Ok(match self {
            Which::Primal => &def.primal,
            Which::Adjoint => &def.adjoint,
            Which::Tangent => &def.tangent,
            Which::Clear => def.clear.as_ref().unwrap_or(&def.adjoint),
            Which::Second => def.second.as_ref().ok_or_else(|| Which::missing(def))?,
        })
    }

    /// Why there is no tangent of an adjoint.
    pub(crate) fn missing(def: &'static KernelDef) -> Error {
        let reason = "it has no second derivatives; switch on the feature `second-order` of diffkern".to_owned();
        Error::Launch { kernel: def.name, reason }
    }
}

/// Runs a program of a kernel. `args` fit its parameters, and the caller keeps the promise of
/// [`LaunchArg::Buffer`].
pub(crate) fn run(
    device: &Device,
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
    let unproven = writes::unproven(device, program, domain, args)?;
    match device.kind() {
        Kind::Cpu => {
            // Before the arguments: those that count as zero have to be written from there on.
            let writers = writes::notes(&unproven, args)?;
            let args: Few<_, 24> =
                args.iter().zip(program.params).map(|(arg, def)| on_host(arg, def, scalar)).collect();
            let options = native::Options { work: program.work, writers: &writers, interrupts: &interrupt::flags() };
            native::run(body, domain, &args, options).map_err(|fault| describe(def, program, fault))
        }
        #[cfg(feature = "cubecl")]
        Kind::Cube(cube) => {
            if let Some(&slot) = unproven.first() {
                return Err(writes::refused(def, program, slot));
            }
            let args: Vec<_> = args.iter().map(on_cube).collect();
            cube.launch(program, scalar, domain, &args)
        }
    }
}

fn on_host<'a>(arg: &LaunchArg<'a, Buffer>, def: &ParamDef, real: ScalarTy) -> HostArg<'a> {
    let scalar = |elem: ElemTy| match elem {
        ElemTy::U32 => ScalarTy::U32,
        ElemTy::I32 => ScalarTy::I32,
        _ => real,
    };
    match (*arg, def.kind) {
        (LaunchArg::Buffer { buffer, offset, len, elem }, ParamKind::Array { access, owned, .. }) => {
            let scalar = scalar(elem);
            let bytes = elem.components() * scalar.bytes();
            let start = offset as usize * bytes;
            // What is added to zeros is cleared in passing, by the threads that add.
            let fresh = access == Access::Add && len as usize * bytes == buffer.bytes() && buffer.claim_zeros();
            let Some(ptr) = buffer.host().and_then(|host| NonNull::new(host.ptr().wrapping_add(start))) else {
                return HostArg::Absent { elem, scalar, len };
            };
            // SAFETY: the range lies in the buffer, whose start is aligned to more than any scalar; the launcher
            // holds references to what is read, so that nobody writes it, and the locks of what is written.
            // SAFETY: as above; every buffer has bytes beyond its contents.
            let array = unsafe { HostArray::new(ptr, len, elem, scalar, access, owned).padded() };
            HostArg::Array(array.with_uses(fresh, buffer.is_last_use()))
        }
        (LaunchArg::Place { buffer, len, elem }, ParamKind::Array { access, owned, .. }) => {
            let scalar = scalar(elem);
            let Some(ptr) = buffer.host().and_then(|host| NonNull::new(host.ptr())) else {
                return HostArg::Absent { elem, scalar, len };
            };
            // SAFETY: as above, but that the other of the two has the same memory.
            let array = unsafe { HostArray::new(ptr, len, elem, scalar, access, owned).padded() };
            HostArg::Array(array.in_place())
        }
        (LaunchArg::Absent { len }, ParamKind::Array { elem, .. }) => {
            HostArg::Absent { elem, scalar: scalar(elem), len }
        }
        (LaunchArg::Buffer { len, elem, .. } | LaunchArg::Place { len, elem, .. }, ParamKind::Scalar { .. }) => {
            HostArg::Absent { elem, scalar: scalar(elem), len }
        }
        (LaunchArg::Absent { len }, ParamKind::Scalar { .. }) => {
            HostArg::Absent { elem: ElemTy::U32, scalar: ScalarTy::U32, len }
        }
        (LaunchArg::Real(x), _) => HostArg::Real(x),
        (LaunchArg::U32(x), _) => HostArg::U32(x),
        (LaunchArg::I32(x), _) => HostArg::I32(x),
        (LaunchArg::Usize(x), _) => HostArg::Usize(x),
        (LaunchArg::Bool(x), _) => HostArg::Bool(x),
    }
}

#[cfg(feature = "cubecl")]
fn on_cube<'a>(arg: &LaunchArg<'a, Buffer>) -> LaunchArg<'a, cubecl::CubeBuffer> {
    match *arg {
        LaunchArg::Buffer { buffer, offset, len, elem } => match buffer.cube() {
            Some(buffer) => LaunchArg::Buffer { buffer, offset, len, elem },
            None => LaunchArg::Absent { len },
        },
        // A GPU binds one buffer once.
        LaunchArg::Place { len, .. } | LaunchArg::Absent { len } => LaunchArg::Absent { len },
        LaunchArg::Real(x) => LaunchArg::Real(x),
        LaunchArg::U32(x) => LaunchArg::U32(x),
        LaunchArg::I32(x) => LaunchArg::I32(x),
        LaunchArg::Usize(x) => LaunchArg::Usize(x),
        LaunchArg::Bool(x) => LaunchArg::Bool(x),
    }
}

fn describe(def: &'static KernelDef, program: &'static Program, fault: Fault) -> Error {
    let param = |slot: usize| program.params.get(slot).map_or("?", |param| param.name);
    let kernel = def.name;
    match fault {
        Fault::OutOfRange { slot, line, index, len } => {
            Error::Index { kernel, param: param(slot), file: def.file, line, index, len }
        }
        Fault::WrittenTwice { slot, line, index, threads: [a, b] } => Error::Argument {
            kernel,
            param: param(slot),
            reason: format!(
                "element {index} is stored to by index {a} and by index {b} of the domain ({}:{line}), so what it has in the \
                 end depends on their order; {}",
                def.file,
                writes::way_out(program, slot)
            ),
        },
        Fault::BoundExceeded { line, bound } => Error::Bound { kernel, file: def.file, line, bound },
        Fault::LocalOutOfRange { line, index, len } => {
            Error::Index { kernel, param: "a local array", file: def.file, line, index, len }
        }
        Fault::DomainTooLarge { dims } => Error::Launch {
            kernel,
            reason: format!("domain {dims:?} has more than {} indices; split the launch", u32::MAX),
        },
        Fault::OutOfMemory { bytes } => {
            Error::Memory { device: "cpu".to_owned(), bytes, reason: "the system has none left for it".to_owned() }
        }
        Fault::Interrupted => Error::Interrupted,
        Fault::Panicked { message } => {
            Error::Launch { kernel, reason: format!("its generated code failed: {message}") }
        }
    }
}
