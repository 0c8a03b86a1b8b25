//! What this thread is doing: recording, stepping through a rollout, carrying tangents.
//!
//! Frames are stacked: a tape, inside it a step of a rollout, inside it a step of another. Only the top one records;
//! those below answer which arrays have a gradient.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::ledger::Ledger;
use super::monitor::Monitor;
use super::recorder::Recorder;
use crate::array::AnyArray;
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::forward;
use crate::kernel::Access;
use crate::launch::{self, Call};
use crate::tape::{Overwrite, Recording, open};

const OBSERVED: u8 = 1;
const FORWARD: u8 = 2;

thread_local! {
    static MODE: Cell<u8> = const { Cell::new(0) };
    static STACK: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// A stretch of the program under observation.
#[derive(Default)]
pub(crate) struct Frame {
    pub(crate) recorder: Option<Recorder>,
    pub(crate) monitor: Option<Monitor>,
}

impl Frame {
    fn account(&self) -> Option<&Ledger> {
        let recorder = self.recorder.as_ref().map(|recorder| &*recorder.ledger);
        recorder.or_else(|| self.monitor.as_ref().and_then(|monitor| monitor.ledger().map(|ledger| &**ledger)))
    }
}

/// Which of the rarer things a launch has to take part in.
#[derive(Clone, Copy)]
pub(crate) struct Mode(u8);

impl Mode {
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    /// A tape records, or a step of a rollout runs.
    pub(crate) fn observed(self) -> bool {
        self.0 & OBSERVED != 0
    }

    pub(crate) fn forward(self) -> bool {
        self.0 & FORWARD != 0
    }
}

pub(crate) fn mode() -> Mode {
    Mode(MODE.get())
}

pub(crate) fn set_forward(on: bool) {
    MODE.set(if on { MODE.get() | FORWARD } else { MODE.get() & !FORWARD });
}

/// What was chosen for the recording that runs.
pub(crate) fn options() -> Recording {
    with_ledger(|ledger| ledger.options).unwrap_or_default()
}

/// Calls `act` with the account of the recording that runs: of the nearest frame that has one.
fn with_ledger<R>(act: impl FnOnce(&Ledger) -> R) -> Option<R> {
    STACK.with_borrow(|stack| stack.iter().rev().find_map(Frame::account).map(act))
}

/// Runs `body` inside a frame, and gives the frame back.
pub(crate) fn within<R>(frame: Frame, body: impl FnOnce() -> R) -> (R, Frame) {
    struct Pop;
    impl Drop for Pop {
        fn drop(&mut self) {
            drop(pop());
        }
    }
    STACK.with_borrow_mut(|stack| stack.push(frame));
    MODE.set(MODE.get() | OBSERVED);
    let guard = Pop;
    let result = body();
    std::mem::forget(guard);
    (result, pop())
}

fn pop() -> Frame {
    STACK.with_borrow_mut(|stack| {
        let frame = stack.pop().unwrap_or_default();
        if stack.is_empty() {
            MODE.set(MODE.get() & !OBSERVED);
        }
        frame
    })
}

/// Whether any frame of this thread records.
pub(crate) fn is_recording() -> bool {
    STACK.with_borrow(|stack| stack.iter().any(|frame| frame.recorder.is_some()))
}

/// Whether a step of a rollout runs.
pub(crate) fn is_stepping() -> bool {
    STACK.with_borrow(|stack| stack.iter().any(|frame| frame.monitor.is_some()))
}

/// Calls `act` with the top recorder, if the top frame has one, and with the test whether an array has a gradient in a
/// frame below.
pub(crate) fn with_recorder<R>(act: impl FnOnce(&mut Recorder, &dyn Fn(u64) -> bool) -> R) -> Option<R> {
    STACK.with_borrow_mut(|stack| {
        let (top, below) = stack.split_last_mut()?;
        let around = |id| below.iter().any(|frame| frame.recorder.as_ref().is_some_and(|r| r.knows(id)));
        Some(act(top.recorder.as_mut()?, &around))
    })
}

/// Calls `act` with the monitor of the step that runs, if one does.
pub(crate) fn with_monitor(act: impl FnOnce(&mut Monitor) -> Result<()>) -> Result<()> {
    STACK.with_borrow_mut(|stack| match stack.last_mut().and_then(|frame| frame.monitor.as_mut()) {
        Some(monitor) => act(monitor),
        None => Ok(()),
    })
}

pub(crate) fn before_launch(call: Call<'_>) -> Result<()> {
    // Before the monitor, which makes the array one of this step.
    with_recorder(|recorder, around| {
        let what = || format!("kernel `{}`", call.def.name);
        call.arrays().try_for_each(|(_, array, _)| recorder.allow_use(array, around, &what))
    })
    .unwrap_or(Ok(()))?;
    with_monitor(|monitor| monitor.launch(call))?;
    with_recorder(|recorder, _| {
        let what = || format!("kernel `{}`", call.def.name);
        call.arrays().filter(|(_, _, access)| access.writes()).try_for_each(|(slot, array, access)| {
            let needed = call.def.adjoint.params.get(slot).is_some_and(|param| launch::access(param) == Access::Read);
            if access == Access::Update && needed && recorder.overwrite() == Overwrite::Error {
                return Err(Error::Overwrite { what: what(), array: array.label() });
            }
            recorder.allow_write(array, matches!(access, Access::Store | Access::Update), &what)
        })?;
        recorder.prepare(call);
        Ok(())
    })
    .unwrap_or(Ok(()))
}

pub(crate) fn after_launch(call: Call<'_>, reads: &[Option<Arc<Buffer>>], seconds: f64) {
    let [lack, _] = call.native.lacks_on(call.device);
    let recorded = with_recorder(|recorder, around| {
        recorder.ledger.forward(call.def, lack, seconds);
        recorder.launch(call, reads, around);
    });
    if recorded.is_none() {
        // A step that is run only to get to a later one.
        with_ledger(|ledger| ledger.forward(call.def, lack, seconds));
    }
}

fn before_write(array: &AnyArray, what: &'static str) -> Result<()> {
    with_monitor(|monitor| {
        monitor.fold(what.len() as u64);
        monitor.write(array, &|| format!("`{what}`"))
    })?;
    with_recorder(|recorder, _| recorder.allow_write(array, true, &|| format!("`{what}`"))).unwrap_or(Ok(()))
}

/// Overwrites elements of an array by `content`, which has no gradient.
pub(crate) fn overwrite(
    array: &AnyArray,
    what: &'static str,
    content: &[u8],
    run: impl FnOnce(&AnyArray) -> Result<()>,
) -> Result<()> {
    let mode = mode();
    if mode.observed() {
        before_write(array, what)?;
        observe_upload(content);
    }
    run(array)?;
    open::note_strays(|| std::iter::once(array), || std::iter::once(array));
    if mode.observed() {
        with_recorder(|recorder, around| recorder.overwritten(array, around));
    }
    if mode.forward() {
        forward::clear(array)?;
    }
    Ok(())
}

/// Copies elements between arrays that fit.
pub(crate) fn copy(to: &AnyArray, from: &AnyArray) -> Result<()> {
    let mode = mode();
    if mode.observed() {
        let what = || "`copy_from`".to_owned();
        with_recorder(|recorder, around| recorder.allow_use(from, around, &what)).unwrap_or(Ok(()))?;
        before_write(to, "copy_from")?;
        with_monitor(|monitor| monitor.read(from, &|| "`copy_from`".to_owned()))?;
    }
    if mode.forward() {
        forward::allow_use([from, to].into_iter(), &|| "`copy_from`".to_owned())?;
    }
    let (source, (at, _), (to_at, bytes)) = (from.buffer(), from.byte_range(), to.byte_range());
    to.update(|target| to.device().copy(&source, at, target, to_at, bytes))?;
    open::note_strays(|| [from, to].into_iter(), || std::iter::once(to));
    if mode.observed() {
        with_recorder(|recorder, around| recorder.copied(to, from, around));
    }
    if mode.forward() {
        forward::copy(to, from)?;
    }
    Ok(())
}

/// Notes that the host has read an array.
pub(crate) fn observe_read(array: &AnyArray, bytes: &[u8]) -> Result<()> {
    if !mode().observed() {
        return Ok(());
    }
    with_monitor(|monitor| {
        monitor.fold_bytes(bytes);
        monitor.read(array, &|| "read to the host".to_owned())
    })
}

/// Notes that an operation takes the contents of an array as a constant.
pub(crate) fn observe_use(array: &AnyArray, what: &'static str) -> Result<()> {
    if !mode().observed() {
        return Ok(());
    }
    with_monitor(|monitor| {
        monitor.fold(what.len() as u64);
        monitor.read(array, &|| format!("`{what}`"))
    })
}

/// Notes that a launch has failed after it may have written something.
pub(crate) fn failed(kernel: &'static str) {
    with_recorder(|recorder, _| recorder.failed(kernel));
}

/// Notes that the host has brought in data.
pub(crate) fn observe_upload(bytes: &[u8]) {
    if mode().observed() {
        let _ = with_monitor(|monitor| {
            monitor.fold_bytes(bytes);
            Ok(())
        });
    }
}
