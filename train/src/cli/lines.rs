//! Progress without a terminal: lines that are the further apart the longer a job runs. They come from a thread as well, so
//! that a frame of minutes does not look like a hang.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Lines are so far apart, and further in a long job: by this part of its time.
const APART: Duration = Duration::from_secs(10);
const PART: f64 = 0.05;
/// How often the thread looks whether a line is due.
const LOOK: Duration = Duration::from_secs(1);

/// What is known of a running job.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct News {
    /// What goes on.
    pub(super) text: String,
    /// Time since the job's start \[s\].
    pub(super) seconds: f64,
    /// Time that it is thought to need still \[s\].
    pub(super) left: Option<f64>,
}

impl News {
    /// The same after another `seconds`, in which nothing was heard.
    fn after(&self, seconds: f64) -> Self {
        let left = self.left.map(|left| (left - seconds).max(1.0));
        Self { text: self.text.clone(), seconds: self.seconds + seconds, left }
    }
}

/// Writes lines until it is dropped.
pub(super) struct Lines {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    write: fn(&News),
    state: Mutex<State>,
    over: Condvar,
}

struct State {
    begun: Instant,
    /// When the last line was written.
    last: Instant,
    /// The last news, and when they came.
    news: Option<(News, Instant)>,
    over: bool,
}

impl State {
    fn is_due(&self) -> bool {
        self.last.elapsed() >= APART.max(self.begun.elapsed().mul_f64(PART))
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what is known, as if it had come now.
    fn line(&self, state: &mut State) {
        if let Some((news, came)) = &state.news {
            (self.write)(&news.after(came.elapsed().as_secs_f64()));
            state.last = Instant::now();
        }
    }

    fn run(&self) {
        let mut state = self.state();
        while !state.over {
            state = self.over.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            if !state.over && state.is_due() {
                self.line(&mut state);
            }
        }
    }
}

impl Lines {
    /// Lines that `write` brings to the screen.
    pub(super) fn new(write: fn(&News)) -> Self {
        let now = Instant::now();
        let state = State { begun: now, last: now, news: None, over: false };
        Self { shared: Arc::new(Shared { write, state: Mutex::new(state), over: Condvar::new() }), thread: None }
    }

    /// Takes news; writes them at once if they are to be `told`, or a line is due.
    pub(super) fn set(&mut self, news: News, told: bool) {
        if self.thread.is_none() {
            let shared = self.shared.clone();
            // Without it lines come with the news only.
            self.thread = std::thread::Builder::new().name("progress".into()).spawn(move || shared.run()).ok();
        }
        let mut state = self.shared.state();
        state.news = Some((news, Instant::now()));
        if told || state.is_due() {
            self.shared.line(&mut state);
        }
    }

    /// Nothing comes after this.
    pub(super) fn finish(&mut self) {
        self.shared.state().over = true;
        self.shared.over.notify_all();
        if let Some(thread) = self.thread.take() {
            // It only writes lines.
            let _ = thread.join();
        }
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static WRITTEN: Mutex<Vec<News>> = Mutex::new(Vec::new());

    #[test]
    fn lines_come_without_news_too() {
        let mut lines = Lines::new(|news| WRITTEN.lock().unwrap().push(news.clone()));
        let news = News { text: "fine 1/2".into(), seconds: 100.0, left: Some(50.0) };
        lines.set(news.clone(), false);
        assert!(WRITTEN.lock().unwrap().is_empty(), "not due yet");
        let past = Instant::now().checked_sub(Duration::from_secs(20)).unwrap();
        {
            let mut state = lines.shared.state();
            (state.last, state.news) = (past, Some((news.clone(), past)));
        }
        lines.shared.over.notify_all();
        while WRITTEN.lock().unwrap().is_empty() {
            std::thread::yield_now();
        }
        lines.finish();
        let written = WRITTEN.lock().unwrap().clone();
        assert_eq!((written.len(), &*written[0].text), (1, "fine 1/2"));
        assert!(written[0].seconds >= 120.0 && written[0].left <= Some(30.0), "{written:?}");
        assert_eq!(news.after(80.0).left, Some(1.0));
    }
}
