//! A simulation of given parameters, written as a video that can be identified.

use super::{Simulate, noise};
use crate::error::{Error, Result};
use crate::experiment::options::check_device;
use crate::files;
use crate::identify::{self, Drawing, Task};
use crate::input;
use crate::job::{Flow, Gradcheck, IdentifyOptions, Shown, Simulator, Stop, Surface, Values};
use crate::limits::Limits;
use crate::optimizer::Optimizer;
use crate::program::choose;
use crate::report;
use crate::run::{Claim, Former, Outputs, fingerprint};
use crate::scene::document::Document;
use crate::scene::{Access, Film, Name, Scene, read_text};
use crate::text::{path, quoted};
use crate::video::{Bits, Video};
use diffkern::interrupt;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const SCENE: &str = "scene.json";
const RECORD: &str = "simulated.json";
const ANIMATION: &str = "simulated.gif";
/// The surfaces in the last frame of a motion that does not come to its end.
const LAST: &str = "last_frame.obj";
/// Folder of the frames, one below it for each film, where a scene has several.
const VIDEOS: &str = "videos";
/// Folder of the depths of a scene with one film, beside those of the other pictures.
const DEPTH: &str = "depth";
/// Folder of the tables of tracks.
const TRACKS: &str = "tracks";

/// What a simulation writes. The scene comes last: without it a folder is no video.
const VIDEO: Outputs = Outputs {
    names: &[RECORD, "silhouette", "shaded", DEPTH, VIDEOS, TRACKS, ANIMATION, SCENE],
    first: RECORD,
    proof: SCENE,
    aside: "former-video",
};

/// Name and content of a file.
pub(in super::super) type Named = (String, Vec<u8>);

/// A checked simulation.
#[derive(Debug)]
pub struct Simulation {
    scene: Scene,
    /// The scene as JSON, for the video.
    text: Vec<u8>,
    /// Names and contents of the files that it names.
    meshes: Vec<Named>,
    file: PathBuf,
    limits: Limits,
    folder: PathBuf,
    out: Claim,
    values: Values,
    simulator: Simulator,
    cells: Option<usize>,
    device: String,
    bits: Bits,
    noise: f64,
    seed: u64,
    /// Things a person should know before the run.
    pub notes: Vec<String>,
}

/// What a simulation has written.
#[derive(Debug)]
pub struct Written {
    /// The files.
    pub files: Vec<PathBuf>,
    /// What a person should know of them.
    pub note: Option<String>,
}

impl Simulation {
    /// Checks a job and makes its folder, which must hold no video but one that the same job has made.
    ///
    /// # Errors
    /// For any wrong input, before anything is written.
    pub fn new(job: &Simulate) -> Result<Self> {
        Self::begin(job, Former::Keep)
    }

    /// As [`Simulation::new`], but takes the place of any video in the folder, once this one is complete.
    ///
    /// # Errors
    /// For any wrong input, before anything is written.
    pub fn replacing(job: &Simulate) -> Result<Self> {
        Self::begin(job, Former::Replace)
    }

    /// As [`Simulation::new`] or [`Simulation::replacing`].
    ///
    /// # Errors
    /// As these.
    pub fn begin(job: &Simulate, former: Former) -> Result<Self> {
        let scene = Scene::read_with(&job.folder, job.access())?;
        own_folders(&scene, &job.folder)?;
        let (file, limits) = (Scene::file(&job.folder)?, job.limits());
        let (text, meshes) = copies(&job.folder, job.access())?;
        let values = job.values(&scene)?;
        check_device(&job.device)?;
        let (simulator, why) = choose(&scene, job.simulator)?;
        let task = Task::Simulate(Drawing { values: &values, simulator, cells: job.cells });
        let estimate = identify::estimate(&scene, &file, task, job.gradcheck, &job.device, &limits)?;
        let name = format!("{}_simulated", scene.name);
        let out = job.out.clone().unwrap_or_else(|| Path::new("out").join(name));
        if is_same(&out, &job.folder)? {
            let problem = format!("{} is the folder of the video, expected another", path(&out));
            return Err(Error::argument("out", problem));
        }
        let claim = Claim::take(&out, |name| VIDEO.know(name))?;
        VIDEO.recover(&out)?;
        let mut notes = scene.warnings.clone();
        notes.extend(values.iter().filter_map(|(name, &value)| replaced(&scene, name, value)));
        notes.push(why);
        notes.push(estimate.to_string());
        let (folder, device) = (job.folder.clone(), job.device.clone());
        let (bits, noise, seed) = (job.bits, job.noise, job.seed);
        let simulation = Self {
            scene,
            text,
            meshes,
            file,
            limits,
            folder,
            out: claim,
            values,
            simulator,
            cells: job.cells,
            device,
            bits,
            noise,
            seed,
            notes,
        };
        match VIDEO.find(&out)? {
            Some(name) if former == Former::Keep && !simulation.has_made(&out)? => {
                let problem = format!(
                    "holds another video already ({name}), expected another folder, or --overwrite to replace it"
                );
                Err(Error::file(&out, problem))
            }
            _ => Ok(simulation),
        }
    }

