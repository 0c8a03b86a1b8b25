//! What recordings note on an array, to find out what they would miss.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of a recording or a rollout, 0 for none. It guards nothing: what is read too early or too late is read by
/// threads that have no order.
#[derive(Default)]
struct Mark(AtomicU64);

impl Mark {
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, number: u64) {
        self.0.store(number, Ordering::Relaxed);
    }
}

/// The marks of one array.
#[derive(Default)]
pub(crate) struct Marks {
    home: Mark,
    constant_in: Mark,
    tracked_in: Mark,
    strayed_from: Mark,
}

impl Marks {
    /// The rollout in whose steps it was last used, as an array of the state or one that the steps made.
    pub(crate) fn home(&self) -> u64 {
        self.home.get()
    }

    pub(crate) fn set_home(&self, rollout: u64) {
        self.home.set(rollout);
    }

    /// Whether this recording has read it while it had no gradient.
    pub(crate) fn is_constant_in(&self, recording: u64) -> bool {
        self.constant_in.get() == recording
    }

    pub(crate) fn set_constant_in(&self, recording: u64) {
        self.constant_in.set(recording);
    }

    /// Says that it has a gradient in this recording.
    pub(crate) fn set_tracked_in(&self, recording: u64) {
        self.tracked_in.set(recording);
    }

    /// Whether a thread that does not record has written to it what depends on arrays that have a gradient in this recording.
    pub(crate) fn has_strayed_from(&self, recording: u64) -> bool {
        self.strayed_from.get() == recording
    }

    /// The last recording in which it has a gradient, or would have one had the recording seen all; 0 for none.
    pub(crate) fn depends_on(&self) -> u64 {
        self.tracked_in.get().max(self.strayed_from.get())
    }

    /// What a copy on write takes over from its origin.
    pub(crate) fn follow(&self, origin: &Marks) {
        self.tracked_in.set(origin.tracked_in.get());
        self.strayed_from.set(origin.strayed_from.get());
    }

    /// Says that a thread that does not record has written to it what depends on this recording.
    pub(crate) fn set_strayed_from(&self, recording: u64) {
        self.strayed_from.set(recording);
    }
}
