//! When a rollout keeps states, recomputes and walks backwards: sequences of actions that know no array and no device.

mod blocked;
mod multistage;
mod online;
mod parts;
mod plan;
mod revolve;
mod store_all;
#[cfg(test)]
mod tests;

pub use blocked::Blocked;
pub use multistage::Multistage;
pub use online::Online;
pub use plan::Plan;
pub(crate) use plan::{Costs, Kind, Light, endless_states};
pub use revolve::Revolve;
pub use store_all::StoreAll;

/// How a rollout trades memory for recomputation. The gradient is the same with each; on the CPU, to the bit.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern::{Rollout, Schedule};
///
/// let x = Device::cpu().zeros::<f32>(1000)?;
/// let way = Rollout::new(Schedule::Budget(1 << 20));
/// let plan = way.predict(500, &x, |x: &Array<f32>, _| Ok(x.clone()))?; // runs one step
/// println!("{plan}: {} steps run for each", plan.factor());
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// Every step's tape is kept: nothing is recomputed.
    StoreAll,
    /// At most so many states are kept, the initial one included, and steps are recomputed from them in the optimal
    /// (binomial) order.
    Checkpoints(usize),
    /// The fastest schedule whose tapes, states and adjoints are expected to fit into so many bytes, after a look at
    /// the first step: memory that states do not need goes to the tapes of several steps at a time.
    Budget(usize),
    /// A budget of 1 GiB.
    #[default]
    Auto,
}

/// One thing to do. Steps count from 0; state `k` is the one that step `k` starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Keep the present state, which is state `step`.
    Snapshot {
        /// Number of the state.
        step: usize,
    },
    /// Make the kept state `step` the present one.
    Restore {
        /// Number of the state.
        step: usize,
    },
    /// Forget the kept state `step`.
    Discard {
        /// Number of the state.
        step: usize,
    },
    /// Run the steps `from..to` without recording them; the present state is `from` before and `to` afterwards.
    Forward {
        /// First step to run.
        from: usize,
        /// The step after the last.
        to: usize,
    },
    /// Run step `step` and keep its tape; the present state is `step` before and `step + 1` afterwards.
    Record {
        /// Number of the step.
        step: usize,
    },
    /// Forget the tape of step `step` without walking it.
    Forget {
        /// Number of the step.
        step: usize,
    },
    /// Write the present state, which is state `step`, to a file.
    Save {
        /// Number of the state.
        step: usize,
    },
    /// Make state `step`, which is in a file, the present one.
    Load {
        /// Number of the state.
        step: usize,
    },
    /// Remove the file of state `step`.
    Erase {
        /// Number of the state.
        step: usize,
    },
    /// Walk the tape of step `step` backwards; the steps after it have been.
    Reverse {
        /// Number of the step.
        step: usize,
    },
}
