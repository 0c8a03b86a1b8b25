//! When it pays to share a launch among threads.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Work left that makes it worth waking the other threads.
const ASLEEP: Duration = Duration::from_micros(15);

/// The same while they are awake, since the launch before has just ended.
const AWAKE: Duration = Duration::from_micros(2);

/// Work of that kind, launch after launch on one thread, that makes it worth waking the others: they stay awake then.
const STREAM: Duration = Duration::from_micros(100);

/// Time between two launches that do not follow each other.
const GAP: Duration = Duration::from_micros(50);

/// How long the last launch of a kind took for one of its parts, in 2^-10 ns; 0 where there was none.
pub(super) type Pace = AtomicU64;

/// The pace of launches with this key; now and then two share one, which only makes it a bad guess.
pub(super) fn pace(key: usize) -> &'static Pace {
    static PACES: [Pace; 256] = [const { AtomicU64::new(0) }; 256];
    &PACES[key.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as usize) >> (usize::BITS - 8)]
}

/// Notes that `parts` have taken since `begin`.
pub(super) fn note(pace: Option<&Pace>, begin: Instant, parts: usize) {
    if let Some(pace) = pace
        && parts > 0
    {
        let spent = (begin.elapsed().as_nanos() as u64) << 10;
        pace.store(spent / parts as u64, Ordering::Relaxed);
    }
}

/// Work left that makes it worth sharing a launch of so much work, which begins `now`.
pub(super) fn of(expected: Duration, now: Instant, is_awake: impl FnOnce() -> bool) -> Duration {
    static ALONE: Stream = Stream::new();
    if expected <= 2 * AWAKE || expected > 2 * ASLEEP {
        ASLEEP
    } else if is_awake() || ALONE.add(expected, since_start(now)) {
        AWAKE
    } else {
        ASLEEP
    }
}

/// Launches that follow each other on one thread. Those of two threads mix, which only makes it a bad guess.
struct Stream {
    /// When the last one will end, in nanoseconds.
    end: AtomicU64,
    /// Work of all so far, in nanoseconds.
    sum: AtomicU64,
}

impl Stream {
    const fn new() -> Stream {
        Stream { end: AtomicU64::new(0), sum: AtomicU64::new(0) }
    }

    /// Adds a launch; whether it has been long enough, after which it begins anew.
    fn add(&self, expected: Duration, now: Duration) -> bool {
        let (now, expected) = (now.as_nanos() as u64, expected.as_nanos() as u64);
        let idle = now.saturating_sub(self.end.swap(now + expected, Ordering::Relaxed));
        let before = if idle > GAP.as_nanos() as u64 { 0 } else { self.sum.load(Ordering::Relaxed) };
        let long = u128::from(before + expected) > STREAM.as_nanos();
        self.sum.store(if long { 0 } else { before + expected }, Ordering::Relaxed);
        long
    }
}

/// A wait for another thread that says that it has lost its processor, beside a quarter of the caller's own time: what
/// it has claimed last is smaller.
const STALL: Duration = Duration::from_micros(300);

/// How long launches stay on their thread after a stall: what two programs that share a processor get in turn, at least.
const PAUSE: Duration = Duration::from_millis(8);

/// The same where every attempt since has stalled.
const LONGEST: Duration = Duration::from_millis(256);

/// A stall so early after a pause is of the same cause: where another program runs all the time, its turn has come by then.
/// A machine that now and then loses a processor for a moment seldom loses it so soon, and goes on with two.
const SOON: Duration = Duration::from_millis(8);

/// What waiting for other threads has cost. Where another program runs on their processor, half of all launches would wait
/// until they get it back; one thread alone is faster.
pub(super) struct Stalls {
    /// When launches are shared again, in nanoseconds.
    until: AtomicU64,
    /// The last pause, in nanoseconds.
    pause: AtomicU64,
}

impl Stalls {
    pub(super) const fn new() -> Stalls {
        Stalls { until: AtomicU64::new(0), pause: AtomicU64::new(0) }
    }

    /// Whether a launch may be shared `now`.
    pub(super) fn allow(&self, now: Instant) -> bool {
        since_start(now).as_nanos() as u64 >= self.until.load(Ordering::Relaxed)
    }

    /// Notes what a shared launch has taken that ends `now`: the caller's own work, and its wait for the others.
    pub(super) fn note(&self, now: Instant, own: Duration, wait: Duration) {
        if wait > STALL && wait > own / 4 {
            self.stalled(since_start(now));
        }
    }

