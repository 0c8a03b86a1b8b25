//! Finds with what a body comes to a place.

use super::assignment::{Point, assignment, map};
use super::goal::Goal;
use super::options::{self, default_device};
use super::{Console, Ended, Job, Simulate, Simulation};
use crate::error::Result;
use crate::identify;
use crate::job::{IdentifyOptions, Simulator, Values};
use crate::limits::{Bytes, Seconds};
use crate::run::Former;
use crate::scene::{Name, Scene};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Find with what a body comes to a place: a velocity to throw it with, or a stiffness to bounce with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Throw {
    /// Folder with scene.json; what may be changed are its unknowns, within their ranges.
    pub folder: PathBuf,
    /// Where the centre of mass is to be, in metres, with z up.
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    pub to: Point,
    /// Frame at which it is to be there [default: the last].
    #[arg(long, value_name = "N")]
    #[serde(default)]
    pub frame: Option<usize>,
    /// The body [default: the only one].
    #[arg(long, value_name = "NAME")]
    #[serde(default)]
    pub body: Option<String>,
    /// Parameters to find [default: all that have a range in the scene].
    #[arg(long = "unknown", value_name = "NAME", value_delimiter = ',')]
    #[serde(default)]
    pub unknowns: Vec<Name>,
    /// Value of a parameter that is not searched for in SI units.
    #[arg(long = "set", value_name = "NAME=VALUE", value_delimiter = ',', value_parser = assignment)]
    #[serde(default, with = "map")]
    pub fixed: Vec<(Name, f64)>,
    /// Values to start from in SI units; the method chooses the others.
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = assignment)]
    #[serde(default, with = "map")]
    pub start: Vec<(Name, f64)>,
    /// Folder to write the frames of the answer to [default: out/ and the name of the scene, with _thrown].
    #[arg(long, value_name = "DIR")]
    #[serde(default)]
    pub out: Option<PathBuf>,
    /// cpu, wgpu, cuda or best.
    #[arg(long, default_value_t = default_device())]
    #[serde(default = "default_device")]
    pub device: String,
    /// fem or mpm: what moves the bodies [default: finite elements where they can].
    #[arg(long, value_name = "METHOD")]
    #[serde(default)]
    pub simulator: Option<Simulator>,
    /// Cells across the thinnest side on the final grid [default: by the shapes of the bodies].
    #[arg(long, value_name = "N")]
    #[serde(default)]
    pub cells: Option<usize>,
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

impl Job for Throw {
    fn check(&self) -> Result<()> {
        let scene = self.scene()?;
        self.goal(&scene, &self.options(&scene)?).map(drop)
    }

    fn run(&self, former: Former, console: &mut dyn Console) -> Result<Ended> {
        let scene = self.scene()?;
        let options = self.options(&scene)?;
        let goal = self.goal(&scene, &options)?;
        let file = Scene::file(&self.folder)?;
        let task = identify::Task::Identify(&options);
        let estimate = identify::estimate(&scene, &file, task, false, &self.device, &options.limits)?;
        // Before the search: it has the folder from now on, or the job is refused.
        let simulation = Simulation::begin(&self.simulation(&scene, goal.start()?), former)?;
        console.note(&estimate.to_string());
        let found = goal.reach(console);
        console.finish();
        let Some(found) = found.map_err(|error| error.in_file(&file))? else {
            console.say("stopped, nothing was written");
            return Ok(Ended::Interrupted);
        };
        found.lines().iter().for_each(|line| console.print(line));
        simulation.with_values(found.values).tell(false, console)
    }
}

impl Throw {
    fn scene(&self) -> Result<Scene> {
        Scene::read_with(&self.folder, self.access())
    }

    fn goal<'a>(&self, scene: &'a Scene, options: &'a IdentifyOptions) -> Result<Goal<'a>> {
        Goal::new(scene, options, self.body.as_deref(), self.frame, self.to)
    }

    fn options(&self, scene: &Scene) -> Result<IdentifyOptions> {
        let Self { unknowns, fixed, start, device, simulator, cells, .. } = self;
        let (simulator, cells, limits) = (*simulator, *cells, self.limits());
        options::Asked { unknowns, fixed, start, device, simulator, cells, limits }.of(scene)
    }

    /// The job that draws these values.
    fn simulation(&self, scene: &Scene, values: Values) -> Simulate {
        Simulate {
            set: values.into_iter().collect(),
            simulator: self.simulator,
            cells: self.cells,
            out: Some(self.out.clone().unwrap_or_else(|| Path::new("out").join(format!("{}_thrown", scene.name)))),
            device: self.device.clone(),
            allow_outside: self.allow_outside,
            max_time: self.max_time,
            max_memory: self.max_memory,
            ..Simulate::new(self.folder.clone())
        }
    }
}
