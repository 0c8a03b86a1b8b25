//! What recordings note on an array, to find out what they would miss.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::active;
use crate::ids::IdMap;
use crate::sync::lock;

/// What a recording may note.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Note {
    /// It has read the array while that had no gradient.
    Constant,
    /// The array has a gradient in it.
    Tracked,
    /// Another thread has written to the array what depends on arrays that have a gradient in it.
    Strayed,
}

/// Notes of recordings that found one of another recording under way, by identity of the array.
static MORE: Mutex<IdMap<Vec<(Note, u64)>>> = Mutex::new(HashMap::with_hasher(BuildHasherDefault::new()));
/// Of how many arrays there are some.
static MORE_COUNT: AtomicUsize = AtomicUsize::new(0);

/// Forgets such notes of a recording.
pub(super) fn forget(recording: u64) {
    if MORE_COUNT.load(Ordering::Acquire) > 0 {
        let mut more = lock(&MORE);
        more.retain(|_, notes| {
            notes.retain(|&(_, of)| of != recording);
            !notes.is_empty()
        });
        MORE_COUNT.store(more.len(), Ordering::Release);
    }
}

/// The marks of one array. Of each note one recording is at hand; others that are under way are in a table, which is empty
/// unless threads record at the same time.
pub(crate) struct Marks {
    id: u64,
    home: AtomicU64,
    main: [AtomicU64; 3],
}

impl Marks {
    /// Of the array of this identity.
    pub(crate) fn new(id: u64) -> Marks {
        Marks { id, home: AtomicU64::new(0), main: [const { AtomicU64::new(0) }; 3] }
    }

    /// The rollout in whose steps it was last used, as an array of the state or one that the steps made.
    pub(crate) fn home(&self) -> u64 {
        self.home.load(Ordering::Relaxed)
    }

    pub(crate) fn set_home(&self, rollout: u64) {
        self.home.store(rollout, Ordering::Relaxed);
    }

    /// Whether this recording has read it while it had no gradient.
    pub(crate) fn is_constant_in(&self, recording: u64) -> bool {
        self.has(Note::Constant, recording)
    }

    pub(crate) fn set_constant_in(&self, recording: u64) {
        self.set(Note::Constant, recording);
    }

    /// Says that it has a gradient in this recording.
    pub(crate) fn set_tracked_in(&self, recording: u64) {
        self.set(Note::Tracked, recording);
    }

    /// Whether a thread that does not record has written to it what depends on arrays that have a gradient in this recording.
    pub(crate) fn has_strayed_from(&self, recording: u64) -> bool {
        self.has(Note::Strayed, recording)
    }

    /// Says that another thread has written to it what depends on this recording.
    pub(crate) fn set_strayed_from(&self, recording: u64) {
        self.set(Note::Strayed, recording);
    }

    /// Whether it has a gradient in this recording, or would have one had the recording seen all.
    pub(crate) fn depends_on(&self, recording: u64) -> bool {
        self.has(Note::Tracked, recording) || self.has(Note::Strayed, recording)
    }

    /// What a copy on write takes over from its origin.
    pub(crate) fn follow(&self, origin: &Marks) {
        for note in [Note::Tracked, Note::Strayed] {
            self.set(note, origin.main[note as usize].load(Ordering::Acquire));
        }
        if MORE_COUNT.load(Ordering::Acquire) > 0 {
            let more = lock(&MORE).get(&origin.id).cloned().unwrap_or_default();
            more.into_iter().filter(|(note, _)| *note != Note::Constant).for_each(|(note, of)| self.set(note, of));
        }
    }

    fn has(&self, note: Note, recording: u64) -> bool {
        self.main[note as usize].load(Ordering::Acquire) == recording
            || MORE_COUNT.load(Ordering::Acquire) > 0
                && lock(&MORE).get(&self.id).is_some_and(|notes| notes.contains(&(note, recording)))
    }

    fn set(&self, note: Note, recording: u64) {
        let main = &self.main[note as usize];
        let before = main.load(Ordering::Acquire);
        let replace = |before| main.compare_exchange(before, recording, Ordering::AcqRel, Ordering::Acquire);
        // A recording is open before it notes anything: who sees its note sees whether it is the only one.
        if before == recording || (before == 0 || !active::several()) && replace(before).is_ok() {
            return;
        }
        let mut more = lock(&MORE);
        if more.get(&self.id).is_some_and(|notes| notes.contains(&(note, recording))) {
            return;
        }
        let mut before = main.load(Ordering::Acquire);
        while before != recording {
            if active::is_open(before) {
                more.entry(self.id).or_default().push((note, recording));
                MORE_COUNT.store(more.len(), Ordering::Release);
                return;
            }
            match replace(before) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
    }
}
