//! The CPU as a backend.

use std::ptr::NonNull;

use super::explain::explain;
use super::{Fault, HostArg, HostArray, NativeBody, Options, run};
use crate::backend::writes;
use crate::buffer::{Backend, Block, Buffer, LaunchArg, Part, Pool, Run, Storage};
use crate::error::{Error, Result};
use crate::few::Few;
use crate::interrupt;
use crate::kernel::{Access, ElemTy, ParamDef, ParamKind, Program, ScalarTy};

/// The processor, with the memory that arrays have there.
#[derive(Default)]
pub(crate) struct Cpu {
    pool: Pool,
}

impl Backend for Cpu {
    fn name(&self) -> &str {
        "cpu"
    }

    fn description(&self) -> String {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        format!("{threads} threads, f32 and f64")
    }

    fn is_cpu(&self) -> bool {
        true
    }

    fn is_hardware(&self) -> bool {
        false
    }

    fn supports_f64(&self) -> bool {
        true
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn set_deterministic(&self, _: bool) {}

    fn queued(&self) -> (u64, u64) {
        (0, 0)
    }

    fn transferred(&self) -> (u64, u64) {
        (0, 0)
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn wait(&self) -> Result<()> {
        Ok(())
    }

    fn alloc(&self, bytes: usize, zero: bool) -> Result<Block> {
        let (host, is_zero) = self.pool.take(bytes).ok_or_else(|| Buffer::out_of_memory(self, bytes))?;
        Ok(Block { storage: Storage::Host(host), dirty: zero && !is_zero })
    }

    fn reclaim(&self, storage: Storage, _: usize) {
        if let Storage::Host(host) = storage {
            self.pool.give(host);
        }
    }

    fn copy(&self, from: Part<'_>, to: Part<'_>, bytes: usize) -> Result<()> {
        host_mut(to, bytes)?.copy_from_slice(host(from, bytes)?);
        Ok(())
    }

    fn fill(&self, to: Part<'_>, bytes: usize, pattern: &[u8]) -> Result<()> {
        let target = host_mut(to, bytes)?;
        match pattern.iter().all(|&b| b == 0) {
            true => target.fill(0),
            false => repeat(target, pattern),
        }
        Ok(())
    }

    fn upload(&self, to: Part<'_>, data: &[u8]) -> Result<()> {
        host_mut(to, data.len())?.copy_from_slice(data);
        Ok(())
    }

    fn download(&self, from: Part<'_>, data: &mut [u8]) -> Result<()> {
        data.copy_from_slice(host(from, data.len())?);
        Ok(())
    }

    fn accumulate(&self, ty: ScalarTy, from: Part<'_>, to: Part<'_>, bytes: usize) -> Result<()> {
        let (source, target) = (host(from, bytes)?, host_mut(to, bytes)?);
        match ty {
            ScalarTy::F32 => {
                add::<4>(target, source, |a, b| (f32::from_ne_bytes(a) + f32::from_ne_bytes(b)).to_ne_bytes())
            }
            ScalarTy::F64 => {
                add::<8>(target, source, |a, b| (f64::from_ne_bytes(a) + f64::from_ne_bytes(b)).to_ne_bytes())
            }
            ScalarTy::U32 | ScalarTy::I32 => {}
        }
        Ok(())
    }

    fn run(&self, launch: &Run<'_>) -> Result<()> {
        let &Run { def, program, divided_as, scalar, domain, args, unproven, .. } = launch;
        let Some(&body) = launch.body.downcast_ref::<NativeBody>() else {
            return Err(Error::Launch { kernel: def.name, reason: "it has no body for the CPU".to_owned() });
        };
        // Before the arguments: those that count as zero have to be written from there on.
        let writers = writes::notes(unproven, args)?;
        let copied = divided_as.map(|kernel| accumulated(kernel, args, scalar));
        let mut host: Few<_, 24> = Few::new();
        host.extend(args.iter().zip(program.params).map(|(arg, def)| on_host(arg, def, scalar)));
        let work = divided_as.unwrap_or(program).work;
        let options = Options { work, copied, writers: &writers, interrupts: &interrupt::flags() };
        run(body, domain, &host, options).map_err(|fault| describe(launch, fault))
    }
}

/// Bytes of the arrays that a kernel adds to at indices of its choice; its tangent has only their lengths.
fn accumulated(kernel: &Program, args: &[LaunchArg<'_, Buffer>], real: ScalarTy) -> usize {
    let len = |arg: &LaunchArg<'_, Buffer>| match *arg {
        LaunchArg::Buffer { len, .. } | LaunchArg::Place { len, .. } | LaunchArg::Absent { len } => len as usize,
        LaunchArg::Real(_) | LaunchArg::U32(_) | LaunchArg::I32(_) | LaunchArg::Usize(_) | LaunchArg::Bool(_) => 0,
    };
    let bytes = |(param, arg): (&ParamDef, &LaunchArg<'_, Buffer>)| match param.kind {
        ParamKind::Array { elem, access: Access::Add, owned: false } => {
            len(arg) * elem.components() * scalar_of(elem, real).bytes()
        }
        ParamKind::Array { .. } | ParamKind::Scalar { .. } => 0,
    };
    kernel.params.iter().zip(args).map(bytes).sum()
}

fn scalar_of(elem: ElemTy, real: ScalarTy) -> ScalarTy {
    match elem {
        ElemTy::U32 => ScalarTy::U32,
        ElemTy::I32 => ScalarTy::I32,
        ElemTy::Real | ElemTy::Vec2 | ElemTy::Vec3 | ElemTy::Vec4 | ElemTy::Mat2 | ElemTy::Mat3 => real,
    }
}

/// Fills with copies of `pattern`, doubling what is there.
fn repeat(target: &mut [u8], pattern: &[u8]) {
    let mut done = pattern.len().min(target.len());
    target[..done].copy_from_slice(&pattern[..done]);
    while done > 0 && done < target.len() {
        let more = done.min(target.len() - done);
        target.copy_within(..more, done);
        done += more;
    }
}

fn add<const N: usize>(to: &mut [u8], from: &[u8], sum: impl Fn([u8; N], [u8; N]) -> [u8; N]) {
    let (to, _) = to.as_chunks_mut::<N>();
    let (from, _) = from.as_chunks::<N>();
    for (a, &b) in to.iter_mut().zip(from) {
        *a = sum(*a, b);
    }
}

fn foreign() -> Error {
    Error::Invalid("a buffer belongs to another device than the operation".to_owned())
}

fn host<'a>((buffer, at): Part<'a>, bytes: usize) -> Result<&'a [u8]> {
    let whole = buffer.host().ok_or_else(foreign)?;
    // SAFETY: a source is shared or locked, and no thread writes to such a buffer (see `Backend`).
    unsafe { whole.slice(at..at + bytes) }.ok_or_else(foreign)
}

