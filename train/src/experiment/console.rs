//! What an experiment tells while it runs.

use crate::job::{Flow, Progress, Stop};

/// Who has asked for an experiment.
pub trait Console {
    /// The flag that ends it.
    fn stop(&self) -> Stop;

    /// A line about the job, for people.
    fn say(&mut self, line: &str);

    /// What a person should know.
    fn note(&mut self, text: &str) {
        self.say(&format!("note: {text}"));
    }

    /// A line of the answer, for people and programs.
    fn print(&mut self, line: &str);

    /// How far a search is, after so many seconds.
    fn progress(&mut self, progress: &Progress, seconds: f64) -> Flow;

    /// Which part of the work is done, after so many seconds.
    fn fraction(&mut self, fraction: f64, seconds: f64) -> Flow;

    /// There is no progress to tell any more.
    fn finish(&mut self);
}

/// How an experiment ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// As it was to end.
    Done,
    /// Somebody asked for an end.
    Interrupted,
    /// With a gradient that differences do not confirm.
    WrongGradient,
}

/// A console without output, for tests.
#[cfg(test)]
pub(crate) struct Quiet;

#[cfg(test)]
impl Console for Quiet {
    fn stop(&self) -> Stop {
        Stop::default()
    }

    fn say(&mut self, _: &str) {}

    fn print(&mut self, _: &str) {}

    fn progress(&mut self, _: &Progress, _: f64) -> Flow {
        Flow::Continue
    }

    fn fraction(&mut self, _: f64, _: f64) -> Flow {
        Flow::Continue
    }

    fn finish(&mut self) {}
}
