//! What is told while a job runs, on the error stream: a bar on a terminal, lines elsewhere.

use super::table::number;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write, stderr};
use train::job::{Progress, Values};

/// Steps of the bar.
const STEPS: u64 = 1000;

/// A bar, or nothing where nobody looks.
pub(super) struct Screen {
    bar: Option<ProgressBar>,
}

impl Screen {
    pub(super) fn new() -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:24} {percent:>3} % {elapsed:>4} {wide_msg}");
            let bar = ProgressBar::new(STEPS);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { bar }
    }

    /// Shows the progress of an identification, `seconds` after its start.
    pub(super) fn progress(&self, progress: &Progress, seconds: f64) {
        let text = describe(progress, seconds);
        match &self.bar {
            Some(bar) => {
                bar.set_position((progress.fraction.clamp(0.0, 1.0) * STEPS as f64) as u64);
                bar.set_message(text);
            }
            None if progress.finished => self.say(&format!("{seconds:5.1} s  {text}")),
            None => {}
        }
    }

    /// Shows the part of a simulation that is done.
    pub(super) fn fraction(&self, fraction: f64, seconds: f64) {
        if let Some(bar) = &self.bar {
            bar.set_position((fraction.clamp(0.0, 1.0) * STEPS as f64) as u64);
            bar.set_message(time_left(fraction, seconds).unwrap_or_default());
        }
    }

    /// Tells a line.
    pub(super) fn say(&self, line: &str) {
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
    (fraction > 0.01 && left.is_finite()).then(|| format!("{left:.0} s left"))
}
