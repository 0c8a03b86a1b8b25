//! What is told while a job runs, on the error stream: a bar on a terminal, lines elsewhere.

use super::table::number;
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::Cell;
use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};
use train::job::{Progress, Values};
use train::limits::Seconds;
use train::text;

/// Steps of the bar.
const STEPS: u64 = 1000;
/// How often its time moves.
const MOVE: Duration = Duration::from_millis(250);
/// Lines of a job without a terminal are so far apart, and further in a long one: by this part of its time.
const APART: Duration = Duration::from_secs(10);
const PART: f64 = 0.05;

/// A bar on a terminal, lines elsewhere.
pub(super) struct Screen {
    bar: Option<ProgressBar>,
    /// Whether the bar's clock moves.
    moving: Cell<bool>,
    begun: Instant,
    /// When the last line was written.
    last: Cell<Instant>,
}

impl Screen {
    pub(super) fn new() -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:24} {percent:>3} % {elapsed:>4} {wide_msg}");
            let bar = ProgressBar::new(STEPS);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let now = Instant::now();
        Self { bar, moving: Cell::new(false), begun: now, last: Cell::new(now) }
    }

    /// Sets the bar; from the first time on, its clock moves by itself.
    fn set(&self, bar: &ProgressBar, fraction: f64, text: String) {
        if !self.moving.replace(true) {
            bar.enable_steady_tick(MOVE);
        }
        bar.set_position((fraction.clamp(0.0, 1.0) * STEPS as f64) as u64);
        bar.set_message(text);
    }

    /// Shows the progress of an identification, `seconds` after its start.
    pub(super) fn progress(&self, progress: &Progress, seconds: f64) {
        let text = describe(progress, seconds);
        match &self.bar {
            Some(bar) => self.set(bar, progress.fraction, text),
            None if progress.finished || self.is_due() => self.line(&format!("{seconds:5.1} s  {text}")),
            None => {}
        }
    }

    /// Shows the part of a simulation that is done.
    pub(super) fn fraction(&self, fraction: f64, seconds: f64) {
        let left = time_left(fraction, seconds).unwrap_or_default();
        match &self.bar {
            Some(bar) => self.set(bar, fraction, left),
            None if self.is_due() => self.line(&format!("{seconds:5.1} s  {:.0} %  {left}", 100.0 * fraction)),
            None => {}
        }
    }

    /// Whether it is time for another line.
    fn is_due(&self) -> bool {
        self.last.get().elapsed() >= APART.max(self.begun.elapsed().mul_f64(PART))
    }

    /// Tells a line of progress.
    fn line(&self, line: &str) {
        self.last.set(Instant::now());
        self.say(line.trim_end());
    }

    /// Tells a line; what others wrote in it is escaped.
    pub(super) fn say(&self, line: &str) {
        let line = text::line(line);
        let tell = || {
            // Nobody is left to tell when the stream is closed.
            let _ = writeln!(stderr(), "{line}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn describe(progress: &Progress, seconds: f64) -> String {
    let mut parts = vec![format!("{} {:>2}", progress.stage, progress.iteration)];
    parts.extend(progress.loss.map(|loss| format!("loss {loss:.4e}")));
    parts.push(describe_values(&progress.values));
    parts.extend(time_left(progress.fraction, seconds));
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}

/// `mu 8000 Pa, lambda 14000 Pa`.
fn describe_values(values: &Values) -> String {
    let each = values.iter().map(|(name, value)| format!("{name} {} {}", number(*value), name.unit()));
    each.collect::<Vec<_>>().join(", ")
}

fn time_left(fraction: f64, seconds: f64) -> Option<String> {
    let left = seconds * (1.0 - fraction) / fraction;
    (fraction > 0.01 && left.is_finite()).then(|| format!("about {} left", Seconds(left.max(1.0))))
}
