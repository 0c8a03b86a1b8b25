//! What this thread is doing: recording, stepping through a rollout.
//!
//! Frames are stacked: a tape, inside it a step of a rollout, inside it a step of another. Only the top one records;
//! those below answer which arrays have a gradient.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::account::Account;
use super::check_finite::Finite;
use super::ledger::Ledger;
use super::monitor::Monitor;
use super::recorder::Recorder;
use crate::array::AnyArray;
use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::kernel::Access;
use crate::launch::observers::{self, Event, Observer, Read, Roles};
use crate::launch::{self, Call};
use crate::tape::Overwrite;

/// A stretch of the program under observation.
#[derive(Default)]
pub(crate) struct Frame {
    pub(crate) recorder: Option<Recorder>,
    pub(crate) monitor: Option<Monitor>,
}

impl Frame {
    fn ledger(&self) -> Option<&Rc<Ledger>> {
        let recorder = self.recorder.as_ref().map(|recorder| &recorder.ledger);
        recorder.or_else(|| self.monitor.as_ref().and_then(Monitor::ledger))
    }
}

/// A frame on the stack of observers.
struct Framed {
    recorder: RefCell<Option<Recorder>>,
    monitor: RefCell<Option<Monitor>>,
}

/// Runs `body` inside a frame, and gives the frame back.
pub(crate) fn within<R>(frame: Frame, body: impl FnOnce() -> R) -> (R, Frame) {
    let ledger = frame.ledger().cloned();
    let framed = Rc::new(Framed { recorder: RefCell::new(frame.recorder), monitor: RefCell::new(frame.monitor) });
    let on_stack = observers::register(Roles::PROGRAM, framed.clone());
    // Last in and first out, so that the time is that of the launch alone.
    let finite = ledger.as_ref().filter(|ledger| ledger.options.check_finite);
    let finite = finite.map(|_| observers::register(Roles::FINITE, Rc::new(Finite::default())));
    let account = ledger.map(|ledger| observers::register(Roles::ACCOUNT, Rc::new(Account::new(ledger))));
    let result = body();
    drop(account);
    drop(finite);
    drop(on_stack);
    (result, Frame { recorder: framed.recorder.take(), monitor: framed.monitor.take() })
}

/// Runs `body` so that no tape records its launches, no rollout watches them, and nothing carries tangents through them.
pub(crate) fn quietly<R>(body: impl FnOnce() -> R) -> R {
    let _masked = observers::mask(Roles::PROGRAM.and(Roles::TANGENTS));
    body()
}

/// Whether any frame of this thread records.
pub(crate) fn is_recording() -> bool {
    observers::observed() && observers::all::<Framed>().iter().any(|frame| frame.recorder.borrow().is_some())
}

/// Whether a step of a rollout runs.
pub(crate) fn is_stepping() -> bool {
    observers::observed() && observers::all::<Framed>().iter().any(|frame| frame.monitor.borrow().is_some())
}

/// Calls `act` with the top recorder, if the top frame has one, and with the test whether an array has a gradient in a
/// frame below.
pub(crate) fn with_recorder<R>(act: impl FnOnce(&mut Recorder, &dyn Fn(u64) -> bool) -> R) -> Option<R> {
    if !observers::observed() {
        return None;
    }
    let top = observers::told::<Framed>(Roles::PROGRAM)?;
    top.with_recorder(act)
}

/// Calls `act` with the monitor of the step that runs, if one does.
pub(crate) fn with_monitor(act: impl FnOnce(&mut Monitor) -> Result<()>) -> Result<()> {
    match observers::told::<Framed>(Roles::PROGRAM) {
        Some(top) => top.with_monitor(act),
        None => Ok(()),
    }
}

impl Framed {
    fn with_recorder<R>(&self, act: impl FnOnce(&mut Recorder, &dyn Fn(u64) -> bool) -> R) -> Option<R> {
        let mut recorder = self.recorder.borrow_mut();
        let around = |id| {
            let frames = observers::all::<Framed>();
            let below = frames.iter().take_while(|frame| !std::ptr::eq(&***frame, self));
            below.into_iter().any(|frame| frame.recorder.borrow().as_ref().is_some_and(|r| r.knows(id)))
        };
        Some(act(recorder.as_mut()?, &around))
    }

    fn with_monitor(&self, act: impl FnOnce(&mut Monitor) -> Result<()>) -> Result<()> {
        match self.monitor.borrow_mut().as_mut() {
            Some(monitor) => act(monitor),
            None => Ok(()),
        }
    }

    fn before_launch(&self, call: Call<'_>) -> Result<()> {
        let what = || format!("kernel `{}`", call.def.name);
        // Before the monitor, which makes the array one of this step.
        self.with_recorder(|recorder, around| {
            call.arrays().try_for_each(|(_, array, _)| recorder.allow_use(array, around, &what))
        })
        .unwrap_or(Ok(()))?;
        self.with_monitor(|monitor| monitor.launch(call))?;
        self.with_recorder(|recorder, _| {
            call.arrays().filter(|(_, _, access)| access.writes()).try_for_each(|(slot, array, access)| {
                let reads = |param| launch::access(param) == Access::Read;
                let needed = call.def.adjoint.params.get(slot).is_some_and(reads);
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

    fn before_write(&self, array: &AnyArray, what: &'static str) -> Result<()> {
        self.with_monitor(|monitor| {
            monitor.fold(what.len() as u64);
            monitor.write(array, &|| format!("`{what}`"))
        })?;
        self.with_recorder(|recorder, _| recorder.allow_write(array, true, &|| format!("`{what}`"))).unwrap_or(Ok(()))
    }
}

impl Observer for Framed {
    fn before(&self, event: &Event<'_>) -> Result<()> {
        match *event {
            Event::Launch(call) => self.before_launch(call),
            Event::Overwrite { array, what, content } => {
                self.before_write(array, what)?;
                self.upload(content);
                Ok(())
            }
            Event::Copy { to, from } => {
                let what = || "`copy_from`".to_owned();
                self.with_recorder(|recorder, around| recorder.allow_use(from, around, &what)).unwrap_or(Ok(()))?;
                self.before_write(to, "copy_from")?;
                self.with_monitor(|monitor| monitor.read(from, &what))
            }
        }
    }

    fn after(&self, event: &Event<'_>, reads: &[Option<Arc<Buffer>>]) -> Result<()> {
        self.with_recorder(|recorder, around| match *event {
            Event::Launch(call) => recorder.launch(call, reads, around),
            Event::Overwrite { array, .. } => recorder.overwritten(array, around),
            Event::Copy { to, from } => recorder.copied(to, from, around),
        });
        Ok(())
    }

    fn failed(&self, kernel: &'static str) {
        self.with_recorder(|recorder, _| recorder.failed(kernel));
    }

    fn upload(&self, bytes: &[u8]) {
        if let Some(monitor) = self.monitor.borrow_mut().as_mut() {
            monitor.fold_bytes(bytes);
        }
    }

    fn read(&self, array: &AnyArray, read: &Read<'_>) -> Result<()> {
        self.with_monitor(|monitor| match *read {
            Read::Host(bytes) => {
                monitor.fold_bytes(bytes);
                monitor.read(array, &|| "read to the host".to_owned())
            }
            Read::Constant(what) => {
                monitor.fold(what.len() as u64);
                monitor.read(array, &|| format!("`{what}`"))
            }
        })
    }
}
