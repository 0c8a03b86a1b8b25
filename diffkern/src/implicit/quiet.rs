//! Launches of the solvers themselves, which take part in no recording.

use crate::tape::context::{self, Frame};

/// Runs `body` so that no tape records its launches, no rollout watches them, and nothing carries tangents through them.
pub(super) fn quietly<R>(body: impl FnOnce() -> R) -> R {
    let _paused = Paused::new();
    context::within(Frame::default(), body).0
}

/// Forward mode, if it was on, goes on when this is dropped.
pub(super) struct Paused(bool);

impl Paused {
    pub(super) fn new() -> Paused {
        let on = context::mode().forward();
        context::set_forward(false);
        Paused(on)
    }

    /// Whether it was on.
    pub(super) fn was_on(&self) -> bool {
        self.0
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        if self.0 {
            context::set_forward(true);
        }
    }
}
