//! Recycled host memory: a step that allocates what the step before it freed asks the system for nothing.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::HostBuffer;
use crate::ids::IdMap;
use crate::sync::lock;

/// Free blocks by size, and what is in use.
#[derive(Default)]
pub(crate) struct Pool {
    free: Mutex<Free>,
    live: AtomicUsize,
    peak: AtomicUsize,
}

#[derive(Default)]
struct Free {
    by_size: IdMap<Vec<HostBuffer>, usize>,
    bytes: usize,
}

impl Free {
    /// Returns blocks to the system until at most `keep` bytes are left.
    fn shrink(&mut self, keep: usize) {
        if self.bytes <= keep {
            return;
        }
        self.by_size.retain(|&size, blocks| {
            while self.bytes > keep && blocks.pop().is_some() {
                self.bytes -= size;
            }
            !blocks.is_empty()
        });
    }
}

impl Pool {
    /// A block of at least `bytes`, and whether it is zero; `None` when the system has none.
    pub(crate) fn take(&self, bytes: usize) -> Option<(HostBuffer, bool)> {
        let size = HostBuffer::class(bytes)?;
        let mut free = lock(&self.free);
        if let Some(block) = free.by_size.get_mut(&size).and_then(Vec::pop) {
            free.bytes -= size;
            drop(free);
            self.account(size);
            return Some((block, false));
        }
        // What the system is asked for never exceeds the peak of what was in use.
        let live = self.live.load(Ordering::Relaxed).saturating_add(size);
        let peak = self.peak.load(Ordering::Relaxed).max(live);
        free.shrink(peak - live);
        drop(free);
        let block = HostBuffer::zeroed(size)?;
        self.account(size);
        Some((block, true))
    }

    /// Takes a block back.
    pub(crate) fn give(&self, block: HostBuffer) {
        let size = block.bytes();
        self.unaccount(size);
        let mut free = lock(&self.free);
        free.bytes += size;
        free.by_size.entry(size).or_default().push(block);
    }

    pub(crate) fn account(&self, bytes: usize) {
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(live, Ordering::Relaxed);
    }

    pub(crate) fn unaccount(&self, bytes: usize) {
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }

    pub(crate) fn live(&self) -> usize {
        self.live.load(Ordering::Relaxed)
    }

    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_reused_and_never_exceed_the_peak() {
        let pool = Pool::default();
        let (block, zero) = pool.take(1000).expect("memory");
        assert!(zero);
        let at = block.ptr();
        pool.give(block);
        let (block, zero) = pool.take(1000).expect("memory");
        assert!(block.ptr() == at && !zero);
        pool.give(block);
        // Another size: the pooled block has to go first.
        let (other, _) = pool.take(900).expect("memory");
        assert_eq!(lock(&pool.free).bytes, 0);
        assert_eq!(pool.peak(), 1024);
        assert_eq!(pool.live(), 960);
        pool.give(other);
    }
}