fn host_mut<'a>((buffer, at): Part<'a>, bytes: usize) -> Result<&'a mut [u8]> {
    let whole = buffer.host().ok_or_else(foreign)?;
    // SAFETY: the caller holds the only reference to a destination, or its lock (see `Backend`).
    unsafe { whole.slice_mut(at..at + bytes) }.ok_or_else(foreign)
}

fn on_host<'a>(arg: &LaunchArg<'a, Buffer>, def: &ParamDef, real: ScalarTy) -> HostArg<'a> {
    let scalar = |elem: ElemTy| scalar_of(elem, real);
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
            // holds references to what is read, so that no thread writes it, and the locks of what is written.
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

fn describe(launch: &Run<'_>, fault: Fault) -> Error {
    let &Run { def, program, .. } = launch;
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
        Fault::InPack { positions, seen } => {
            let fault = explain(launch, positions, host).or(seen.map(|seen| *seen)).unwrap_or_else(|| {
                Fault::Panicked { message: "an index that lanes have rounded leaves its array".to_owned() }
            });
            describe(launch, fault)
        }
        Fault::TooLong { slot, scalars } => Error::Argument {
            kernel,
            param: param(slot),
            reason: format!(
                "its {scalars} scalars are more than the {} that a kernel on packs of lanes takes of an array; split it, or use f64",
                (1u32 << 31) - 1
            ),
        },
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
