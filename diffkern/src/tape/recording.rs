//! What one can choose of a recording.

use std::rc::Rc;

use super::{Frame, Ledger, Overwrite, Recorder, Tape, context};
use crate::array::active::Open;
use crate::error::{Error, Result};
use crate::launch::observers::{self, Roles};

/// How a program is to be recorded: [`Tape::record`] with more to choose.
///
/// ```
/// # use diffkern::prelude::*;
/// # use diffkern::Recording;
/// # #[diff_kernel]
/// # fn invert<F: Float>(x: &Array<F>, y: &mut Array<F>) {
/// #     y[ABSOLUTE_POS] = F::new(1.0) / x[ABSOLUTE_POS];
/// # }
/// # fn main() -> Result<()> {
/// let dev = Device::cpu();
/// let (x, y) = (dev.array(&[1.0f32, 0.0])?.requires_grad(), dev.zeros(2)?);
/// let error = Recording::new().check_finite().record(|| invert(2, &x, &y)).unwrap_err();
/// let Error::NotFinite(found) = error else { panic!("{error}") };
/// assert_eq!((found.kernel, found.param, found.element), ("invert", "y", 1));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    pub(crate) overwrite: Overwrite,
    pub(crate) check_finite: bool,
    pub(crate) timed: bool,
}

impl Recording {
    /// As [`Tape::record`] records.
    pub fn new() -> Recording {
        Recording::default()
    }

    /// What happens when a value that the tape needs is overwritten.
    #[must_use]
    pub fn overwrite(mut self, overwrite: Overwrite) -> Recording {
        self.overwrite = overwrite;
        self
    }

    /// Looks at what every launch writes, and every adjoint in `backward`, and stops at the first value that is NaN or
    /// infinite with [`Error::NotFinite`]: the launch where it arises, or the input that it came in by. Steps of rollouts
    /// are looked at too, also when they are replayed. It reads all arrays of each launch back to the host.
    #[must_use]
    pub fn check_finite(mut self) -> Recording {
        self.check_finite = true;
        self
    }

    /// Waits for the device after each launch, so that the times of the report are those of the kernels there (with one
    /// wait each). Without it a report has, for a GPU, the times of handing launches over. On the CPU launches are over
    /// when they return, and are timed in any case.
    #[must_use]
    pub fn timed(mut self) -> Recording {
        self.timed = true;
        self
    }

    /// Runs `program` and records its launches: see [`Tape::record`].
    ///
    /// # Errors
    /// As [`Tape::record`], and what was chosen here.
    pub fn record(self, program: impl FnOnce() -> Result<()>) -> Result<Tape> {
        self.record_value(program).map(|(tape, ())| tape)
    }

    /// The same for a program that returns a value, such as its loss, and whose error may be of another type.
    ///
    /// # Errors
    /// As [`Recording::record`].
    pub fn record_value<R, E: From<Error>>(self, program: impl FnOnce() -> Result<R, E>) -> Result<(Tape, R), E> {
        let refuse = |reason: &str| Err(Error::Tape(reason.to_owned()).into());
        if context::is_recording() {
            return refuse("this thread records already; record both programs on one tape");
        }
        if context::is_stepping() {
            return refuse("a step of a rollout cannot record; record around the rollout");
        }
        if observers::is_played(Roles::TANGENTS) {
            return refuse("`jvp` cannot be recorded; call `jvp` and `Tape::record` one after the other");
        }
        let ledger = Rc::new(Ledger::new(self));
        let open = Open::new(ledger.recording);
        let frame = Frame { recorder: Some(Recorder::new(ledger.clone(), self.overwrite)), monitor: None };
        let (result, frame) = context::within(frame, program);
        drop(open);
        let result = result?;
        let (nodes, leaves, tracked) = frame.recorder.map(Recorder::into_parts).transpose()?.unwrap_or_default();
        Ok((Tape::new(nodes, leaves, tracked, ledger), result))
    }
}
