//! Who takes part in a launch.

use std::collections::HashSet;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use super::super::pool::{self, Grain};
use super::*;

/// The threads that have worked on 64 pieces, of half a millisecond each.
fn helpers() -> HashSet<ThreadId> {
    let seen = Mutex::new(HashSet::new());
    let done = pool::share(64, Grain::At(1), None, |range| {
        assert_eq!(range.len(), 1);
        thread::sleep(Duration::from_micros(500));
        seen.lock().unwrap().insert(thread::current().id());
    });
    assert_eq!(done, Ok(()));
    seen.into_inner().unwrap()
}

/// Launches stay on their threads for a while where another program has the processors, and while other tests run.
#[test]
#[cfg_attr(miri, ignore = "it takes its time to sleep")]
fn launches_are_shared_by_as_many_threads_as_are_asked_for() {
    let begin = Instant::now();
    for n in [3, 4] {
        let _threads = with_threads(n);
        while helpers().len() < n {
            assert!(begin.elapsed() < Duration::from_secs(60), "{n} threads never worked on one launch");
        }
    }
    // Those that have been started meanwhile stay out.
    let _threads = with_threads(2);
    (0..10).for_each(|_| assert!(helpers().len() <= 2));
    set_threads(1);
    (0..3).for_each(|_| assert_eq!(helpers(), HashSet::from([thread::current().id()])));
}
