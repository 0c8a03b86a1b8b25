//! Threads that help a launch: they spin for a moment after a job, then sleep.

use std::cell::{Cell, UnsafeCell};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use super::parts::Parts;
use super::worth::{self, Pace, Stalls, note};

/// How long a thread spins before it sleeps: about what it costs to wake it.
const SPIN: Duration = Duration::from_micros(20);

/// Work that a claim of it should be, where it is known beforehand: several times what it costs to begin with it.
const CLAIM: Duration = Duration::from_micros(1);

/// How much of `0..n` a thread claims at a time.
#[derive(Clone, Copy)]
pub(super) enum Grain {
    /// So many.
    At(u32),
    /// A share of what is left of the thread's own part, then of others', but at least so many.
    Shrinking(u32),
}

/// Calls `work` on the caller; the error is the message of a panic in it.
pub(super) fn alone(work: impl FnOnce()) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| message(&*panic))
}

/// Calls `work` on parts of `0..n`, in parallel when that pays; the error is the message of a panic in it. Unless the
/// last launch of the kind says that it pays, it starts on the caller, who measures. A launch while another thread's is
/// under way stays on its caller.
pub(super) fn share(n: u32, grain: Grain, pace: Option<&Pace>, work: impl Fn(Range<u32>) + Sync) -> Result<(), String> {
    let threads = threads();
    let each = pace.map_or(0, |pace| pace.load(Ordering::Relaxed));
    let queue = match grain {
        Grain::At(size) => Parts::in_order(n, size),
        Grain::Shrinking(least) => {
            let worth = ((CLAIM.as_nanos() as u64) << 10).checked_div(each).unwrap_or(0);
            Parts::new(n, threads, least.max(worth.min(u64::from(n) / 16) as u32))
        }
    };
    let failure = Mutex::new(None);
    let run = |range| {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(range))) {
            lock(&failure).get_or_insert(message(&*panic));
            queue.stop();
        }
    };
    let drain = || {
        let (me, mut mine) = (ORDINAL.get(), 0);
        while let Some(range) = queue.claim(me) {
            mine += range.len();
            run(range);
        }
        mine
    };
    let expected = Duration::from_nanos(each.saturating_mul(u64::from(n)) >> 10);
    if threads == 1 {
        drain();
        return failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err);
    }
    let begin = Instant::now();
    let worth = worth::of(expected, begin, || pool().is_awake());
    if expected > 2 * worth {
        let mine = pool().help(threads - 1, &drain);
        note(pace, begin, mine);
    } else {
        // Ever larger parts, until the time they took says that the rest is worth sharing; all at once where the last
        // launch of the kind says that it is not.
        let small = expected > Duration::ZERO && expected < worth;
        let mut size = match grain {
            _ if small => n,
            Grain::At(size) | Grain::Shrinking(size) => size,
        };
        let mut done = 0;
        while let Some(range) = queue.next(size) {
            done += range.len() as u32;
            run(range);
            if done == n {
                note(pace, begin, n as usize);
                break;
            }
            let spent = begin.elapsed();
            let left = spent.mul_f64(f64::from(n - done) / f64::from(done));
            if left.max(spent.min(left * 8)) > worth {
                note(pace, begin, done as usize);
                pool().help(threads - 1, &drain);
                break;
            }
            size = size.saturating_mul(2);
        }
    }
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

thread_local! {
    /// Which part of a launch a thread begins with.
    static ORDINAL: Cell<usize> = const { Cell::new(0) };
}

/// Sets how many threads a launch uses, the caller included; 0 for the default: `DIFFKERN_THREADS`, or as many as the
/// machine runs at once. Results do not depend on it.
pub fn set_threads(n: usize) {
    THREADS.store(n, Ordering::Relaxed);
}

static THREADS: AtomicUsize = AtomicUsize::new(0);

fn threads() -> usize {
    static DEFAULT: OnceLock<usize> = OnceLock::new();
    match THREADS.load(Ordering::Relaxed) {
        0 => *DEFAULT.get_or_init(|| {
            let asked = std::env::var("DIFFKERN_THREADS").ok().and_then(|n| n.parse().ok()).filter(|&n| n > 0);
            asked.unwrap_or_else(parallelism)
        }),
        n => n,
    }
}

fn parallelism() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Bits of [`Pool::state`] beside the number of threads inside (low) and of the job (from 32).
const OPEN: u64 = 1 << 31;
const WAITING: u64 = 1 << 30;
const INSIDE: u64 = WAITING - 1;

type Job = *const (dyn Fn() -> usize + Sync);

struct Pool {
    /// Held by the launch that uses the pool; the number of threads started.
    launch: Mutex<usize>,
    /// A thread may call `job` only between entering (adding 1 while `OPEN`) and leaving; the launch changes `job` only
    /// when it is not `OPEN` and nobody is inside.
    state: AtomicU64,
    job: UnsafeCell<Option<(Job, usize)>>,
    sleepers: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
    left: Condvar,
    stalls: Stalls,
}

