//! What one can choose of a rollout.

use std::path::PathBuf;

use super::machine::Machine;
use super::pass_on;
use super::record::{self, Length};
use super::replay::Progress;
use super::state::{Given, State, observe, refresh};
use super::store::Store;
use crate::error::{Error, Result};
use crate::ids::fresh_id;
use crate::schedule::{Plan, Schedule};
use crate::tape::{Again, Ledger, Overwrite, Recording, context};

/// A sequence of steps to be run, and how it is to be reversed: [`rollout`](crate::rollout) with more to choose.
///
/// ```
/// # use diffkern::prelude::*;
/// # use diffkern::Rollout;
/// # #[diff_kernel]
/// # fn halve<F: Float>(x: &Array<F>, y: &mut Array<F>) {
/// #     y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * 0.5;
/// # }
/// # fn main() -> Result<()> {
/// let dev = Device::cpu();
/// let x = dev.array(&[100.0f32])?.requires_grad();
/// let (tape, (y, steps)) = Tape::record_value(|| {
///     let large = |x: &Array<f32>, _| Ok(x.to_vec()?[0] > 1.0);
///     Rollout::new(Schedule::Checkpoints(3)).run_while(large, x.clone(), |x: &Array<f32>, _| {
///         let y = x.device().uninit(1)?;
///         halve(1, x, &y)?;
///         Ok(y)
///     })
/// })?;
/// tape.backward(&y)?;
/// assert_eq!((steps, x.grad()?.to_vec()?), (7, vec![1.0 / 128.0]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rollout {
    pub(super) schedule: Schedule,
    pub(super) again: Again,
    files: Option<PathBuf>,
    file_cost: Option<f64>,
}

impl Rollout {
    /// By this schedule, in memory alone.
    pub fn new(schedule: Schedule) -> Rollout {
        Rollout { schedule, again: Again::None, files: None, file_cost: None }
    }

    /// Allows states in files of this folder, beyond those in memory: one each so many steps, at most so many bytes as
    /// `steps / distance` states have. They have a checksum and are removed when they are no longer needed, at the
    /// latest when the tape is dropped. [`Schedule::Checkpoints`] then counts the states in memory alone; with a budget
    /// files are used where that saves work.
    #[must_use]
    pub fn files(mut self, dir: impl Into<PathBuf>) -> Rollout {
        self.files = Some(dir.into());
        self
    }

    /// What writing and reading a file costs, in steps; 1 if not given. It decides how far apart the files are. A rollout
    /// that has no [files](Rollout::files) refuses it.
    #[must_use]
    pub fn file_cost_steps(mut self, steps: f64) -> Rollout {
        self.file_cost = Some(steps);
        self
    }

    /// Allows launches of the kernels of these names to be run again in `backward`, instead of their results being
    /// kept for the gradients of later launches of the step (see [`recompute`](crate::recompute)). With a budget that is
    /// done where it saves work, otherwise always. The report says which of these names no step has launched
    /// ([`RolloutReport::not_launched`](crate::RolloutReport::not_launched)).
    #[must_use]
    pub fn recompute(mut self, kernels: &[&str]) -> Rollout {
        self.again = Again::Kernels(kernels.iter().map(|&name| name.to_owned()).collect());
        self
    }

    /// The same for all kernels.
    #[must_use]
    pub fn recompute_all(mut self) -> Rollout {
        self.again = Again::All;
        self
    }

    pub(super) fn dir(&self) -> Option<PathBuf> {
        self.files.clone()
    }

    /// Steps that a file costs, where there may be files.
    pub(super) fn file_cost(&self) -> Option<f64> {
        self.files.as_ref().map(|_| self.file_cost.unwrap_or(1.0))
    }

    fn check(&self) -> Result<()> {
        let refuse = |reason: String| Err(Error::Schedule(reason));
        match (self.file_cost, &self.files) {
            (Some(cost), None) => {
                return refuse(format!("a file costs {cost} steps, and there are none; give a folder by `files`"));
            }
            (Some(cost), Some(_)) if !(cost.is_finite() && cost >= 0.0) => {
                return refuse(format!("a file costs {cost} steps; give a number of at least 0"));
            }
            _ => {}
        }
        match self.schedule {
            Schedule::Checkpoints(0) => refuse("0 states cannot be restarted from; keep at least 1".to_owned()),
            _ => Ok(()),
        }
    }

