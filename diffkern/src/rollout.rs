//! Long sequences of steps: run, and when a tape records, reversed within a budget of memory.

mod files;
mod footprint;
mod machine;
mod options;
mod record;
mod replay;
mod second;
mod state;
mod store;

pub use options::Rollout;
pub use state::State;

#[cfg(doc)]
use crate::array::Array;
use crate::error::{Error, Result};
use crate::schedule::Schedule;
use crate::tape::context;
pub(crate) use machine::{Machine, StepTape};
pub(crate) use state::{observe, refresh, with_arrays};

/// Runs `steps` steps from `state`: `state = step(&state, k)?` for `k` from 0. While a tape records on this thread, the
/// rollout is recorded as one entry that `backward` replays by `schedule`; inside [`jvp`](crate::jvp) the tangents
/// travel along. [`Rollout`] has more to choose.
///
/// The step is pure: what it reads and may change from step to step is in the state, including what is not an array.
/// It may write the arrays of its state (the state given here keeps its values) and those it makes; it may read any.
/// Gradients reach the state given here and every array that the steps read. They leave by the state that is returned: a
/// recorded program that uses another array of a step afterwards is refused, unless it is a [`detached`](Array::detached) copy.
///
/// Arrays that the steps of a recorded rollout read from outside are in all of them, and in the steps that `backward` runs
/// again, what they were at the first read, whatever happens to them meanwhile or later.
///
/// # Errors
/// What a step returns; when it writes or returns an array that is neither in the state nor made inside the step, or returns
/// arrays of another number or shape. From `backward`: when a replayed step launches something else, with other arrays,
/// scalars or shapes, or reads other values to the host, than it did at first, or uses on a GPU what `fetch_add` gives.
pub fn rollout<S: State + 'static>(
    steps: usize,
    schedule: Schedule,
    state: S,
    step: impl Fn(&S, usize) -> Result<S> + 'static,
) -> Result<S> {
    Rollout::new(schedule).run(steps, state, step)
}

/// Tells the step around this rollout, if there is one, what the steps in it have done.
pub(crate) fn pass_on(machine: &Machine) -> Result<()> {
    context::with_monitor(|monitor| {
        let mut captured: Vec<_> = machine.captured.values().collect();
        captured.sort_by_key(|captured| captured.index);
        let what = || "a rollout inside the step".to_owned();
        captured.iter().try_for_each(|captured| monitor.read(&captured.array, &what))?;
        machine.hashes.iter().for_each(|&hash| monitor.fold(hash));
        monitor.fold(machine.hashes.len() as u64);
        monitor.inner.extend(machine.inner.iter().flatten().copied().chain([machine.first_id]));
        Ok(())
    })
}

fn broken(what: &str) -> Error {
    Error::Schedule(format!("its actions do not fit together: {what}"))
}
