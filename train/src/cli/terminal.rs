//! The terminal, as a console of experiments.

use super::output;
use super::screen::Screen;
use super::signals::Interrupt;
use train::experiment::Console;
use train::job::{Flow, Progress, Stop};

/// Progress and notes on the error stream, answers on the output stream; Ctrl-C ends it.
pub(super) struct Terminal {
    screen: Screen,
    interrupt: Interrupt,
}

impl Terminal {
    pub(super) fn new(interrupt: &Interrupt) -> Self {
        Self { screen: Screen::new(), interrupt: interrupt.clone() }
    }
}

impl Console for Terminal {
    fn stop(&self) -> Stop {
        self.interrupt.stop()
    }

    fn say(&mut self, line: &str) {
        self.screen.say(line);
    }

    fn print(&mut self, line: &str) {
        output::print(line);
    }

    fn progress(&mut self, progress: &Progress, seconds: f64) -> Flow {
        self.screen.progress(progress, seconds);
        self.interrupt.flow()
    }

    fn fraction(&mut self, fraction: f64, seconds: f64) -> Flow {
        self.screen.fraction(fraction, seconds);
        self.interrupt.flow()
    }

    fn finish(&mut self) {
        self.screen.finish();
    }
}
