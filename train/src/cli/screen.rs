//! What is told while a job runs, on the error stream: a bar on a terminal, lines elsewhere.

use super::lines::{Lines, News};
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::{Cell, RefCell};
use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;
use train::job::{Progress, Values};
use train::limits::Seconds;
use train::report::table::number;
use train::text;

/// Steps of the bar.
const STEPS: u64 = 1000;
/// How often its time moves.
const MOVE: Duration = Duration::from_millis(250);

/// A bar on a terminal, lines elsewhere.
pub(super) struct Screen {
    bar: Option<ProgressBar>,
    /// Whether the bar's clock moves.
    moving: Cell<bool>,
    lines: RefCell<Lines>,
}

impl Screen {
    pub(super) fn new() -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:24} {percent:>3} % {elapsed:>4} {wide_msg}");
            let bar = ProgressBar::new(STEPS);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let lines = RefCell::new(Lines::new(|news| write(&line(news))));
        Self { bar, moving: Cell::new(false), lines }
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
        let left = time_left(progress.fraction, seconds);
        self.show(progress.fraction, News { text: describe(progress), seconds, left }, progress.finished);
    }

    /// Shows the part of a simulation that is done.
    pub(super) fn fraction(&self, fraction: f64, seconds: f64) {
        let left = time_left(fraction, seconds);
        let text = if self.bar.is_some() { String::new() } else { format!("{:.0} %", 100.0 * fraction) };
        self.show(fraction, News { text, seconds, left }, false);
    }

    fn show(&self, fraction: f64, news: News, told: bool) {
        match &self.bar {
            Some(bar) => self.set(bar, fraction, with_time_left(&news)),
            None => self.lines.borrow_mut().set(news, told),
        }
    }

    /// Tells a line; what others wrote in it is escaped.
    pub(super) fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| write(line)),
            None => write(line),
        }
    }

    /// Takes the bar away; no line of progress comes after this.
    pub(super) fn finish(&self) {
        self.lines.borrow_mut().finish();
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Writes a line; control characters in it are escaped.
fn write(line: &str) {
    // Nobody reads it when the stream is closed.
    let _ = writeln!(stderr(), "{}", text::line(line));
}

/// ` 12.3 s  fine 1/2  3  loss 1e-4  about 2 min left`.
fn line(news: &News) -> String {
    format!("{:5.1} s  {}", news.seconds, with_time_left(news))
}

fn with_time_left(news: &News) -> String {
    let left = news.left.map(|left| format!("about {} left", Seconds(left.max(1.0))));
    let parts = [Some(news.text.clone()), left].into_iter().flatten();
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("  ")
}

fn describe(progress: &Progress) -> String {
    let mut parts = vec![format!("{} {:>2}", progress.stage, progress.iteration)];
    parts.extend(progress.loss.map(|loss| format!("loss {loss:.4e}")));
    parts.push(describe_values(&progress.values));
    parts.retain(|part| !part.is_empty());
    parts.join("  ")
}

/// `mu 8000 Pa, lambda 14000 Pa`.
fn describe_values(values: &Values) -> String {
    let each = values.iter().map(|(name, value)| format!("{name} {} {}", number(*value), name.unit()));
    each.collect::<Vec<_>>().join(", ")
}

/// Time left \[s\], once enough is done to tell.
fn time_left(fraction: f64, seconds: f64) -> Option<f64> {
    let left = seconds * (1.0 - fraction) / fraction;
    (fraction > 0.01 && left.is_finite()).then_some(left)
}
