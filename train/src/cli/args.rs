//! The command line.

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};
use std::path::{Path, PathBuf};
use train::experiment::{self, Experiment};
use train::experiments::{Dataset, Landscape, Tabulate, Trial};
use train::limits::{Bytes, Limits, Seconds};
use train::run::Former;
use train::tosses::Tosses;

/// Finds the material that made a video.
///
/// Without a command, identifies the sample video that comes with the program.
#[derive(Debug, Parser)]
#[command(name = "diffkern", version, args_conflicts_with_subcommands = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    /// Write when each launch, transfer and checkpoint ran, for ui.perfetto.dev or chrome://tracing.
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) trace: Option<PathBuf>,
    /// Replace what a former job has left in the folder to write to; it stays until this one has something to show.
    #[arg(long, global = true)]
    overwrite: bool,
}

impl Cli {
    /// Reads the arguments, the name of the program first.
    pub(super) fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut command = with_negative_values(Self::command());
        let matches = command.try_get_matches_from_mut(arguments)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    /// What to do about a former job.
    pub(super) fn former(&self) -> Former {
        if self.overwrite { Former::Replace } else { Former::Keep }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    #[command(flatten)]
    Experiment(Experiment),
    /// Go on with the run in a folder; on the CPU, to the same bits.
    Resume(ResumeArgs),
    /// Run an experiment of the program by its name, or a job or an experiment from a RON file.
    #[command(long_about = experiment::help())]
    Run {
        /// Name of an experiment (see `diffkern list`), or a RON file.
        #[arg(value_name = "NAME|FILE")]
        target: PathBuf,
        #[command(flatten)]
        trial: Trial,
        #[command(flatten)]
        tosses: Tosses,
    },
    /// Run many instances of an experiment, and write a table of their errors.
    Table(Tabulate),
    /// Draw the misfit of an experiment over one or two of its unknowns.
    Landscape(Landscape),
    /// Write many instances of an experiment with what made them and what is observed of them.
    Dataset(Dataset),
    /// List jobs and experiments.
    List,
    /// Write the scene of a folder from before scenes had a version as a document of the current version.
    Import {
        /// Folder with scene.json.
        folder: PathBuf,
        /// Let the scene name files outside of its folder.
        #[arg(long)]
        allow_outside: bool,
    },
    /// List what this build can run on.
    Devices,
}

#[derive(Debug, Args)]
pub(super) struct ResumeArgs {
    /// Folder of the run.
    pub(super) run: PathBuf,
    /// Folder of the video, if it has moved.
    #[arg(long, value_name = "DIR")]
    pub(super) video: Option<PathBuf>,
    /// Most iterations of the optimiser [default: as before].
    #[arg(long, value_name = "N")]
    pub(super) max_iterations: Option<usize>,
    /// Compare the gradient in use with finite differences first.
    #[arg(long, alias = "check-gradient")]
    pub(super) gradcheck: bool,
    /// Most time by the estimate before any work, such as 90m or 2h [default: as before].
    #[arg(long, value_name = "TIME")]
    max_time: Option<Seconds>,
    /// Most memory by the same estimate, such as 8GiB [default: as before].
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<Bytes>,
}

impl ResumeArgs {
    pub(super) fn limits(&self) -> Limits {
        Limits { max_time: self.max_time, max_memory: self.max_memory }
    }
}

impl Command {
    /// Its name and that of the experiment or of the file that it is given, where it takes one.
    pub(super) fn experiment(&self) -> Option<(&'static str, &Path)> {
        match self {
            Self::Run { target, .. } => Some(("run", target.as_path())),
            Self::Table(table) => Some(("table", table.name.as_path())),
            Self::Landscape(landscape) => Some(("landscape", landscape.name.as_path())),
            Self::Dataset(dataset) => Some(("dataset", dataset.name.as_path())),
            Self::Experiment(_) | Self::Resume(_) | Self::List | Self::Import { .. } | Self::Devices => None,
        }
    }
}

/// Options take values that begin with a minus: the parser of a value says what it expects, where clap would say that there is no such option.
fn with_negative_values(command: clap::Command) -> clap::Command {
    /// Values that are more than a number.
    const LONGER: [&str; 4] = ["I/N", "A..B", "TIME", "SIZE"];
    let allowed = |arg: clap::Arg| {
        if arg.is_positional() || !arg.get_action().takes_values() {
            return arg;
        }
        let names = arg.get_value_names().unwrap_or_default();
        match names.iter().any(|name| LONGER.contains(&name.as_str())) {
            true => arg.allow_hyphen_values(true),
            false => arg.allow_negative_numbers(true),
        }
    };
    command.mut_args(allowed).mut_subcommands(with_negative_values)
}

/// One line from clap's several.
pub(super) fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let line = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    let line = match unread_number(error) {
        Some((said, expected)) => line.replace(&said, expected),
        None => line,
    };
    format!("{} (see --help)", line.trim_start_matches("error: "))
}

/// What the standard library says of a text that is no number, and what was expected.
fn unread_number(error: &clap::Error) -> Option<(String, &'static str)> {
    let cause = error.source()?;
    let is_no_number = |e: &ParseIntError| matches!(e.kind(), IntErrorKind::InvalidDigit | IntErrorKind::Empty);
    if cause.downcast_ref::<ParseIntError>().is_some_and(is_no_number) {
        return Some((cause.to_string(), "expected a whole number, zero or more"));
    }
    cause.is::<ParseFloatError>().then(|| (cause.to_string(), "expected a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_numbers_are_values_of_options() {
        let said = |arguments: &str| {
            let read = Cli::read(arguments.split(' ').map(OsString::from));
            read.map_err(|error| one_line(&error))
        };
        for (arguments, field, expected) in [
            ("diffkern identify video --cells -3", "--cells", "expected a whole number, zero or more"),
            ("diffkern identify video --max-time -1h", "--max-time", "-1h"),
            ("diffkern simulate video --noise -x", "-x", "unexpected argument"),
            ("diffkern dataset rigid --count -1", "--count", "expected a whole number, zero or more"),
            ("diffkern dataset rigid --count 1 --shard -1/2", "--shard", "expected I/N with I from 0 to N - 1"),
            ("diffkern table rigid --seed -7", "--seed", "'-7'"),
            ("diffkern run tosses --train -1..3", "--train", "expected FIRST..END"),
        ] {
            let said = said(arguments).map(|_| ());
            assert!(said.as_ref().is_err_and(|s| s.contains(field) && s.contains(expected)), "{arguments}: {said:?}");
        }
        // The job itself says what noise may be.
        let Ok(Cli { command: Some(Command::Experiment(Experiment::Simulate(job))), .. }) =
            said("diffkern simulate video --noise -1")
        else {
            panic!("expected a simulation");
        };
        assert_eq!(job.noise, -1.0);
        // Options are options all the same.
        assert!(said("diffkern table rigid --count 2 --overwrite").is_ok_and(|cli| cli.overwrite));
    }
}
