//! The typed launch: checks, exclusion, the run, and what tapes and tangents want to know of it.

mod check;
#[cfg(test)]
mod tests;

use std::sync::{Arc, MutexGuard};
use std::time::Instant;

use crate::array::{AnyArray, Cell};
use crate::backend::{self, LaunchArg, Which};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::few::Few;
use crate::forward;
use crate::kernel::{Access, Arg, KernelDef, Native, ParamDef, ParamKind};
use crate::tape::context::Mode;
use crate::tape::{Launched, Prefix, Recording, Watch, context, open};
use crate::trace;
use crate::unoptimised;

/// A launch that has passed its checks.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) def: &'static KernelDef,
    pub(crate) native: Native,
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

/// Runs a kernel once per index of `domain`. What the host can check is checked; on a GPU the kernel itself runs later.
///
/// # Errors
/// When the arguments do not fit, an index is out of range, the device fails, or a tape refuses the launch.
pub fn launch(def: &'static KernelDef, native: Native, domain: Domain, args: &[Arg<'_>]) -> Result<()> {
    let Some(device) = check::check(def, &native, args)? else {
        return Ok(());
    };
    let call = Call { def, native, domain, args, device };
    let mode = context::mode();
    if mode.observed() {
        context::before_launch(call)?;
    }
    if mode.forward() {
        forward::allow_use(call.arrays().map(|(_, array, _)| array), &|| format!("kernel `{}`", def.name))?;
    }
    let reads = read_buffers(call, mode.any());
    let done = match mode.any() {
        false => run_primal(call, &reads),
        true => observed(call, mode, &reads).inspect_err(|_| {
            context::failed(def.name);
            forward::failed(def.name);
        }),
    };
    open::note_strays(|| call.arrays().map(|(_, array, _)| array), || call.writes());
    done
}

/// Runs a launch that tapes or tangents want to know of.
fn observed(call: Call<'_>, mode: Mode, reads: &[Option<Arc<Buffer>>]) -> Result<()> {
    let options = if mode.observed() { context::options() } else { Recording::default() };
    let watch = if options.check_finite { Some((Watch::launch(call)?, held(call))) } else { None };
    if options.timed {
        call.device.wait()?;
    }
    let start = Instant::now();
    run_primal(call, reads)?;
    if options.timed {
        call.device.wait()?;
    }
    let seconds = start.elapsed().as_secs_f64();
    if let Some((watch, held)) = watch {
        let written: Vec<_> = call.arrays().filter(|(_, array, access)| access.writes() && array.is_real()).collect();
        let run = |positions: usize, id: u64| run_first(call, reads, &held, positions, id);
        let prefix = Prefix { positions: call.domain.len(), run: &run };
        let line = matches!(call.domain.dims(), [_, 1, 1]).then_some(&prefix);
        let before = |id: u64| held.iter().find(|(other, _)| *other == id).map(|(_, buffer)| &**buffer);
        let args = bind(call, reads, &before);
        let (device, scalar, domain) = (call.device, call.native.scalar, call.domain);
        let launched = Launched { device, scalar, domain, args: &args };
        watch.check(&|place| written.get(place).map(|(_, array, _)| array.buffer()), line, launched)?;
    }
    if mode.observed() {
        context::after_launch(call, reads, seconds);
    }
    if mode.forward() {
        forward::launch(call, reads)?;
    }
    Ok(())
}

/// What the launch is about to overwrite, by identity of the array. Held, it stays as it is.
fn held(call: Call<'_>) -> Vec<(u64, Arc<Buffer>)> {
    call.writes().map(|array| (array.id(), array.buffer())).collect()
}

