//! Failures on demand, for programs that have to live with them: with the feature `faults` one large allocation or one
//! launch of the process fails as if the system had refused it. Without the feature nothing is asked and nothing counted.
//!
//! | variable | what |
//! |---|---|
//! | `DIFFKERN_FAIL_ALLOCATION=n` | the n-th large allocation fails, counted from one |
//! | `DIFFKERN_FAIL_BYTES=b` | allocations of `b` bytes and more are large; a mebibyte if not given |
//! | `DIFFKERN_FAIL_LAUNCH=n` | the n-th launch fails, the adjoints' and the tangents' included |
//!
//! With 0 in the place of n none fails, but they are counted, see `asked`.

#[cfg(feature = "faults")]
pub use on::{allocation, asked, launch};

/// Whether the system is to have no memory for this allocation.
#[cfg(not(feature = "faults"))]
#[inline]
pub const fn allocation(_bytes: usize) -> bool {
    false
}

/// Whether this launch is to fail.
#[cfg(not(feature = "faults"))]
#[inline]
pub const fn launch() -> bool {
    false
}

#[cfg(feature = "faults")]
mod on {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const MEBIBYTE: usize = 1 << 20;

    static LARGE: LazyLock<usize> = LazyLock::new(|| variable("DIFFKERN_FAIL_BYTES").unwrap_or(MEBIBYTE));
    static ALLOCATION: LazyLock<Nth> = LazyLock::new(|| Nth::new(variable("DIFFKERN_FAIL_ALLOCATION")));
    static LAUNCH: LazyLock<Nth> = LazyLock::new(|| Nth::new(variable("DIFFKERN_FAIL_LAUNCH")));

    /// Whether the system is to have no memory for this allocation.
    pub fn allocation(bytes: usize) -> bool {
        bytes >= *LARGE && ALLOCATION.is_now()
    }

    /// Whether this launch is to fail.
    pub fn launch() -> bool {
        LAUNCH.is_now()
    }

    /// How many large allocations and launches there were so far, of those that are counted.
    pub fn asked() -> [usize; 2] {
        [&ALLOCATION, &LAUNCH].map(|nth| nth.asked.load(Ordering::Relaxed))
    }

    fn variable(name: &str) -> Option<usize> {
        std::env::var(name).ok()?.parse().ok()
    }

    /// True once: the n-th time that it is asked.
    struct Nth {
        n: Option<usize>,
        asked: AtomicUsize,
    }

    impl Nth {
        fn new(n: Option<usize>) -> Nth {
            Nth { n, asked: AtomicUsize::new(0) }
        }

        fn is_now(&self) -> bool {
            self.n.is_some_and(|n| self.asked.fetch_add(1, Ordering::Relaxed) + 1 == n)
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_the_nth_fails() {
            let third = Nth::new(Some(3));
            assert_eq!([(); 5].map(|()| third.is_now()), [false, false, true, false, false]);
            let none = Nth::new(None);
            assert!(!none.is_now() && none.asked.load(Ordering::Relaxed) == 0);
        }
    }
}
