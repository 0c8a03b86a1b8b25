//! Says which throw, camera or second video would tell more.

use super::assignment::{assignment, map};
use super::options::{self, default_device};
use super::{Console, Ended, Job};
use crate::error::{Error, Result};
use crate::files;
use crate::identify::{self, Information};
use crate::input;
use crate::job::{IdentifyOptions, Simulator};
use crate::limits::{Bytes, Seconds};
use crate::optimizer::Optimizer;
use crate::plan::{self, Designs, Ranked, Ranking};
use crate::program::{self, Failure};
use crate::run::Former;
use crate::scene::document::Document;
use crate::scene::{Access, Name, Scene};
use crate::text::path;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Say which throw, camera or second video would tell the unknowns better, before it is filmed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, clap::Args)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Folder with scene.json; frames are not needed.
    pub folder: PathBuf,
    /// Parameters to find [default: all that have a range in the scene].
    #[arg(long = "unknown", value_name = "NAME", value_delimiter = ',')]
    #[serde(default)]
    pub unknowns: Vec<Name>,
    /// Value of a parameter that is not searched for in SI units.
    #[arg(long = "set", value_name = "NAME=VALUE", value_delimiter = ',', value_parser = assignment)]
    #[serde(default, with = "map")]
    pub fixed: Vec<(Name, f64)>,
    /// Values that the unknowns are thought to have in SI units [default: the middle of their ranges].
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = assignment)]
    #[serde(default, with = "map")]
    pub start: Vec<(Name, f64)>,
    /// Folder to write to [default: out/ and the name of the scene, with _plan].
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
    /// Cells across the thinnest side [default: those of the coarse grid of identify].
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

/// The record of a plan.
const RECORD: &str = "plan.json";

impl Job for Plan {
    fn check(&self) -> Result<()> {
        self.options(&self.scene()?).map(drop)
    }

    fn run(&self, former: Former, console: &mut dyn Console) -> Result<Ended> {
        let scene = self.scene()?;
        let out = self.out.clone().unwrap_or_else(|| Path::new("out").join(format!("{}_plan", scene.name)));
        if former == Former::Keep && files::is_there(&out.join(RECORD))? {
            let problem = "holds another plan already, expected another folder, or --overwrite to replace it";
            return Err(Error::file(&out, problem));
        }
        // What is wrong with the scene itself is told first.
        self.options(&scene)?;
        let (document, _) = Document::read(&self.folder, self.access())?;
        let designs = Designs::of(&document, &scene, &self.folder, self.access())?;
        scene.warnings.iter().chain(&designs.notes).for_each(|note| console.note(note));
        let all = Scene::of_document(&designs.document, &self.folder, self.access())?;
        let options = self.options(&all)?;
        let file = Scene::file(&self.folder)?;
        let task = identify::Task::Identify(&options);
        identify::estimate(&all, &file, task, false, &self.device, &options.limits)?;
        console.say(&format!("comparing {} ways to film {} into {}", designs.all.len(), scene.name, path(&out)));
        let (begun, stop) = (Instant::now(), console.stop());
        let mut tick = |part: f64| console.fraction(part, begun.elapsed().as_secs_f64());
        let ranking = stop.scope(|| {
            Ranking::of(&designs, &all, &Information::of(&all, &options, &mut tick)?)
        });
        console.finish();
        let ranking = match ranking {
            Err(Failure::Stopped) => {
                console.say("stopped, nothing was written");
                return Ok(Ended::Interrupted);
            }
            Err(Failure::Unstable(error) | Failure::Fatal(error)) => return Err(error.in_file(&file)),
            Ok(ranking) => ranking,
        };
        let lines = plan::lines(&ranking);
        lines.iter().for_each(|line| console.print(line));
        for Ranked { design, .. } in ranking.best() {
            let scene = self.write(&designs.document_of(design), &out.join("designs").join(&design.name))?;
            console.say(&format!("{}: {}", design.about, path(&scene)));
        }
        files::write(&out.join("plan.md"), (lines.join("\n") + "\n").as_bytes())?;
        files::write_json(&out.join(RECORD), &plan::record(&ranking))?;
        Ok(Ended::Done)
    }
}

impl Plan {
    fn scene(&self) -> Result<Scene> {
        Scene::read_with(&self.folder, self.access())
    }

    fn options(&self, scene: &Scene) -> Result<IdentifyOptions> {
        let (unknowns, fixed, start) = options::split(scene, &self.unknowns, &self.fixed, &self.start)?;
        options::counts(self.cells, None)?;
        options::check_device(&self.device)?;
        Ok(IdentifyOptions {
            unknowns,
            fixed,
            start,
            device: self.device.clone(),
            seed: 0,
            simulator: program::choose(scene, self.simulator)?.0,
            cells: self.cells,
            max_iterations: None,
            optimizer: Optimizer::Lm,
            limits: self.limits(),
        })
    }

    /// The scene of a design with the meshes that it names, to be filmed or simulated.
    fn write(&self, document: &Document, folder: &Path) -> Result<PathBuf> {
        fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
        for name in document.meshes().filter(|name| Access::Inside.allows(&self.folder, name)) {
            let bytes = input::bytes(&self.folder.join(name), input::MESH, "expected a mesh")?;
            let file = folder.join(name);
            let own = file.parent().unwrap_or(folder);
            fs::create_dir_all(own).map_err(|e| Error::write(own, e))?;
            files::write(&file, &bytes)?;
        }
        let file = folder.join("scene.json");
        files::write(&file, document.to_json()?.as_bytes())?;
        Ok(file)
    }
}
