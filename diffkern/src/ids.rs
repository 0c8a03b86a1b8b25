//! Identities of arrays, what they are called, and hash tables keyed by them.

mod label;

pub use label::Label;

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// An identity that no array has had. Identities grow, so one at least as large as an earlier [`next_id`] was made
/// after it.
pub(crate) fn fresh_id() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The identity that [`fresh_id`] would give.
pub(crate) fn next_id() -> u64 {
    NEXT.load(Ordering::Relaxed)
}

/// Mixes one word into a running hash.
#[inline]
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    let h = (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    h ^ (h >> 29)
}

/// Hasher of identities and addresses.
#[derive(Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = mix(self.0, u64::from(b));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = mix(self.0, word);
    }

    fn write_usize(&mut self, word: usize) {
        self.0 = mix(self.0, word as u64);
    }
}

/// Table keyed by identity or address.
pub(crate) type IdMap<V, K = u64> = HashMap<K, V, BuildHasherDefault<IdHasher>>;
/// Set of identities.
pub(crate) type IdSet = HashSet<u64, BuildHasherDefault<IdHasher>>;
