//! Says which throw, camera or second video would tell more.

use super::assignment::{assignment, map};
use super::options::{self, default_device};
use super::simulate::{meshes, write_all};
use super::{Console, Ended, Job};
use crate::error::{Error, Result};
use crate::files;
use crate::identify::{self, Information};
use crate::job::{IdentifyOptions, Simulator};
use crate::limits::{Bytes, Seconds};
use crate::plan::{self, Designs, Ranked, Ranking};
use crate::program::{Failure, Outcome};
use crate::run::{Destination, Former};
use crate::scene::document::Document;
use crate::scene::{Name, Scene};
use crate::text::path;
use serde::{Deserialize, Serialize};
use std::fs;
use std::collections::BTreeSet;
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
    /// Cells across the thinnest side [default: those of the search of identify].
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
        let file = Scene::file(&self.folder)?;
        let all = Scene::of_document(&designs.document, &self.folder, self.access())?;
        let options = self.options(&all)?;
        let task = identify::Task::Plan(&options);
        console.note(&identify::estimate(&all, &file, task, false, &self.device, &options.limits)?.to_string());
        let _destination = Destination::make(&out)?;
        let ranked = match self.ranking(&designs, console)? {
            Err(Failure::Unstable(_)) if !designs.throws().is_empty() => self.of_what_stands(designs, console)?,
            ranking => (designs, ranking),
        };
        console.finish();
        let (designs, ranking) = ranked;
        let ranking = match ranking {
            Err(Failure::Stopped) => {
                console.say("stopped, nothing was written");
                return Ok(Ended::Interrupted);
            }
            Err(Failure::Unstable(error) | Failure::Fatal(error)) => return Err(error.in_file(&file)),
            Ok(ranking) => ranking,
        };
        console.say(&format!("compared {} ways to film {} into {}", designs.all.len(), scene.name, path(&out)));
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
        let Self { unknowns, fixed, start, device, simulator, cells, .. } = self;
        let (simulator, cells, limits) = (*simulator, *cells, self.limits());
        options::Asked { unknowns, fixed, start, device, simulator, cells, limits }.of(scene)
    }

    /// The designs, best first.
    fn ranking(&self, designs: &Designs, console: &mut dyn Console) -> Result<Outcome<Ranking>> {
        let all = Scene::of_document(&designs.document, &self.folder, self.access())?;
        let options = self.options(&all)?;
        let (begun, stop) = (Instant::now(), console.stop());
        let mut flow = |part: f64| console.fraction(part, begun.elapsed().as_secs_f64());
        let told = stop.scope(|| Information::of(&all, &options, &mut flow));
        Ok(told.and_then(|told| Ranking::of(designs, &all, &told)))
    }

    /// The same without throws that the material does not stand, which are found by trying each by itself.
    fn of_what_stands(&self, designs: Designs, console: &mut dyn Console) -> Result<(Designs, Outcome<Ranking>)> {
        let throws = designs.throws();
        let mut fallen = BTreeSet::new();
        for (throw, about) in &throws {
            let others = throws.keys().filter(|other| *other != throw).cloned().collect();
            match self.ranking(&designs.clone().without(&others), console)? {
                Ok(_) => {}
                Err(Failure::Unstable(error)) => {
                    console.note(&format!("{about} is left out, as it cannot be simulated: {error}"));
                    fallen.insert(throw.clone());
                }
                Err(failure) => return Ok((designs, Err(failure))),
            }
        }
        let designs = designs.without(&fallen);
        let ranking = self.ranking(&designs, console)?;
        Ok((designs, ranking))
    }

    /// The scene of a design with the meshes that it names, to be filmed or simulated.
    fn write(&self, document: &Document, folder: &Path) -> Result<PathBuf> {
        fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
        write_all(folder, &meshes(document, &self.folder, self.access())?)?;
        let file = folder.join("scene.json");
        files::write(&file, document.to_json()?.as_bytes())?;
        Ok(file)
    }
}
