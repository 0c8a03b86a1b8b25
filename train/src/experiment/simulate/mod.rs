//! Renders what given parameters look like.

mod noise;
mod simulation;

pub use simulation::{Simulation, Written};
pub(super) use simulation::{meshes, write_all};

use super::assignment::{assignment, map};
use super::options::{self, default_device};
use super::{Console, Ended, Job};
use crate::error::{Error, Result};
use crate::job::{Simulator, Values};
use crate::limits::{Bytes, Seconds};
use crate::report::table;
use crate::run::Former;
use crate::scene::{Name, Scene};
use crate::text::path;
use crate::video::Bits;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Instant;

/// Render what given parameters look like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Simulate {
    /// Folder with scene.json.
    pub folder: PathBuf,
    /// Value of a parameter in SI units; one for each that the scene does not know.
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = assignment)]
    #[serde(default, with = "map")]
    pub set: Vec<(Name, f64)>,
    /// fem, mpm or tlmpm: what moves the bodies [default: finite elements where they can].
    #[arg(long, value_name = "METHOD")]
    #[serde(default)]
    pub simulator: Option<Simulator>,
    /// Cells across the thinnest side [default: as many as identify ends with].
    #[arg(long, value_name = "N")]
    #[serde(default)]
    pub cells: Option<usize>,
    /// Folder to write frames to [default: out/ and the name of the scene, with _simulated].
    #[arg(long, value_name = "DIR")]
    #[serde(default)]
    pub out: Option<PathBuf>,
    /// cpu, wgpu, cuda or best.
    #[arg(long, default_value_t = default_device())]
    #[serde(default = "default_device")]
    pub device: String,
    /// Bits of a colour in the frames: 8 or 16.
    #[arg(long, default_value_t, value_parser = Bits::parse)]
    #[serde(default)]
    pub bits: Bits,
    /// Standard deviation of noise on every value of every pixel, as a part of white.
    #[arg(long, default_value_t)]
    #[serde(default)]
    pub noise: f64,
    /// Seed of the noise.
    #[arg(long, default_value_t)]
    #[serde(default)]
    pub seed: u64,
    /// Compare the gradient at these values, against the folder's frames, with finite differences.
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

impl Job for Simulate {
    fn check(&self) -> Result<()> {
        self.values(&Scene::read_with(&self.folder, self.access())?).map(drop)
    }

    fn run(&self, former: Former, console: &mut dyn Console) -> Result<Ended> {
        Simulation::begin(self, former)?.tell(self.gradcheck, console)
    }
}

impl Simulation {
    /// Runs it, with a check of the gradient if one is asked for, and tells what is written.
    ///
    /// # Errors
    /// When a computation fails or a file cannot be written.
    pub fn tell(&self, gradcheck: bool, console: &mut dyn Console) -> Result<Ended> {
        self.notes.iter().for_each(|note| console.note(note));
        let stop = console.stop();
        let check = gradcheck.then(|| self.gradcheck(&stop)).transpose()?;
        check.iter().flat_map(table::gradient).for_each(|line| console.print(&line));
        let begun = Instant::now();
        let done = self.run(&mut |fraction| console.fraction(fraction, begun.elapsed().as_secs_f64()), &stop);
        console.finish();
        let Some(Written { files, note }) = done? else {
            console.say("stopped, nothing was written");
            return Ok(Ended::Interrupted);
        };
        files.iter().for_each(|file| console.print(&format!("wrote {}", path(file))));
        note.iter().for_each(|note| console.note(note));
        Ok(if check.is_some_and(|check| !check.passed) { Ended::WrongGradient } else { Ended::Done })
    }
}

impl Simulate {
    /// A job with every default.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            set: Vec::new(),
            simulator: None,
            cells: None,
            out: None,
            device: default_device(),
            bits: Bits::default(),
            noise: 0.0,
            seed: 0,
            gradcheck: false,
            allow_outside: false,
            max_time: None,
            max_memory: None,
        }
    }

    /// The values of all parameters: those set and those that the scene knows.
    ///
    /// # Errors
    /// Names the parameter that is missing or wrong.
    pub fn values(&self, scene: &Scene) -> Result<Values> {
        let values = options::all(scene, &self.set)?;
        if !(0.0..=1.0).contains(&self.noise) {
            let problem = format!("{}, expected a part of white between 0 and 1", self.noise);
            return Err(Error::argument("noise", problem));
        }
        options::counts(self.cells, None)?;
        Ok(values)
    }
}
