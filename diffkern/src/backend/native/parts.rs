//! How threads divide a number of positions.
//!
//! Each thread begins with a part of its own, the same in every launch of as many positions: what it has written is in its
//! own cache when the next launch reads it. One that is done helps others, from the ends of what they have left.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// More threads than this share parts.
const MOST: usize = 16;

/// Positions whose elements begin with a cache line, whatever they are, and which are a whole number of packs.
const EVEN: u32 = 16;

/// `bound`, a bit earlier where that is even and what ends or begins there is large enough not to miss it.
pub(super) fn even(bound: u32, size: u32) -> u32 {
    if size < 4 * EVEN { bound } else { bound / EVEN * EVEN }
}

/// Where part `k` begins of `0..n` in `count` parts; `n` for `k = count`.
pub(super) fn bound(n: u32, k: u32, count: u32) -> u32 {
    match (u64::from(n) * u64::from(k) / u64::from(count)) as u32 {
        end if k == count => end,
        bound => even(bound, n / count),
    }
}

/// What is left of a part: its first position and the one after its last. In a cache line of its own.
#[repr(align(64))]
struct Left(AtomicU64);

/// The positions that no thread has claimed yet.
pub(super) struct Parts {
    left: [Left; MOST],
    count: usize,
    /// Positions that are claimed at a time at least.
    least: u32,
    /// Whether more are claimed where much is left.
    more: bool,
}

impl Parts {
    /// `0..n` for so many threads.
    pub(super) fn new(n: u32, threads: usize, least: u32) -> Parts {
        let count = threads.clamp(1, MOST);
        let parts = Parts { left: [const { Left(AtomicU64::new(0)) }; MOST], count, least: least.max(1), more: true };
        for (k, left) in (0..).zip(&parts.left).take(count) {
            left.0.store(pack(bound(n, k, count as u32), bound(n, k + 1, count as u32)), Ordering::Relaxed);
        }
        parts
    }

    /// `0..n` in order for all threads, so many at a time.
    pub(super) fn in_order(n: u32, size: u32) -> Parts {
        Parts { more: false, ..Parts::new(n, 1, size) }
    }

    /// Some for thread `me`.
    pub(super) fn claim(&self, me: usize) -> Option<Range<u32>> {
        let size = |left: u32| if self.more { (left / 4).max(self.least).min(left) } else { self.least.min(left) };
        let own = &self.left[me % self.count];
        own.take(|lo, hi| self.after(lo, size(hi - lo), hi)..hi, |old, new| old.start..new.start).or_else(|| {
            loop {
                let most = self.left[..self.count].iter().max_by_key(|left| left.len())?;
                if most.len() == 0 {
                    return None;
                }
                let before = |lo: u32, hi: u32| even(hi - size(hi - lo), size(hi - lo)).max(lo);
                let help = most.take(|lo, hi| lo..before(lo, hi), |old, new| new.end..old.end);
                if help.is_some() {
                    return help;
                }
            }
        })
    }

    /// At most `size` positions, in order, while there is one thread; what is claimed in order anyway, as ever.
    pub(super) fn next(&self, size: u32) -> Option<Range<u32>> {
        let size = if self.more { size } else { self.least };
        self.left[..self.count]
            .iter()
            .find_map(|left| left.take(|lo, hi| self.after(lo, size, hi)..hi, |old, new| old.start..new.start))
    }

    /// Where a claim of some `size` ends.
    fn after(&self, lo: u32, size: u32, hi: u32) -> u32 {
        match lo + size.min(hi - lo) {
            end if end == hi || !self.more => end,
            end => even(end, size),
        }
    }

    /// Leaves nothing to claim.
    pub(super) fn stop(&self) {
        self.left.iter().for_each(|left| left.0.store(0, Ordering::Relaxed));
    }
}

impl Left {
    fn len(&self) -> u32 {
        let (lo, hi) = unpack(self.0.load(Ordering::Relaxed));
        hi - lo
    }

    /// Leaves what `keep` says of what is left; nothing when nothing is left.
    fn take(
        &self,
        keep: impl Fn(u32, u32) -> Range<u32>,
        taken: impl Fn(Range<u32>, Range<u32>) -> Range<u32>,
    ) -> Option<Range<u32>> {
        let next = |old: u64| {
            let (lo, hi) = unpack(old);
            (lo < hi).then(|| keep(lo, hi))
        };
        let old = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |old| next(old).map(|kept| pack(kept.start, kept.end)))
            .ok()?;
        let (lo, hi) = unpack(old);
        Some(taken(lo..hi, next(old)?))
    }
}

fn pack(lo: u32, hi: u32) -> u64 {
    u64::from(lo) << 32 | u64::from(hi)
}

fn unpack(both: u64) -> (u32, u32) {
    ((both >> 32) as u32, both as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn a_thread_has_the_same_part_first_in_every_launch() {
        for _ in 0..2 {
            let parts = Parts::new(1000, 2, 10);
            assert_eq!(parts.claim(1), Some(496..608), "from an even position to an even one");
            assert_eq!(parts.claim(0), Some(0..112));
            assert_eq!(parts.claim(3), Some(608..704), "threads beyond the parts share them");
        }
    }

    #[test]
    fn whoever_is_done_helps_from_the_end() {
        let parts = Parts::new(100, 2, 50);
        assert_eq!(parts.claim(0), Some(0..50));
        assert_eq!(parts.claim(0), Some(50..100));
        assert_eq!((parts.claim(0), parts.claim(1)), (None, None));
        let parts = Parts::new(100, 2, 20);
        assert_eq!((parts.claim(0), parts.claim(0), parts.claim(0)), (Some(0..20), Some(20..40), Some(40..50)));
        assert_eq!((parts.claim(0), parts.claim(1)), (Some(80..100), Some(50..70)));
    }

    #[test]
    fn every_position_is_claimed_once() {
        for (n, threads, least) in [(0, 3, 1), (1, 3, 1), (997, 3, 7), (997, 40, 1), (u32::MAX, 2, 1 << 28)] {
            let parts = Parts::new(n, threads, least);
            let mut claimed: Vec<Range<u32>> = parts.next(5).into_iter().collect();
            claimed.extend((0..).map_while(|me| parts.claim(me % threads)));
            claimed.sort_by_key(|range| range.start);
            let end = claimed.iter().fold(0, |at, range| {
                assert!(range.start == at && range.end > at);
                range.end
            });
            assert_eq!(end, n);
        }
    }

    #[test]
    fn threads_claim_each_position_once() {
        let n = if cfg!(miri) { 300 } else { 30_000 };
        let parts = Parts::new(n, 3, 1);
        let seen: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
        std::thread::scope(|scope| {
            for me in 0..3 {
                let (parts, seen) = (&parts, &seen);
                scope.spawn(move || {
                    while let Some(range) = parts.claim(me) {
                        for p in range {
                            seen[p as usize].fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
    }

    #[test]
    fn in_order_means_so_many_at_a_time() {
        let parts = Parts::in_order(10, 4);
        assert_eq!(
            (parts.claim(1), parts.next(1), parts.claim(0), parts.claim(0)),
            (Some(0..4), Some(4..8), Some(8..10), None)
        );
    }

    #[test]
    fn nothing_is_claimed_after_a_stop() {
        let parts = Parts::new(1000, 2, 1);
        parts.stop();
        assert_eq!((parts.claim(0), parts.claim(1), parts.next(1)), (None, None, None));
    }
}