/// Runs the first positions of a launch on copies of what it overwrites; gives the one of the array `id`.
fn run_first(
    call: Call<'_>,
    reads: &[Option<Arc<Buffer>>],
    held: &[(u64, Arc<Buffer>)],
    positions: usize,
    id: u64,
) -> Result<Arc<Buffer>> {
    let mut copies: Vec<(u64, Arc<Buffer>)> = Vec::new();
    for (id, before) in held {
        if copies.iter().all(|(other, _)| other != id) {
            let copy = call.device.alloc(before.bytes())?;
            call.device.copy(before, 0, &copy, 0, before.bytes())?;
            copies.push((*id, copy));
        }
    }
    let of = |id: u64| copies.iter().find(|(other, _)| *other == id).map(|(_, copy)| copy);
    let args = bind(call, reads, &|id| of(id).map(|copy| &**copy));
    let program = (call.def, Which::Primal, call.native.primal);
    backend::run(call.device, program, call.native.scalar, positions.into(), &args)?;
    of(id).cloned().ok_or_else(|| Error::Invalid("a launch that does not write what it wrote".to_owned()))
}

fn run_primal(call: Call<'_>, reads: &[Option<Arc<Buffer>>]) -> Result<()> {
    let mut writes = lock_writes(call);
    for (_, cell) in writes.iter_mut() {
        Buffer::unshare(&mut cell.buffer)?;
        cell.version += 1;
    }
    // What is overwritten was perhaps read for a tape, before it was unshared.
    let written = |id: u64| writes.iter().find(|(other, _)| *other == id).map(|(_, cell)| &*cell.buffer);
    let args = bind(call, reads, &written);
    let _span = trace::launch(call.def.name, "kernel", call.domain);
    let program = (call.def, Which::Primal, call.native.primal);
    unoptimised::timed(|| backend::run(call.device, program, call.native.scalar, call.domain, &args))
}

/// The arguments, with the contents of what is written by identity of the array.
fn bind<'a>(
    call: Call<'_>,
    reads: &'a [Option<Arc<Buffer>>],
    written: &dyn Fn(u64) -> Option<&'a Buffer>,
) -> Few<LaunchArg<'a, Buffer>, 24> {
    let mut args: Few<LaunchArg<'_, Buffer>, 24> = Few::new();
    for (slot, arg) in call.args.iter().enumerate() {
        args.push(match *arg {
            Arg::Array(array) => match written(array.id()).or(reads[slot].as_deref()) {
                Some(buffer) => part(array, buffer),
                None => LaunchArg::Absent { len: array.len() as u32 },
            },
            Arg::Real(x) => LaunchArg::Real(x),
            Arg::U32(x) => LaunchArg::U32(x),
            Arg::I32(x) => LaunchArg::I32(x),
            Arg::Usize(x) => LaunchArg::Usize(x),
            Arg::Bool(x) => LaunchArg::Bool(x),
        });
    }
    args
}

/// The elements of `array` within `buffer`, which has those of the whole array that it is a view of.
pub(crate) fn part<'a>(array: &AnyArray, buffer: &'a Buffer) -> LaunchArg<'a, Buffer> {
    LaunchArg::Buffer { buffer, offset: array.offset(), len: array.len() as u32, elem: array.elem() }
}

/// By slot, the present contents of what is read; `before`: also of what is read and overwritten. A view of an array that
/// is also written (elsewhere) is left out: it is reached through the lock.
fn read_buffers(call: Call<'_>, before: bool) -> Few<Option<Arc<Buffer>>, 24> {
    let written = |array: &AnyArray| call.writes().any(|written| written.id() == array.id());
    let read = |(arg, param): (&Arg<'_>, &ParamDef)| match (arg, access(param)) {
        (Arg::Array(array), Access::Read) if !written(array) => Some(array.buffer()),
        (Arg::Array(array), Access::Update) if before => Some(array.buffer()),
        _ => None,
    };
    call.args.iter().zip(call.def.primal.params).map(read).collect()
}

/// Locks what is written, in the order of identities, so that two launches never wait for each other.
fn lock_writes(call: Call<'_>) -> Few<(u64, MutexGuard<'_, Cell>), 8> {
    let mut arrays: Few<&AnyArray, 8> = call.writes().collect();
    arrays.sort_unstable_by_key(|array| array.id());
    let mut locked: Few<_, 8> = Few::new();
    for array in arrays.iter() {
        if locked.last().is_none_or(|(id, _)| *id != array.id()) {
            locked.push((array.id(), array.lock()));
        }
    }
    locked
}