    /// The same of other values of all parameters.
    pub(in super::super) fn with_values(self, values: Values) -> Self {
        Self { values, ..self }
    }

    /// What the video depends on.
    fn record(&self) -> Value {
        json!({
            "parameters": self.values, "simulator": self.simulator, "cells": self.cells, "bits": self.bits, "noise": self.noise, "seed": self.seed,
            "device": self.device, "scene": fingerprint(&self.scene, &[]), "version": env!("CARGO_PKG_VERSION"),
        })
    }

    /// Whether the same job has made what is in `folder`, or was killed while it did.
    fn has_made(&self, folder: &Path) -> Result<bool> {
        let record = input::bytes(&folder.join(RECORD), input::RECORD, "expected the record of a video").ok();
        let record: Option<Value> = record.and_then(|text| serde_json::from_slice(&text).ok());
        let scene = folder.join(SCENE);
        let same_scene = !files::is_there(&scene)?
            || input::bytes(&scene, input::SCENE, "expected a scene").is_ok_and(|text| text == self.text);
        Ok(same_scene && record == Some(self.record()))
    }

    /// Compares the gradient at these values, against the frames of the folder, with finite
    /// differences.
    ///
    /// # Errors
    /// When there are no frames, or the program cannot be run at these values.
    pub fn gradcheck(&self, stop: &Stop) -> Result<Gradcheck> {
        let videos = Video::read(&self.folder, &self.scene)?;
        let unknowns: Vec<_> = self.scene.unknowns.iter().map(|range| range.name.clone()).collect();
        let (start, fixed) =
            self.values.iter().map(|(n, v)| (n.clone(), *v)).partition(|(name, _)| unknowns.contains(name));
        let device = self.device.clone();
        let (limits, optimizer) = (self.limits, Optimizer::Lm);
        let (simulator, cells, max_iterations) = (self.simulator, self.cells, None);
        let options = IdentifyOptions {
            unknowns,
            fixed,
            start,
            device,
            seed: 0,
            simulator,
            cells,
            max_iterations,
            optimizer,
            limits,
        };
        identify::gradcheck(&self.scene, &videos, &options, stop).map_err(|e| e.in_file(&self.file))
    }

    /// Simulates, renders and writes; none when `progress` asked to stop.
    ///
    /// # Errors
    /// When the computation fails or a file cannot be written; what was in the folder is there then.
    pub fn run(&self, progress: &mut dyn FnMut(f64) -> Flow, stop: &Stop) -> Result<Option<Written>> {
        let drawing = Drawing { values: &self.values, simulator: self.simulator, cells: self.cells };
        let mut last = None;
        let shown = identify::simulate(&self.scene, drawing, &self.device, &self.limits, stop, progress, &mut last);
        let mut shown = match shown {
            Err(Error::Interrupted) => return Ok(None),
            shown => shown.map_err(|error| self.ended(error.in_file(&self.file), last))?,
        };
        for (frames, seed) in shown.films.iter_mut().zip(self.seed..) {
            noise::add(frames, self.noise, seed);
        }
        let (out, torn) = (self.out.folder(), shown.torn.map(identify::torn));
        VIDEO.set_aside(out)?;
        match stop.scope(|| self.write(out, shown)) {
            Ok(files) => {
                VIDEO.discard_former(out)?;
                // Of a former motion. One that stays does no harm.
                let _ = fs::remove_file(out.join(LAST));
                Ok(Some(Written { files, note: torn }))
            }
            Err(Error::Interrupted) => VIDEO.roll_back(out).map(|_| None),
            Err(error) => {
                // The first error is the one to tell; the next job tries again.
                let _ = VIDEO.roll_back(out);
                Err(error)
            }
        }
    }

    /// Keeps the last frame of a motion that does not come to its end.
    fn ended(&self, error: Error, last: Option<Surface>) -> Error {
        let Some(last) = last else { return error };
        let file = self.out.folder().join(LAST);
        match files::write(&file, last.obj().as_bytes()) {
            Ok(()) => error.and(&format!("the bodies in frame {}, the last before, are in {}", last.frame, path(&file))),
            // The first error is the one to tell.
            Err(_) => error,
        }
    }