    /// Runs a number of steps: see [`rollout`](crate::rollout).
    ///
    /// # Errors
    /// As [`rollout`](crate::rollout), and when a file cannot be written or read.
    pub fn run<S: State + 'static>(
        &self,
        steps: usize,
        state: S,
        step: impl Fn(&S, usize) -> Result<S> + 'static,
    ) -> Result<S> {
        self.check()?;
        if steps == 0 {
            return Ok(state);
        }
        let first_id = fresh_id();
        observe(&state)?;
        match context::with_recorder(|recorder, _| (recorder.ledger.clone(), recorder.overwrite())) {
            Some(record) => {
                record::record(self, Length::Known(steps), state, step, record, first_id).map(|(end, _)| end)
            }
            None => {
                let mut machine = Machine::new(first_id, None);
                let mut now = refresh(&state)?;
                for k in 0..steps {
                    now = machine.run(&step, &now, k)?;
                }
                pass_on(&machine)?;
                Ok(now)
            }
        }
    }

    /// [`Rollout::run`] whose steps also get `given`: see [`rollout_with`](crate::rollout_with).
    ///
    /// # Errors
    /// As [`Rollout::run`].
    pub fn run_with<S: State + 'static, G: Given>(
        &self,
        steps: usize,
        state: S,
        given: G,
        step: impl Fn(&G::Kept, &S, usize) -> Result<S> + 'static,
    ) -> Result<S> {
        let kept = given.keep();
        self.run(steps, state, move |state: &S, k| step(&kept, state, k))
    }

    /// Runs steps as long as `go_on(&state, k)` says so before step `k`, and returns how many there were. Nobody needs
    /// to know that number in advance: while a tape records, states are kept by the dynamic scheme of
    /// [`Online`](crate::schedule::Online), which never runs a step more often than the best schedule for the number of
    /// steps with one state less in memory.
    ///
    /// `go_on` may launch kernels and read arrays; it writes nothing that was there before.
    ///
    /// # Errors
    /// As [`Rollout::run`], and what `go_on` returns.
    pub fn run_while<S: State + 'static>(
        &self,
        go_on: impl Fn(&S, usize) -> Result<bool>,
        state: S,
        step: impl Fn(&S, usize) -> Result<S> + 'static,
    ) -> Result<(S, usize)> {
        self.check()?;
        let first_id = fresh_id();
        observe(&state)?;
        let mut asks = |machine: &mut Machine, state: &S, k: usize| machine.ask(&go_on, state, k);
        match context::with_recorder(|recorder, _| (recorder.ledger.clone(), recorder.overwrite())) {
            Some(record) => record::record(self, Length::While(&mut asks), state, step, record, first_id),
            None => {
                let mut machine = Machine::new(first_id, None);
                let (mut now, mut k) = (refresh(&state)?, 0);
                while asks(&mut machine, &now, k)? {
                    now = machine.run(&step, &now, k)?;
                    k += 1;
                }
                pass_on(&machine)?;
                Ok((if k == 0 { state } else { now }, k))
            }
        }
    }

    /// What recording `steps` steps and one `backward` would cost: the plan that [`Rollout::run`] would follow. With a
    /// budget this runs the first step, once or twice, to measure it.
    ///
    /// # Errors
    /// As [`Rollout::run`], and inside a recording.
    pub fn predict<S: State>(&self, steps: usize, state: &S, step: impl Fn(&S, usize) -> Result<S>) -> Result<Plan> {
        self.check()?;
        if context::is_recording() || context::is_stepping() {
            return Err(Error::Tape("`predict` inside a recording; call it before".to_owned()));
        }
        let ledger = std::rc::Rc::new(Ledger::new(Recording::default()));
        let machine = Machine::new(fresh_id(), Some((ledger.clone(), Overwrite::Keep)));
        let mut progress = Progress::new(machine, refresh(state)?, Store::new(ledger, None));
        record::choose(self, steps, state, &step, &mut progress)
    }
}
