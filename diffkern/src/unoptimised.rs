//! Says that kernels are slow because nothing was optimised: Cargo's default for the dev profile.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::trace;

/// Time in kernels from which on it is worth a word.
const LONG: Duration = Duration::from_secs(1);

/// Whether this crate was built by a profile such as Cargo's `dev`. Kernels of other crates mostly are as it is.
const UNOPTIMISED: bool = cfg!(debug_assertions) && matches!(env!("DIFFKERN_OPT_LEVEL").as_bytes(), b"0");

/// What there is to say after so much time in kernels.
pub(crate) fn advice(spent: Duration) -> Option<String> {
    words(UNOPTIMISED, spent)
}

fn words(unoptimised: bool, spent: Duration) -> Option<String> {
    (unoptimised && spent >= LONG).then(|| {
        format!(
            "{:.1} s in kernels that were built without optimisation, which makes them some 40 times slower; put \
             `opt-level = 3` under `[profile.dev]` into the Cargo.toml of the workspace, or build with `--release`",
            spent.as_secs_f64()
        )
    })
}

/// Runs a launch, and says once per process, to `tracing`, when those so far have been slow for this reason.
pub(crate) fn timed<R>(launch: impl FnOnce() -> R) -> R {
    if !UNOPTIMISED {
        return launch();
    }
    static NANOSECONDS: AtomicU64 = AtomicU64::new(0);
    static SAID: AtomicBool = AtomicBool::new(false);
    let start = Instant::now();
    let done = launch();
    let now = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let spent = Duration::from_nanos(NANOSECONDS.fetch_add(now, Ordering::Relaxed).saturating_add(now));
    if let Some(words) = advice(spent)
        && !SAID.swap(true, Ordering::Relaxed)
    {
        trace::warn(&words);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slow_kernels_of_slow_builds_are_worth_a_word() {
        assert_eq!(words(true, Duration::from_millis(999)), None);
        assert_eq!(words(false, Duration::from_secs(100)), None);
        let said = words(true, Duration::from_millis(19_700));
        assert!(said.is_some_and(|words| words.starts_with("19.7 s in kernels") && words.contains("[profile.dev]")));
    }

    /// The profiles of this workspace optimise, but for the one of mutants.
    #[test]
    fn the_profile_is_known() {
        assert_eq!(UNOPTIMISED, cfg!(debug_assertions) && env!("DIFFKERN_OPT_LEVEL") == "0");
        assert!(["0", "1", "2", "3", "s", "z"].contains(&env!("DIFFKERN_OPT_LEVEL")));
        assert_eq!(timed(|| 7), 7);
    }
}
