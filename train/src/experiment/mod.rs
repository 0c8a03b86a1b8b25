//! What the program can be asked for. An experiment is one struct: its fields are the options on the command line and the
//! fields in a RON file, its documentation that of both.
//!
//! A new experiment is a file with such a struct, which is a [`Job`], and its row in the list below.

mod list;
mod console;
mod study;
mod assignment;
mod options;
mod help;
mod goal;

list::experiments! {
    identify: Identify,
    simulate: Simulate,
    throw: Throw,
    plan: Plan,
}

pub use assignment::Point;
#[cfg(test)]
pub(crate) use console::Quiet;
pub use console::{Console, Ended};
pub use help::{help, jobs};
pub use identify::{Finished, Prepared};
pub use options::default_device;
pub use simulate::{Simulation, Written};
pub(crate) use study::{alone, keep, tell};

use crate::error::{Error, Place, Result};
use crate::input;
use crate::limits::Limits;
use crate::run::Former;
use crate::scene::Access;
use crate::text;
use ron::error::SpannedError;
use ron::extensions::Extensions;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Something that can be run.
pub trait Job {
    /// Checks it against its scene.
    ///
    /// # Errors
    /// Names the field or option, and what was expected.
    fn check(&self) -> Result<()>;

    /// Runs it, with its checks before anything is written.
    ///
    /// # Errors
    /// For any wrong input, when a computation fails, or a file cannot be written.
    fn run(&self, former: Former, console: &mut dyn Console) -> Result<Ended>;
}

/// The dialect of RON: `Some(..)` may be left out, and variants carry their fields directly.
fn dialect() -> ron::Options {
    ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME | Extensions::UNWRAP_VARIANT_NEWTYPES)
}

/// Parses the text of `file`.
///
/// # Errors
/// Names line, column and what was expected.
pub(crate) fn from_ron<T: serde::de::DeserializeOwned>(file: &Path, text: &str) -> Result<T> {
    let wrong = |e: SpannedError, field: Option<String>| Error::Input {
        file: file.into(),
        place: Place { line: Some((e.span.start.line, e.span.start.col)), field },
        problem: e.code.to_string().replace('\n', " "),
    };
    let dialect = dialect();
    let mut parser = ron::Deserializer::from_str_with_options(text, &dialect).map_err(|e| wrong(e, None))?;
    let parsed = serde_path_to_error::deserialize(&mut parser).map_err(|e| {
        let field = Some(e.path().to_string()).filter(|field| field != "." && field != "?");
        wrong(parser.span_error(e.into_inner()), field)
    })?;
    parser.end().map_err(|e| wrong(parser.span_error(e), None))?;
    Ok(parsed)
}

impl Experiment {
    /// Reads a RON file; the folder of the scene is taken relative to it.
    ///
    /// # Errors
    /// Names line, column and what was expected.
    pub fn read(file: &Path) -> Result<Self> {
        let mut experiment = Self::parse(file, &input::text(file, input::JOB)?)?;
        let folder = experiment.folder_mut();
        *folder = file.parent().unwrap_or(Path::new("")).join(&folder);
        Ok(experiment)
    }

    /// Parses the text of `file`.
    ///
    /// # Errors
    /// Names line, column and what was expected.
    pub fn parse(file: &Path, text: &str) -> Result<Self> {
        from_ron(file, text)
    }

    /// The text of a RON file that [`Experiment::parse`] reads back to the same job.
    ///
    /// # Errors
    /// Names the path that is not UTF-8.
    pub fn to_ron(&self) -> Result<String> {
        for (name, path) in self.paths() {
            if let Some(path) = path.filter(|path| path.to_str().is_none()) {
                let path = text::path(path);
                let problem = format!("{path} is not UTF-8, expected a path that a RON file can hold");
                return Err(Error::argument(name, problem));
            }
        }
        let style = ron::ser::PrettyConfig::default();
        let text = dialect().to_string_pretty(self, style);
        text.map(|text| text + "\n").map_err(|e| Error::Compute(format!("the job cannot be written as RON: {e}")))
    }

    /// Checks it against its scene.
    ///
    /// # Errors
    /// As [`Job::check`].
    pub fn check(&self) -> Result<()> {
        self.job().check()
    }

    /// Runs it.
    ///
    /// # Errors
    /// As [`Job::run`].
    pub fn run(&self, former: Former, console: &mut dyn Console) -> Result<Ended> {
        self.job().run(former, console)
    }
}
