//! A launch with its arguments.

use std::sync::Arc;

use crate::array::AnyArray;
use crate::backend::native::Native;
use crate::buffer::{Buffer, LaunchArg};
use crate::device::Device;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::kernel::{Access, KernelDef, ParamDef, ParamKind};

/// An argument of a launch.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// An array, read or written.
    Array(&'a AnyArray),
    /// A real, rounded to the kernel's scalar.
    Real(f64),
    /// Unsigned 32-bit integer.
    U32(u32),
    /// Signed 32-bit integer.
    I32(i32),
    /// Index.
    Usize(u32),
    /// Truth value.
    Bool(bool),
}

impl Arg<'_> {
    /// The index argument `param` of `kernel`.
    ///
    /// # Errors
    /// When it exceeds 32 bits.
    pub fn usize(kernel: &'static str, param: &'static str, n: usize) -> Result<Arg<'static>> {
        let too_large = |_| {
            let reason = format!("it is {n}, over {}, the largest index that kernels have", u32::MAX);
            Error::Argument { kernel, param, reason }
        };
        u32::try_from(n).map(Arg::Usize).map_err(too_large)
    }
}

/// A launch that has passed its checks.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) def: &'static KernelDef,
    pub(crate) native: &'a Native,
    pub(crate) domain: Domain,
    pub(crate) args: &'a [Arg<'a>],
    pub(crate) device: &'a Device,
}

impl<'a> Call<'a> {
    /// The array arguments: slot, array, access.
    pub(crate) fn arrays(self) -> impl Iterator<Item = (usize, &'a AnyArray, Access)> {
        self.args.iter().zip(self.def.primal.params).enumerate().filter_map(|(slot, (arg, param))| match arg {
            Arg::Array(array) => Some((slot, *array, access(param))),
            _ => None,
        })
    }

    /// Whether it gives the same each time: the order in which a GPU runs its positions decides what `fetch_add` gives.
    pub(crate) fn is_repeatable(self) -> bool {
        self.device.repeats_fetches() || !self.arrays().any(|(_, _, access)| access == Access::Fetch)
    }

    /// The arrays that it writes.
    pub(crate) fn writes(self) -> impl Iterator<Item = &'a AnyArray> {
        self.arrays().filter(|(_, _, access)| access.writes()).map(|(_, array, _)| array)
    }
}

pub(crate) fn access(param: &ParamDef) -> Access {
    match param.kind {
        ParamKind::Array { access, .. } => access,
        ParamKind::Scalar { .. } => Access::Unused,
    }
}

/// The arguments, with the contents of what is written by identity of the array.
pub(crate) fn bind<'a>(
    call: Call<'a>,
    reads: &'a [Option<Arc<Buffer>>],
    written: impl Fn(u64) -> Option<&'a Buffer>,
) -> impl Iterator<Item = LaunchArg<'a, Buffer>> {
    call.args.iter().zip(reads).map(move |(arg, read)| match *arg {
        Arg::Array(array) => match written(array.id()).or(read.as_deref()) {
            Some(buffer) => part(array, buffer),
            None => LaunchArg::Absent { len: array.len() as u32 },
        },
        Arg::Real(x) => LaunchArg::Real(x),
        Arg::U32(x) => LaunchArg::U32(x),
        Arg::I32(x) => LaunchArg::I32(x),
        Arg::Usize(x) => LaunchArg::Usize(x),
        Arg::Bool(x) => LaunchArg::Bool(x),
    })
}

/// The elements of `array` within `buffer`, which has those of the whole array that it is a view of.
pub(crate) fn part<'a>(array: &AnyArray, buffer: &'a Buffer) -> LaunchArg<'a, Buffer> {
    LaunchArg::Buffer { buffer, offset: array.offset(), len: array.len() as u32, elem: array.elem() }
}
