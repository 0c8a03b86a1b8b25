//! Finds what made a video.

mod prepared;

pub use prepared::{Finished, Prepared};

use super::assignment::{assignment, map};
use super::options::{self, default_device};
use super::{Console, Ended, Job};
use crate::error::{Error, Result};
use crate::job::{Ending, IdentifyOptions, Progress, Simulator};
use crate::limits::{Bytes, Seconds};
use crate::optimizer::Optimizer;
use crate::program;
use crate::report::table;
use crate::run::Former;
use crate::scene::{Fit, Name, Range, Scene, Target};
use crate::text::path;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Find the parameters that made a video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Identify {
    /// Folder of the video, with scene.json, silhouette and shaded.
    pub folder: PathBuf,
    /// Folder to write to [default: out/ and the name of the scene].
    #[arg(long, value_name = "DIR")]
    #[serde(default)]
    pub out: Option<PathBuf>,
    /// Parameters to find [default: all that have a range in the scene].
    #[arg(long = "unknown", value_name = "NAME", value_delimiter = ',')]
    #[serde(default)]
    pub unknowns: Vec<Name>,
    /// What of the scene may be a little off, and is found along: start, camera, friction (always by finite elements from videos, but of what --set gives).
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    #[serde(default)]
    pub fit: Vec<Fit>,
    /// Value of a parameter that is not searched for in SI units.
    #[arg(long = "set", value_name = "NAME=VALUE", value_delimiter = ',', value_parser = assignment)]
    #[serde(default, with = "map")]
    pub fixed: Vec<(Name, f64)>,
    /// Values to start from in SI units; the method chooses the others.
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = assignment)]
    #[serde(default, with = "map")]
    pub start: Vec<(Name, f64)>,
    /// cpu, wgpu, cuda or best.
    #[arg(long, default_value_t = default_device())]
    #[serde(default = "default_device")]
    pub device: String,
    /// Seed of everything random.
    #[arg(long, default_value_t)]
    #[serde(default)]
    pub seed: u64,
    /// fem or mpm: what moves the bodies [default: finite elements where they can].
    #[arg(long, value_name = "METHOD")]
    #[serde(default)]
    pub simulator: Option<Simulator>,
    /// Cells across the thinnest side on the final grid [default: by the shapes of the bodies].
    #[arg(long, value_name = "N")]
    #[serde(default)]
    pub cells: Option<usize>,
    /// Most iterations of the optimiser [default: its own stopping rule].
    #[arg(long, value_name = "N")]
    #[serde(default)]
    pub max_iterations: Option<usize>,
    /// How steps are chosen: auto (lm, which needs the fewest runs of the simulator), lm, newton-cg (with the feature
    /// second-order) or adam.
    #[arg(long, value_name = "RULE", default_value_t)]
    #[serde(default)]
    pub optimizer: Optimizer,
    /// Compare the gradient in use with finite differences first.
    #[arg(long, alias = "check-gradient")]
    #[serde(default, alias = "check_gradient")]
    pub gradcheck: bool,
    /// Let the scene name files outside of its folder.
    #[arg(long)]
    #[serde(default)]
    pub allow_outside: bool,
    /// Most time by the estimate before any work, such as 90m or 2h [default: 1h].
    #[arg(long, value_name = "TIME")]
    #[serde(default)]
    pub max_time: Option<Seconds>,
    /// Most memory by the same estimate, such as 8GiB [default: four fifths of what is free].
    #[arg(long, value_name = "SIZE")]
    #[serde(default)]
    pub max_memory: Option<Bytes>,
}

impl Job for Identify {
    fn check(&self) -> Result<()> {
        self.options(&self.scene()?).map(drop)
    }

    fn run(&self, former: Former, console: &mut dyn Console) -> Result<Ended> {
        Prepared::begin(self, former)?.tell(self.gradcheck, console)
    }
}

