//! The command line.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use train::experiment::{Experiment, Identify, Simulate, default_device};
use train::job::Values;
use train::limits::{Bytes, Limits, Seconds};
use train::optimizer::Optimizer;
use train::run::Former;
use train::scene::Name;
use train::video::Depth;

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
    #[command(flatten)]
    pub(super) former: FormerArgs,
}

/// What to do about a former job.
#[derive(Debug, Args)]
pub(super) struct FormerArgs {
    /// Replace what a former job has left in the folder to write to; it stays until this one has something to show.
    #[arg(long)]
    overwrite: bool,
}

impl FormerArgs {
    pub(super) fn choice(&self) -> Former {
        if self.overwrite { Former::Replace } else { Former::Keep }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Find the parameters that made a video.
    Identify(IdentifyArgs),
    /// Render what given parameters look like.
    Simulate(SimulateArgs),
    /// Run a job from a RON file.
    #[command(long_about = EXPERIMENT)]
    Run {
        /// The RON file.
        file: PathBuf,
        #[command(flatten)]
        former: FormerArgs,
    },
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

const EXPERIMENT: &str = "Run a job from a RON file: the same jobs as on the command line.

Identify(
    folder: \"video\",            // scene.json, silhouette, shaded; relative to this file
    out: \"out/video\",           // optional: out/<name of the scene>; relative to the current folder
    unknowns: [\"mu\", \"lambda\"], // optional: all that have a range in the scene
    fixed: {},                  // optional: values of parameters not searched for, {\"lambda\": 2e4} in SI units
    start: {\"mu\": 5000.0},      // optional: where to start in SI units; the method chooses the others
    device: \"cpu\",              // optional: cpu (default), wgpu, cuda or best
    seed: 0,                    // optional: seed of everything random
    cells: 8,                   // optional: grid cells across the thinnest side in the end, by the shapes
    max_iterations: 40,         // optional: the method's own stopping rule
    optimizer: \"auto\",          // optional: auto (lm), lm, newton-cg or adam
    gradcheck: false,           // optional: compare the gradient with finite differences first
    allow_outside: false,       // optional: let the scene name files outside of its folder
    max_time: \"1h\",             // optional: most time, by an estimate before any work
    max_memory: \"8GiB\",         // optional: most memory; four fifths of what is free
)

Simulate(
    folder: \"video\",            // scene.json; relative to this file
    set: {\"mu\": 8e3, \"lambda\": 1.4e4}, // value of every parameter that the scene does not know in SI units
    out: \"out/simulated\",       // optional: out/<name of the scene>_simulated
    device: \"cpu\",              // optional
    bits: 8,                    // optional: bits of a colour in the frames, 8 or 16
    noise: 0.0,                 // optional: standard deviation of noise on every value, as a part of white
    seed: 0,                    // optional: seed of the noise
    gradcheck: false,           // optional: at these values, against the frames in folder
    allow_outside: false,       // optional, as above
    max_time: \"1h\", max_memory: \"8GiB\", // optional, as above
)

Unknown fields and wrong values are refused with line and column. A folder that holds a run or another video is
refused, too: go on with a run by `identify --resume DIR`, or replace what is there by --overwrite.";

#[derive(Debug, Args)]
pub(super) struct IdentifyArgs {
    /// Folder of the video, with scene.json, silhouette and shaded.
    #[arg(required_unless_present = "resume")]
    pub(super) folder: Option<PathBuf>,
    /// Folder to write to [default: out/ and the name of the scene].
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    out: Option<PathBuf>,
    /// Parameters to find [default: all that have a range in the scene].
    #[arg(long, value_name = "NAME", value_delimiter = ',', conflicts_with = "resume")]
    unknown: Vec<Name>,
    /// Value of a parameter that is not searched for in SI units.
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = assignment, conflicts_with = "resume")]
    set: Vec<(Name, f64)>,
    /// Values to start from in SI units; the method chooses the others.
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = assignment, conflicts_with = "resume")]
    start: Vec<(Name, f64)>,
    /// cpu, wgpu, cuda or best.
    #[arg(long, default_value_t = default_device(), conflicts_with = "resume")]
    device: String,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0, conflicts_with = "resume")]
    seed: u64,
    /// Grid cells across the thinnest side on the final grid [default: by the shapes of the bodies].
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    cells: Option<usize>,
    /// Most iterations of the optimiser [default: its own stopping rule].
    #[arg(long, value_name = "N")]
    pub(super) max_iterations: Option<usize>,
    /// How steps are chosen: auto (lm, which needs the fewest runs of the simulator), lm, newton-cg (with the feature
    /// second-order) or adam.
    #[arg(long, value_name = "RULE", default_value_t, conflicts_with = "resume")]
    optimizer: Optimizer,
    /// Compare the gradient in use with finite differences first.
    #[arg(long, alias = "check-gradient")]
    pub(super) gradcheck: bool,
    /// Let the scene name files outside of its folder.
    #[arg(long, conflicts_with = "resume")]
    allow_outside: bool,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    /// Go on with the run in this folder; on the CPU, to the same bits.
    #[arg(long, value_name = "DIR", conflicts_with = "overwrite")]
    pub(super) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(super) former: FormerArgs,
}