    fn stalled(&self, now: Duration) {
        let now = now.as_nanos() as u64;
        let (until, last) = (self.until.load(Ordering::Relaxed), self.pause.load(Ordering::Relaxed));
        let again = until > 0 && now.saturating_sub(until) < SOON.as_nanos() as u64;
        let pause = if again { 2 * last } else { PAUSE.as_nanos() as u64 }.min(LONGEST.as_nanos() as u64);
        self.pause.store(pause, Ordering::Relaxed);
        self.until.store(now + pause, Ordering::Relaxed);
    }
}

fn since_start(now: Instant) -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    now.saturating_duration_since(*START.get_or_init(Instant::now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_shared_with_those_who_are_awake_only() {
        let now = Instant::now();
        for (expected, awake, worth) in
            [(2, true, ASLEEP), (10, true, AWAKE), (10, false, ASLEEP), (30, true, AWAKE), (50, true, ASLEEP)]
        {
            assert_eq!(of(Duration::from_micros(expected), now, || awake), worth, "{expected} us, awake: {awake}");
        }
    }

    #[test]
    fn launches_stay_alone_after_stalls_for_longer_and_longer() {
        let (stalls, ms) = (Stalls::new(), Duration::from_millis(1));
        let pauses = |times: &[u32]| -> Vec<u64> {
            let after = |&at: &u32| {
                stalls.stalled(ms * at);
                stalls.until.load(Ordering::Relaxed) / 1_000_000 - u64::from(at)
            };
            times.iter().map(after).collect()
        };
        assert_eq!(pauses(&[10, 19, 40, 75, 145, 280, 540, 800]), [8, 16, 32, 64, 128, 256, 256, 256]);
        assert_eq!(pauses(&[1064]), [8], "not soon after a long one");
        assert_eq!(pauses(&[1079, 1103]), [16, 8], "soon after a short one, and then not");
    }

    #[test]
    fn the_first_stall_is_not_soon_after_another() {
        let stalls = Stalls::new();
        stalls.stalled(Duration::from_millis(1));
        assert_eq!(stalls.until.load(Ordering::Relaxed), 9_000_000);
    }

    #[test]
    fn time_goes_on_since_the_start() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        assert!(since_start(now + second) > since_start(now) + second / 2);
    }

    #[test]
    fn a_pace_is_kept_by_its_key() {
        assert!(std::ptr::eq(pace(0x5eed), pace(0x5eed)));
        let first: Vec<_> = (1..9).filter(|key| std::ptr::eq(pace(*key), pace(0))).collect();
        assert!(first.is_empty(), "{first:?}");
    }

    #[test]
    fn the_pace_is_the_time_of_one_part() {
        let pace = Pace::new(7);
        let begin = Instant::now() - Duration::from_millis(1);
        note(Some(&pace), begin, 0);
        assert_eq!(pace.load(Ordering::Relaxed), 7, "no part, no pace");
        note(Some(&pace), begin, 4);
        let most = begin.elapsed().as_nanos() as u64;
        let found = pace.load(Ordering::Relaxed) >> 10;
        assert!((250_000..=most / 4).contains(&found), "{found} ns of at most {most}");
    }

    #[test]
    fn a_wait_that_is_long_beside_the_work_is_a_stall() {
        let (now, ms) = (Instant::now() + Duration::from_secs(1), Duration::from_millis(1));
        for (own, wait, allowed) in [
            (ms / 10, ms / 5, true),
            (ms / 10, STALL, true),
            (ms / 10, ms, false),
            (ms / 2, ms, false),
            (ms * 4, ms, true),
            (ms * 10, ms, true),
        ] {
            let stalls = Stalls::new();
            stalls.note(now, own, wait);
            assert_eq!(stalls.allow(now), allowed, "{own:?} of work, {wait:?} of waiting");
        }
    }

    #[test]
    fn others_are_woken_when_launches_follow_each_other() {
        let (stream, each) = (Stream::new(), Duration::from_micros(30));
        let at = |k: u32| each * k;
        assert_eq!([0, 1, 2, 3, 4].map(|k| stream.add(each, at(k))), [false, false, false, true, false]);
        let later = |k: u32| (each + GAP + Duration::from_micros(1)) * (10 + k);
        assert_eq!([0, 1, 2, 3, 4].map(|k| stream.add(each, later(k))), [false; 5]);
    }

    #[test]
    fn a_stream_ends_after_the_gap_and_is_long_after_its_length() {
        let (stream, us) = (Stream::new(), Duration::from_micros(1));
        let added = [(50, 0), (50, 100), (1, 200), (100, 300), (1, 400)];
        assert_eq!(added.map(|(work, at)| stream.add(us * work, us * at)), [false, false, true, false, true]);
    }
}
