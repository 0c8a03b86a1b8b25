//! Long sequences of steps: run, and when a tape records, reversed within a budget of memory.

mod machine;
mod replay;
mod state;

pub use state::State;

use crate::error::{Error, Result};
use crate::ids::next_id;
use crate::schedule::Schedule;
use crate::tape::context;
use machine::Machine;
use state::{observe, refresh};

/// Runs `steps` steps from `state`: `state = step(&state, k)?` for `k` from 0. While a tape records on this thread, the
/// rollout is recorded as one entry that `backward` replays by `schedule`; inside [`jvp`](crate::jvp) the tangents
/// travel along.
///
/// The step is pure: what it reads and may change from step to step is in the state, including what is not an array.
/// It may write the arrays of its state (the state given here keeps its values) and those it makes; it may read any.
/// Gradients reach the state given here and every array that the steps read.
///
/// `backward` runs steps again, with the arrays that they read as they were at first; leave those arrays alone in other
/// threads meanwhile.
///
/// # Errors
/// What a step returns; when it writes an array that is neither in the state nor made inside the step, or returns
/// arrays of another number or shape. From `backward`: when a replayed step launches something else, with other scalars
/// or shapes, or reads other values to the host, than it did at first.
pub fn rollout<S: State + 'static>(
    steps: usize,
    schedule: Schedule,
    state: S,
    step: impl Fn(&S, usize) -> Result<S> + 'static,
) -> Result<S> {
    if let Schedule::Checkpoints(0) = schedule {
        return Err(Error::Schedule("0 states cannot be restarted from; keep at least 1".to_owned()));
    }
    if steps == 0 {
        return Ok(state);
    }
    let first_id = next_id();
    observe(&state)?;
    match context::with_recorder(|recorder, _| (recorder.ledger.clone(), recorder.overwrite())) {
        Some((ledger, overwrite)) => replay::record(steps, schedule, state, step, (ledger, overwrite), first_id),
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

/// Tells the step around this rollout, if there is one, what the steps in it have done.
fn pass_on(machine: &Machine) -> Result<()> {
    context::with_monitor(|monitor| {
        let mut captured: Vec<_> = machine.captured.values().collect();
        captured.sort_by_key(|captured| captured.index);
        let what = || "a rollout inside the step".to_owned();
        captured.iter().try_for_each(|captured| monitor.read(&captured.array, &what))?;
        machine.hashes.iter().for_each(|&hash| monitor.fold(hash));
        Ok(())
    })
}
