//! The schedule in use, chosen from what the user asked for.

use std::fmt;

use super::{Action, Revolve, Schedule, StoreAll};
use crate::error::{Error, Result};
use crate::report::Bytes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    StoreAll,
    /// So many kept states, the initial one included.
    Revolve {
        states: usize,
    },
    /// The same, chosen to need at most so many bytes.
    Fitted {
        states: usize,
        bytes: usize,
    },
}

impl Schedule {
    /// Bytes to stay within.
    pub(crate) fn budget(self) -> usize {
        match self {
            Schedule::Budget(bytes) => bytes,
            _ => 1 << 30,
        }
    }
}

impl Plan {
    /// The fastest plan that fits, for a state and a step's `(tape, adjoints)` of so many bytes.
    pub(crate) fn within(budget: usize, steps: usize, state: usize, (tape, adjoints): (usize, usize)) -> Result<Plan> {
        let all = steps.saturating_mul(tape).saturating_add(state + adjoints);
        if all <= budget {
            return Ok(Plan::StoreAll);
        }
        // Reversing a step takes its tape, its adjoints and the state that it starts from.
        let fixed = state.saturating_add(tape).saturating_add(adjoints);
        let states = budget.saturating_sub(fixed) / state.max(1);
        if states == 0 {
            return Err(Error::Schedule(format!(
                "{} are too few: one step needs {} (tape {}, adjoints {}, its state {}) and one kept state {}; give at \
                 least {}",
                Bytes(budget),
                Bytes(fixed),
                Bytes(tape),
                Bytes(adjoints),
                Bytes(state),
                Bytes(state),
                Bytes(fixed + state)
            )));
        }
        let states = states.min(steps);
        Ok(Plan::Fitted { states, bytes: fixed + states * state })
    }

    pub(crate) fn actions(self, steps: usize) -> Box<dyn Iterator<Item = Action>> {
        match self {
            Plan::StoreAll => Box::new(StoreAll::new(steps)),
            Plan::Revolve { states } | Plan::Fitted { states, .. } => Box::new(Revolve::new(steps, states)),
        }
    }

    /// Steps run by recording and one backward, per step.
    pub(crate) fn factor(self, steps: usize) -> f64 {
        match self {
            Plan::StoreAll => 1.0,
            Plan::Revolve { states } | Plan::Fitted { states, .. } => Revolve::factor(steps, states),
        }
    }

    pub(crate) fn predicted_bytes(self) -> Option<usize> {
        match self {
            Plan::Fitted { bytes, .. } => Some(bytes),
            _ => None,
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Plan::StoreAll => f.write_str("all tapes kept"),
            Plan::Revolve { states: 1 } | Plan::Fitted { states: 1, .. } => f.write_str("1 state kept"),
            Plan::Revolve { states } | Plan::Fitted { states, .. } => write!(f, "{states} states kept (revolve)"),
        }
    }
}
