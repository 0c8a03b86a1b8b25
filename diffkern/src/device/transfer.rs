//! Moving bytes within a device and between it and the host. Offsets and sizes are bytes.
//!
//! Whoever passes a destination holds its only reference, or the lock of the array that does; sources may be shared.

use super::{Device, Kind};
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::kernel::ScalarTy;
use crate::trace;

/// Which bytes of a buffer.
type Range = std::ops::Range<usize>;

impl Device {
    /// Copies between buffers of this device, which are not the same one.
    pub(crate) fn copy(&self, from: &Buffer, at: usize, to: &Buffer, to_at: usize, bytes: usize) -> Result<()> {
        let _span = trace::transfer("copy", bytes);
        let (source, target) = (range(from, at, bytes)?, range(to, to_at, bytes)?);
        match self.kind() {
            Kind::Cpu => {
                host_mut(to, target)?.copy_from_slice(host(from, source)?);
                Ok(())
            }
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => cube.copy(cubic(from)?, source.start, cubic(to)?, target.start, bytes),
        }
    }

    /// Repeats `pattern`, whose size divides `bytes`.
    pub(crate) fn fill(&self, to: &Buffer, at: usize, bytes: usize, pattern: &[u8]) -> Result<()> {
        let _span = trace::transfer("fill", bytes);
        let target = range(to, at, bytes)?;
        match self.kind() {
            Kind::Cpu => {
                let target = host_mut(to, target)?;
                match pattern.iter().all(|&b| b == 0) {
                    true => target.fill(0),
                    false => repeat(target, pattern),
                }
                Ok(())
            }
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => cube.fill(cubic(to)?, target.start, bytes, pattern),
        }
    }

    /// Sets bytes to zero.
    pub(crate) fn clear(&self, to: &Buffer, at: usize, bytes: usize) -> Result<()> {
        self.fill(to, at, bytes, &[0; 4])
    }

    /// Host to device.
    pub(crate) fn upload(&self, to: &Buffer, at: usize, data: &[u8]) -> Result<()> {
        let _span = trace::transfer("upload", data.len());
        let target = range(to, at, data.len())?;
        match self.kind() {
            Kind::Cpu => {
                host_mut(to, target)?.copy_from_slice(data);
                Ok(())
            }
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => cube.upload(cubic(to)?, target.start, data),
        }
    }

    /// Device to host.
    pub(crate) fn download(&self, from: &Buffer, at: usize, data: &mut [u8]) -> Result<()> {
        let _span = trace::transfer("download", data.len());
        let source = range(from, at, data.len())?;
        match self.kind() {
            Kind::Cpu => {
                data.copy_from_slice(host(from, source)?);
                Ok(())
            }
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => cube.download(cubic(from)?, source.start, data),
        }
    }

    /// Adds `bytes` of scalars to others, which are in another buffer.
    pub(crate) fn accumulate(
        &self,
        ty: ScalarTy,
        (from, at): (&Buffer, usize),
        (to, to_at): (&Buffer, usize),
        bytes: usize,
    ) -> Result<()> {
        let _span = trace::transfer("accumulate", bytes);
        let (source, target) = (range(from, at, bytes)?, range(to, to_at, bytes)?);
        match self.kind() {
            Kind::Cpu => {
                let (source, target) = (host(from, source)?, host_mut(to, target)?);
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
            #[cfg(feature = "cubecl")]
            Kind::Cube(cube) => {
                use crate::backend::LaunchArg::Buffer as Whole;
                let (size, elem) = (ty.bytes(), crate::kernel::ElemTy::Real);
                let len = (bytes / size) as u32;
                let part = |b, at: usize| Whole { buffer: b, offset: (at / size) as u32, len, elem };
                let args = [part(cubic(from)?, source.start), part(cubic(to)?, target.start)];
                cube.launch(&ACCUMULATE, ty, (len as usize).into(), &args)
            }
        }
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

fn range(buffer: &Buffer, at: usize, bytes: usize) -> Result<Range> {
    match at.checked_add(bytes) {
        Some(end) if end <= buffer.bytes() => Ok(at..end),
        _ => Err(Error::Invalid(format!("{bytes} bytes from {at} on are outside a buffer of {}", buffer.bytes()))),
    }
}

fn foreign() -> Error {
    Error::Invalid("a buffer belongs to another device than the operation".to_owned())
}

fn host(buffer: &Buffer, range: Range) -> Result<&[u8]> {
    let whole = buffer.host().ok_or_else(foreign)?;
    // SAFETY: a source is shared or locked, and nobody writes to such a buffer (see the module's comment).
    unsafe { whole.slice(range) }.ok_or_else(foreign)
}

#[expect(clippy::mut_from_ref, reason = "the caller holds the only reference, see the module's comment")]
fn host_mut(buffer: &Buffer, range: Range) -> Result<&mut [u8]> {
    let whole = buffer.host().ok_or_else(foreign)?;
    // SAFETY: the caller holds the only reference to a destination, or its lock (see the module's comment).
    unsafe { whole.slice_mut(range) }.ok_or_else(foreign)
}

#[cfg(feature = "cubecl")]
fn cubic(buffer: &Buffer) -> Result<&crate::backend::cubecl::CubeBuffer> {
    buffer.cube().ok_or_else(foreign)
}

/// `to[i] += from[i]`, for devices that are programmed.
#[cfg(feature = "cubecl")]
static ACCUMULATE: crate::kernel::Program = {
    use crate::kernel::{Access, ElemTy::Real, ParamDef, ParamKind::Array, Program};
    Program {
        file: file!(),
        params: &[
            ParamDef { name: "from", kind: Array { elem: Real, access: Access::Read, owned: true } },
            ParamDef { name: "to", kind: Array { elem: Real, access: Access::Add, owned: true } },
        ],
        text: "fn accumulate\narray 0 read real from owned\narray 1 add real to owned\nbody\n%1 : usize = pos\n\
               %2 : real = load 0 %1 @1\nadd 1 %1 %2 @1\n",
        work: 0,
        callees: &[],
        writes: &[],
    }
};
