//! The command line.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
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

/// One line from clap's several.
pub(super) fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let line = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    format!("{} (see --help)", line.trim_start_matches("error: "))
}
