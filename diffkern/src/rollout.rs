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
pub use state::{Given, State};

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
/// The tape runs the steps again in `backward`, and so keeps the closure: what that uses besides the state it owns, by `move`
/// of clones, or by [`rollout_with`], which clones by itself.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern::rollout;
///
/// #[diff_kernel]
/// fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
///     y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
/// }
///
/// let dev = Device::cpu();
/// let x = dev.array(&[1.1])?.requires_grad();
/// let (tape, end) = Tape::record_value(|| {
///     rollout(3, Schedule::Checkpoints(2), x.clone(), |x: &Array<f64>, _| {
///         let next = x.device().uninit(1)?;
///         square(1, x, &next)?;
///         Ok(next)
///     })
/// })?;
/// tape.backward(&end)?;
/// assert!((x.grad()?.to_vec()?[0] - 8.0 * 1.1f64.powi(7)).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
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

/// [`rollout`] whose steps also get `given`: references to arrays and other values that they read, one or a tuple of
/// them.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern::rollout_with;
///
/// #[diff_kernel]
/// fn decay<F: Float>(x: &Array<F>, rate: &Array<F>, next: &mut Array<F>, dt: F) {
///     next[ABSOLUTE_POS] = x[ABSOLUTE_POS] * (1.0 - rate[0] * dt);
/// }
///
/// let dev = Device::cpu();
/// let (x, rate) = (dev.array(&[1.0])?, dev.array(&[0.5])?.requires_grad());
/// let dt = 0.1;
/// let (tape, end) = Tape::record_value(|| {
///     rollout_with(10, Schedule::Auto, x, (&rate, &dt), |(rate, dt), x, _| {
///         let next = x.device().uninit(1)?;
///         decay(1, x, rate, &next, *dt)?;
///         Ok(next)
///     })
/// })?;
/// tape.backward(&end)?;
/// assert!((rate.grad()?.to_vec()?[0] + 0.95f64.powi(9)).abs() < 1e-12);
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`rollout`].
pub fn rollout_with<S: State + 'static, G: Given>(
    steps: usize,
    schedule: Schedule,
    state: S,
    given: G,
    step: impl Fn(&G::Kept, &S, usize) -> Result<S> + 'static,
) -> Result<S> {
    Rollout::new(schedule).run_with(steps, state, given, step)
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