// SAFETY: `job` is guarded by `state`, see there, and points to a `Sync` closure that outlives the time it is open.
unsafe impl Sync for Pool {}
// SAFETY: as above.
unsafe impl Send for Pool {}

fn pool() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| Pool {
        launch: Mutex::new(0),
        state: AtomicU64::new(0),
        job: UnsafeCell::new(None),
        sleepers: AtomicUsize::new(0),
        sleep: Mutex::new(()),
        wake: Condvar::new(),
        left: Condvar::new(),
        stalls: Stalls::new(),
    })
}

impl Pool {
    /// Runs `job` on the caller and, if they come in time, on up to `helpers` more; it must not panic. The result is
    /// the caller's.
    fn help(&'static self, helpers: usize, job: &(dyn Fn() -> usize + Sync)) -> usize {
        let begin = Instant::now();
        if !self.stalls.allow(begin) {
            return job();
        }
        let mut started = match self.launch.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => return job(),
        };
        while *started < helpers && self.start(*started) {
            *started += 1;
        }
        // SAFETY: only the lifetime changes; nobody has the pointer after `close`.
        let erased = unsafe { std::mem::transmute::<*const (dyn Fn() -> usize + Sync + '_), Job>(job) };
        // SAFETY: the pool is closed and empty, and this launch holds the lock.
        unsafe { *self.job.get() = Some((erased, helpers)) };
        let epoch = (self.state.load(Ordering::Relaxed) >> 32).wrapping_add(1);
        self.state.store(epoch << 32 | OPEN, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let _guard = lock(&self.sleep);
            (0..helpers).for_each(|_| self.wake.notify_one());
        }
        let mine = job();
        if let Some(wait) = self.close() {
            let now = Instant::now();
            self.stalls.note(now, now.saturating_duration_since(begin).saturating_sub(wait), wait);
        }
        mine
    }

    /// Whether no helper sleeps that has been started.
    fn is_awake(&self) -> bool {
        self.sleepers.load(Ordering::Relaxed) == 0 && self.state.load(Ordering::Relaxed) >> 32 != 0
    }

    /// Lets no more threads in and waits for those inside; how long, if not for a moment only.
    fn close(&self) -> Option<Duration> {
        self.state.fetch_and(!OPEN, Ordering::SeqCst);
        let begin = Instant::now();
        if spin(|| self.state.load(Ordering::Acquire) & INSIDE == 0) {
            return None;
        }
        let mut guard = lock(&self.sleep);
        self.state.fetch_or(WAITING, Ordering::SeqCst);
        while self.state.load(Ordering::Acquire) & INSIDE != 0 {
            guard = self.left.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        Some(begin.elapsed())
    }

    /// Starts a thread; false when the system has none left.
    fn start(&'static self, index: usize) -> bool {
        let name = format!("diffkern-{}", index + 1);
        std::thread::Builder::new().name(name).spawn(move || self.serve(index + 1)).is_ok()
    }

    fn serve(&self, ordinal: usize) -> ! {
        ORDINAL.set(ordinal);
        let mut seen = 0;
        loop {
            let news = || {
                let state = self.state.load(Ordering::SeqCst);
                state & OPEN != 0 && state >> 32 != seen
            };
            if !spin(news) {
                let mut guard = lock(&self.sleep);
                self.sleepers.fetch_add(1, Ordering::SeqCst);
                while !news() {
                    guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
                }
                self.sleepers.fetch_sub(1, Ordering::SeqCst);
            }
            seen = self.state.load(Ordering::Relaxed) >> 32;
            self.visit();
        }
    }

    /// Enters if open, runs the job unless there is enough help already, leaves.
    fn visit(&self) {
        let enter = |state: u64| (state & OPEN != 0).then_some(state + 1);
        let Ok(before) = self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter) else { return };
        // SAFETY: inside, so the job stays as it is, and its closure lives.
        if let Some((job, helpers)) = unsafe { *self.job.get() }
            && before & INSIDE < helpers as u64
        {
            // SAFETY: as above.
            unsafe { (*job)() };
        }
        let state = self.state.fetch_sub(1, Ordering::Release) - 1;
        if state & WAITING != 0 && state & INSIDE == 0 {
            let _guard = lock(&self.sleep);
            self.left.notify_one();
        }
    }
}

/// Whether `done` became true within [`SPIN`]. Does not insist where threads outnumber the processors.
fn spin(done: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    let patience = if threads() > parallelism_cached() { Duration::ZERO } else { SPIN };
    loop {
        for _ in 0..32 {
            if done() {
                return true;
            }
            std::hint::spin_loop();
        }
        if begin.elapsed() >= patience {
            return done();
        }
    }
}

fn parallelism_cached() -> usize {
    static CACHED: OnceLock<usize> = OnceLock::new();
    *CACHED.get_or_init(parallelism)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown panic".to_owned())
}
