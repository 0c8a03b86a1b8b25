//! The typed launch: checks, exclusion, the run, with the observers of the thread around it.

mod call;
pub(crate) mod observers;
mod check;
mod host;
#[cfg(test)]
mod tests;

use std::sync::{Arc, MutexGuard};

pub use call::Arg;
pub(crate) use call::{Call, access, bind, part};

use crate::array::{AnyArray, Cell, active};
use crate::backend::native::Native;
use crate::buffer::{Buffer, LaunchArg};
use crate::domain::Domain;
use crate::error::Result;
use crate::few::Few;
use crate::kernel::{Access, KernelDef, ParamDef, Which};
use crate::trace;
use crate::unoptimised;
use observers::{Event, Joined};

/// By slot, what a launch reads.
type Reads = Few<Option<Arc<Buffer>>, 24>;

/// Runs a kernel once per index of `domain`. What the host can check is checked; on a GPU the kernel itself runs later.
///
/// # Errors
/// When the arguments do not fit, an index is out of range, the device fails, or a tape refuses the launch.
pub fn launch(def: &'static KernelDef, native: Native, domain: Domain, args: &[Arg<'_>]) -> Result<()> {
    let Some(device) = check::check(def, &native, args)? else {
        return Ok(());
    };
    let call = Call { def, native: &native, domain, args, device };
    match observers::observed() {
        false => {
            let mut reads: Reads = Few::new();
            reads.extend(read_buffers(call, false));
            noted(call, run_primal(call, &reads, None))
        }
        true => run_observed(call),
    }
}

/// Runs the kernel with the observers of the thread around it.
#[inline(never)]
fn run_observed(call: Call<'_>) -> Result<()> {
    let active = observers::active();
    let event = Event::Launch(call);
    active.iter().try_for_each(|observer| observer.before(&event))?;
    let joined = observers::join(&active, call)?;
    // Others than the one that joins may look at what was read and overwritten.
    let complete = active.len() == 1 && joined.as_ref().is_some_and(|joined| joined.complete);
    let mut reads: Reads = Few::new();
    reads.extend(read_buffers(call, !active.is_empty() && !complete));
    let after = |()| active.iter().rev().try_for_each(|observer| observer.after(&event, &reads));
    let failed = |_: &_| active.iter().for_each(|observer| observer.failed(call.def.name));
    noted(call, run_primal(call, &reads, joined.as_ref()).and_then(after).inspect_err(failed))
}

/// Arrays that a launch used may have strayed, whatever became of it.
fn noted(call: Call<'_>, done: Result<()>) -> Result<()> {
    active::note_strays(|| call.arrays().map(|(_, array, _)| array), || call.writes());
    done
}

/// Runs the kernel, or `joined` in its place.
fn run_primal(call: Call<'_>, reads: &[Option<Arc<Buffer>>], joined: Option<&Joined>) -> Result<()> {
    let mut writes = lock_writes(call);
    for (_, cell) in writes.iter_mut() {
        Buffer::unshare(&mut cell.buffer)?;
        cell.version += 1;
    }
    // What is overwritten was perhaps read for a tape, before it was unshared.
    let written = |id: u64| writes.iter().find(|(other, _)| *other == id).map(|(_, cell)| &*cell.buffer);
    let mut args: Few<_, 24> = Few::new();
    args.extend(bind(call, reads, written));
    let (name, (which, body)) = match joined {
        Some(joined) => ("kernel and tangents", joined.program),
        None => ("kernel", (Which::Primal, call.native.primal)),
    };
    for (slot, buffer) in joined.iter().flat_map(|joined| &joined.more) {
        if let Arg::Array(array) = call.args[*slot] {
            args.push(match buffer {
                Some(buffer) => part(array, buffer),
                None => LaunchArg::Absent { len: array.len() as u32 },
            });
        }
    }
    let _span = trace::launch(call.def.name, name, call.domain);
    unoptimised::timed(|| call.device.run((call.def, which, body), call.native.scalar, call.domain, &args))
}

/// By slot, the present contents of what is read; `before`: also of what is read and overwritten. A view of an array that
/// is also written (elsewhere) is left out: it is reached through the lock.
fn read_buffers(call: Call<'_>, before: bool) -> impl Iterator<Item = Option<Arc<Buffer>>> {
    let written = move |array: &AnyArray| call.writes().any(|written| written.id() == array.id());
    let read = move |(arg, param): (&Arg<'_>, &ParamDef)| match (arg, access(param)) {
        (Arg::Array(array), Access::Read) if !written(array) => Some(array.buffer()),
        (Arg::Array(array), Access::Update) if before => Some(array.buffer()),
        _ => None,
    };
    call.args.iter().zip(call.def.primal.params).map(read)
}

/// Locks what is written, in the order of identities, so that two launches never wait for each other.
#[inline]
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