    /// What was made from comes first: a killed job may write to its folder again.
    fn write(&self, out: &Path, shown: Shown) -> Result<Vec<PathBuf>> {
        files::write(&out.join(RECORD), format!("{:#}\n", self.record()).as_bytes())?;
        let mut videos = Vec::new();
        for (film, frames) in self.scene.films.iter().zip(shown.films) {
            let camera = &self.scene.cameras[film.camera];
            for (k, frame) in frames.iter().enumerate() {
                interrupt::check()?;
                frame.write(out, [&film.silhouette, &film.shaded], k, camera.width, self.bits)?;
                if let Some(own) = &film.depth {
                    frame.write_depth(out, &own.folder, own.scale, k, camera.width)?;
                }
            }
            videos.push(Video { width: camera.width, height: camera.height, frames, masks: None });
        }
        let (scene, animation) = (out.join(SCENE), out.join(ANIMATION));
        let name = |film: &Film| if film.name.is_empty() { "simulated".to_owned() } else { film.name.clone() };
        let names: Vec<String> = self.scene.films.iter().map(name).collect();
        let named: Vec<(&str, &Video)> = names.iter().map(String::as_str).zip(&videos).collect();
        report::animation(&animation, &named, self.scene.frame_rate)?;
        for (track, places) in self.scene.tracks.iter().zip(&shown.tracks) {
            files::write(&out.join(&track.file), track.table(places).as_bytes())?;
        }
        write_all(out, &self.meshes)?;
        files::write(&scene, &self.text)?;
        Ok(vec![scene, animation])
    }
}

/// What a video takes over from the scene that made it: its text, and the files that it names inside of its folder.
fn copies(folder: &Path, access: Access) -> Result<(Vec<u8>, Vec<Named>)> {
    let (document, _) = Document::read(folder, access)?;
    let file = Scene::file(folder)?;
    let text = match file.ends_with(SCENE) {
        true => read_text(&file)?,
        false => document.to_json()?,
    };
    Ok((text.into_bytes(), meshes(&document, folder, access)?))
}

/// The meshes that the document in a folder names, of those inside of it.
pub(in super::super) fn meshes(document: &Document, folder: &Path, access: Access) -> Result<Vec<Named>> {
    let names = document.mesh_files(folder, access)?.into_iter().filter(|name| Access::Inside.allows(folder, name));
    let mesh = |name: String| {
        let bytes = input::bytes(&folder.join(&name), input::MESH, "expected a mesh")?;
        Ok((name, bytes))
    };
    names.map(mesh).collect()
}

/// Writes files below a folder.
pub(in super::super) fn write_all(out: &Path, named: &[Named]) -> Result<()> {
    for (name, bytes) in named {
        let file = out.join(name);
        let folder = file.parent().unwrap_or(out);
        fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
        files::write(&file, bytes)?;
    }
    Ok(())
}

/// Frames and tables go where a later job can take their place as a whole.
fn own_folders(scene: &Scene, scene_folder: &Path) -> Result<()> {
    for film in &scene.films {
        let below = |folder: &str| {
            // Whatever the scene may read, what is written stays inside.
            Access::Inside.allows(scene_folder, folder)
                && folder.strip_prefix(VIDEOS).is_some_and(|rest| rest.starts_with('/'))
        };
        let pictures = [("silhouette", &film.silhouette), ("shaded", &film.shaded)].into_iter();
        let depths = film.depth.iter().map(|own| ("depth", &own.folder));
        for (field, folder) in pictures.chain(depths) {
            if !(below(folder) || ["silhouette", "shaded", DEPTH].contains(&folder.as_str())) {
                let problem = format!(
                    "{}, expected a folder below {VIDEOS} for frames that are simulated, such as \"{VIDEOS}/{}/{field}\"",
                    quoted(folder),
                    film.name
                );
                let path = if field == DEPTH { "depth.folder" } else { field };
                return Err(Error::field(
                    &Scene::file(scene_folder)?,
                    format!("videos.{}.{path}", film.name),
                    problem,
                ));
            }
        }
    }
    for track in &scene.tracks {
        let field = |name: &str| format!("observations.{}.{name}", track.name);
        let wrong = |name: &str, problem: String| Err(Error::field(&Scene::file(scene_folder)?, field(name), problem));
        if track.points() == 0 {
            return wrong("markers.points", "missing, expected where the markers are when the video begins".into());
        }
        let below = track.file.strip_prefix(TRACKS).is_some_and(|rest| rest.starts_with('/'));
        if !(below && Access::Inside.allows(scene_folder, &track.file)) {
            let problem = format!(
                "{}, expected a file below {TRACKS} for places that are simulated, such as \"{TRACKS}/{}.csv\"",
                quoted(&track.file),
                track.name
            );
            return wrong("file", problem);
        }
    }
    Ok(())
}

/// Says that a value stands in place of the scene's, which the scene that lies beside the video keeps.
fn replaced(scene: &Scene, name: &Name, value: f64) -> Option<String> {
    let target = scene.target(name).ok()?;
    let own = scene.known(target).filter(|own| *own != value && scene.range(target).is_none())?;
    Some(format!("{name} is {value} {}, not {own} as in the scene that is written: see {RECORD}", name.unit()))
}

/// Whether `out` exists and is `folder`.
fn is_same(out: &Path, folder: &Path) -> Result<bool> {
    let real = |path: &Path| fs::canonicalize(path).map_err(|e| Error::file(path, format!("cannot be found: {e}")));
    Ok(files::is_there(out)? && real(out)? == real(folder)?)
}