#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    /// Folder with scene.json.
    folder: PathBuf,
    /// Value of a parameter in SI units; one for each that the scene does not know.
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = assignment)]
    set: Vec<(Name, f64)>,
    /// Grid cells across the thinnest side [default: as many as identify ends with].
    #[arg(long, value_name = "N")]
    cells: Option<usize>,
    /// Folder to write frames to [default: out/ and the name of the scene, with _simulated].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// cpu, wgpu, cuda or best.
    #[arg(long, default_value_t = default_device())]
    device: String,
    /// Bits of a colour in the frames: 8 or 16.
    #[arg(long, default_value_t, value_parser = Depth::parse)]
    bits: Depth,
    /// Standard deviation of noise on every value of every pixel, as a part of white.
    #[arg(long, default_value_t = 0.0)]
    noise: f64,
    /// Seed of the noise.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Compare the gradient at these values, against the folder's frames, with finite differences.
    #[arg(long, alias = "check-gradient")]
    gradcheck: bool,
    /// Let the scene name files outside of its folder.
    #[arg(long)]
    allow_outside: bool,
    #[command(flatten)]
    pub(super) former: FormerArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// What a job may take. It is estimated before any work, and refused beyond.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct LimitArgs {
    /// Most time by the estimate before any work, such as 90m or 2h [default: 1h].
    #[arg(long, value_name = "TIME")]
    max_time: Option<Seconds>,
    /// Most memory by the same estimate, such as 8GiB [default: four fifths of what is free].
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<Bytes>,
}

impl LimitArgs {
    pub(super) fn limits(self) -> Limits {
        Limits { max_time: self.max_time, max_memory: self.max_memory }
    }
}

impl IdentifyArgs {
    /// The job, for a run that is not resumed.
    pub(super) fn job(&self, folder: PathBuf) -> Identify {
        Identify {
            folder,
            out: self.out.clone(),
            unknowns: self.unknown.clone(),
            fixed: values(&self.set),
            start: values(&self.start),
            device: self.device.clone(),
            seed: self.seed,
            cells: self.cells,
            max_iterations: self.max_iterations,
            optimizer: self.optimizer,
            gradcheck: self.gradcheck,
            allow_outside: self.allow_outside,
            max_time: self.limits.max_time,
            max_memory: self.limits.max_memory,
        }
    }
}

impl SimulateArgs {
    /// The job.
    pub(super) fn job(self) -> Experiment {
        Experiment::Simulate(Simulate {
            folder: self.folder,
            out: self.out,
            set: values(&self.set),
            cells: self.cells,
            device: self.device,
            bits: self.bits,
            noise: self.noise,
            seed: self.seed,
            gradcheck: self.gradcheck,
            allow_outside: self.allow_outside,
            max_time: self.limits.max_time,
            max_memory: self.limits.max_memory,
        })
    }
}

fn values(pairs: &[(Name, f64)]) -> Values {
    pairs.iter().cloned().collect()
}

fn assignment(text: &str) -> Result<(Name, f64), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| format!("{text:?} is no assignment, expected NAME=VALUE such as mu=8000"))?;
    let value = value.trim();
    let number = value.parse().map_err(|_| format!("{value:?} is not a number, expected one in SI units"))?;
    Ok((name.trim().parse()?, number))
}

/// One line from clap's several.
pub(super) fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let line = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    format!("{} (see --help)", line.trim_start_matches("error: "))
}