impl Prepared {
    /// Runs it, with the check of its gradient if one is asked for, and tells what is found.
    ///
    /// # Errors
    /// When a computation fails or a file cannot be written.
    pub fn tell(&self, gradcheck: bool, console: &mut dyn Console) -> Result<Ended> {
        self.notes.iter().for_each(|note| console.note(note));
        console.say(&format!("identifying {} into {}", self.scene().name, path(self.folder())));
        let stop = console.stop();
        let check = gradcheck.then(|| self.gradcheck(&stop)).transpose()?;
        check.iter().flat_map(table::gradient).for_each(|line| console.print(&line));
        let mut tell = |progress: &Progress, seconds: f64| {
            progress.note.iter().for_each(|note| console.note(note));
            console.progress(progress, seconds)
        };
        let done = self.run(&mut tell, &stop);
        console.finish();
        let done = done?;
        done.outcome.warnings.iter().for_each(|warning| console.note(warning));
        table::finished(&done.outcome, done.seconds, &done.files, self.folder()).iter().for_each(|l| console.print(l));
        Ok(match check {
            _ if done.outcome.ending == Ending::Interrupted => Ended::Interrupted,
            Some(check) if !check.passed => Ended::WrongGradient,
            _ => Ended::Done,
        })
    }
}

impl Identify {
    /// A job with every default.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            out: None,
            unknowns: Vec::new(),
            fit: Vec::new(),
            fixed: Vec::new(),
            start: Vec::new(),
            device: default_device(),
            seed: 0,
            simulator: None,
            cells: None,
            max_iterations: None,
            optimizer: Optimizer::Auto,
            gradcheck: false,
            allow_outside: false,
            max_time: None,
            max_memory: None,
        }
    }

    /// Reads the scene, with what is found along with its unknowns.
    ///
    /// # Errors
    /// For any wrong input.
    pub fn scene(&self) -> Result<Scene> {
        let scene = Scene::read_with(&self.folder, self.access())?;
        let along = self.along(&scene);
        scene.fitted(&along)
    }

    /// What is found along: what was asked for, and friction by finite elements from videos, where how a body that sticks springs back is what grids and programs agree on least.
    fn along(&self, scene: &Scene) -> Vec<Fit> {
        let by_elements = program::choose_to_search(scene, self.simulator).is_ok_and(|it| it == Simulator::Fem);
        let weighs = self.optimizer.resolve().is_ok_and(|rule| rule == Optimizer::Lm);
        let more = by_elements && weighs && !scene.films.is_empty() && !self.fit.contains(&Fit::Friction);
        self.fit.iter().copied().chain(more.then_some(Fit::Friction)).collect()
    }

    /// Checks the job against its [`scene`](Self::scene).
    ///
    /// # Errors
    /// Names the option and what was expected.
    pub fn options(&self, scene: &Scene) -> Result<IdentifyOptions> {
        scene.tracks.iter().try_for_each(|track| track.is_there(&self.folder))?;
        let mut asked = self.unknowns.clone();
        if !asked.is_empty() {
            let said = self.unknowns.iter().chain(self.fixed.iter().map(|(name, _)| name));
            let said: Vec<Target> = said.filter_map(|name| scene.all(name).ok()).flatten().collect();
            let parts = self.along(scene);
            let along = |range: &&Range| parts.iter().any(|part| part.holds(range.target)) && !said.contains(&range.target);
            asked.extend(scene.unknowns.iter().filter(along).map(|range| range.name.clone()));
        }
        let (unknowns, fixed, start) = options::split(scene, &asked, &self.fixed, &self.start)?;
        let has_prior = |range: &Range| range.prior.is_some() && unknowns.contains(&range.name);
        if self.optimizer.resolve()? != Optimizer::Lm && scene.unknowns.iter().any(has_prior) {
            let problem =
                format!("{}, but an unknown has a prior, which only lm weighs against the data", self.optimizer);
            return Err(Error::argument("optimizer", problem));
        }
        options::counts(self.cells, self.max_iterations)?;
        Ok(IdentifyOptions {
            unknowns,
            fixed,
            start,
            device: self.device.clone(),
            seed: self.seed,
            simulator: program::choose_to_search(scene, self.simulator)?,
            cells: self.cells,
            max_iterations: self.max_iterations,
            optimizer: self.optimizer.resolve()?,
            limits: self.limits(),
        })
    }
}
