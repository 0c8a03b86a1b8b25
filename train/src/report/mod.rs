//! What a run leaves behind for people: numbers, curves, frames, an animation, a page with all of these, events for TensorBoard.

#[cfg(test)]
mod sample;

mod number;
pub mod table;

mod font;
mod paper;

mod axis;
mod panel;
mod plot;
pub(crate) mod landscape;
pub(crate) mod searches;

mod comparison;
mod residual;
mod events;
mod page;

pub use comparison::animation;

use crate::error::Result;
use crate::files;
use crate::input;
use crate::job::{Discretisation, Ending, Outcome, Parameter, Runs, Values};
use crate::limits::Bytes;
use crate::scene::{Name, Scene};
use crate::video::{Bits, Video};
use page::Picture;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The numbers of a run: it stands for a complete folder.
pub(crate) const RESULT: &str = "result.json";
/// All of it as one page.
pub(crate) const PAGE: &str = "report.html";
/// The curves for TensorBoard, which looks for the first three words.
pub(crate) const EVENTS: &str = "events.out.tfevents.diffkern";

/// A larger animation is beside the page, not in it.
const MOST_IN_PAGE: u64 = 32 << 20;

/// The contents of `result.json`, all in SI units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Values found.
    pub parameters: Values,
    /// Loss at the values found, null where none was computed.
    pub loss: Option<f64>,
    /// Iterations of the optimiser.
    pub iterations: usize,
    /// What was run for them on the coarse grid and on the final one.
    pub runs: [Runs; 2],
    /// Time spent, without pauses \[s\].
    pub seconds: f64,
    /// 95 % intervals, null where none was computed.
    pub intervals: BTreeMap<Name, Option<(f64, f64)>>,
    /// The same by the noise of the pixels alone, were model, grid and search exact.
    #[serde(default)]
    pub by_noise: BTreeMap<Name, Option<(f64, f64)>>,
    /// Whether the video can tell the parameter.
    pub determined: BTreeMap<Name, bool>,
    /// Values at the start.
    pub initial: Values,
    /// Loss at the start, in the same discretisation; null where `loss` is one of another.
    pub loss_initial: Option<f64>,
    /// Mean intersection over union of the silhouettes with the video's, null where none is compared.
    pub iou: Option<f64>,
    /// By how much their outlines are off, root of the mean square \[pixels\], null where it was not computed.
    #[serde(default)]
    pub outlines: Option<f64>,
    /// How many frames of each video were fitted, from the first.
    #[serde(default)]
    pub fitted_frames: usize,
    /// Distance from the places of each track, root of the mean square \[m\].
    #[serde(default)]
    pub distances: BTreeMap<String, f64>,
    /// Why the job ended.
    pub ending: Ending,
    /// Viscosity that the scene does not know of, fitted along \[Pa s\].
    pub viscosity: f64,
    /// The discretisation of the values found.
    pub discretisation: Discretisation,
    /// Version of this program.
    pub version: String,
    /// Things a person should know.
    pub warnings: Vec<String>,
}

impl Summary {
    /// What an outcome says.
    pub fn new(scene: &Scene, outcome: &Outcome, seconds: f64) -> Self {
        let each = || outcome.parameters.iter();
        Self {
            parameters: each().map(|p| (p.name.clone(), p.found)).collect(),
            loss: outcome.loss,
            iterations: outcome.iterations,
            runs: outcome.runs,
            seconds,
            intervals: each().map(|p| (p.name.clone(), p.interval)).collect(),
            by_noise: each().map(|p| (p.name.clone(), p.by_noise)).collect(),
            determined: each().map(|p| (p.name.clone(), p.determined)).collect(),
            initial: each().map(|p| (p.name.clone(), p.initial)).collect(),
            loss_initial: outcome.loss_initial,
            iou: outcome.iou,
            outlines: outcome.outlines,
            fitted_frames: outcome.fitted_frames,
            distances: outcome.tracks.iter().map(|track| (track.name.clone(), track.distance)).collect(),
            ending: outcome.ending,
            viscosity: outcome.viscosity,
            discretisation: outcome.discretisation,
            version: env!("CARGO_PKG_VERSION").into(),
            warnings: scene.warnings.iter().chain(&outcome.warnings).cloned().collect(),
        }
    }
}

/// A parameter of the answer, with the range that it was searched in.
struct Searched<'a> {
    parameter: &'a Parameter,
    range: Option<(f64, f64)>,
}

impl<'a> Searched<'a> {
    fn new(scene: &Scene, parameter: &'a Parameter) -> Self {
        let range = scene.target(&parameter.name).ok().and_then(|target| scene.range(target));
        Self { parameter, range: range.map(|range| (range.min, range.max)) }
    }
}

/// Writes everything into `folder`, that of a run; the pictures' paths are returned, the numbers last
/// on disk, so that `result.json` stands for a complete folder.
///
/// # Errors
/// When a file cannot be written.
pub fn write(folder: &Path, scene: &Scene, videos: &[Video], outcome: &Outcome, seconds: f64) -> Result<Vec<PathBuf>> {
    let result = folder.join(RESULT);
    files::remove(&result)?;
    // Of a part of the run that this one resumed.
    let (frames, comparison) = (folder.join("frames"), folder.join("comparison.gif"));
    files::remove(&frames)?;
    files::remove(&comparison)?;
    let beside = folder.join("residual.png");
    files::remove(&beside)?;
    files::remove(&folder.join("tracks"))?;
    let searched: Vec<Searched<'_>> = outcome.parameters.iter().map(|one| Searched::new(scene, one)).collect();
    let mut pictures = vec![
        Picture { title: "Loss", kind: PNG, bytes: plot::loss(&outcome.history)? },
        Picture { title: "Parameters", kind: PNG, bytes: plot::parameters(&outcome.history, &searched)? },
    ];
    let mut files = Vec::new();
    for (name, picture) in ["loss.png", "parameters.png"].into_iter().zip(&pictures) {
        files.push(folder.join(name));
        files::write(&folder.join(name), &picture.bytes)?;
    }
    if !outcome.videos.is_empty() {
        let mut compared = Vec::new();
        for ((film, found), target) in scene.films.iter().zip(&outcome.videos).zip(videos) {
            for (k, frame) in found.frames.iter().enumerate() {
                // Not to the folder that the scene names, which may be outside.
                let folder = frames.join(&film.name);
                frame.write(&folder, ["silhouette", "shaded"], k, found.width, Bits::Eight)?;
                if let Some(own) = &film.depth {
                    frame.write_depth(&folder, "depth", own.scale, k, found.width)?;
                }
            }
            let named = |what: &str| format!("{} {what}", film.name).trim_start().to_owned();
            if !target.frames.is_empty() {
                compared.push((named("target"), target));
            }
            compared.push((named("result"), found));
        }
        let compared: Vec<(&str, &Video)> = compared.iter().map(|(name, video)| (name.as_str(), *video)).collect();
        animation(&comparison, &compared, scene.frame_rate)?;
        pictures.extend(animated(&comparison)?);
        let silhouettes = silhouettes(scene, videos, &outcome.videos);
        let agreement = agreement(&silhouettes)?;
        if !agreement.is_empty() {
            let iou = plot::iou(&agreement, scene.frame_rate)?;
            pictures.push(Picture { title: "Intersection over union by frame", kind: PNG, bytes: iou });
        }
        if !silhouettes.is_empty() {
            let bytes = residual::residual(&silhouettes, scene.frame_rate)?;
            files::write(&beside, &bytes)?;
            pictures.push(Picture { title: "Where outlines differ most", kind: PNG, bytes });
            files.push(beside);
        }
        files.extend([comparison, frames]);
    }
    for (track, found) in scene.tracks.iter().zip(&outcome.tracks) {
        let table = folder.join("tracks").join(format!("{}.csv", track.name));
        files::write(&table, track.table(&found.places).as_bytes())?;
        files.push(table);
    }
    let (events, page) = (folder.join(EVENTS), folder.join(PAGE));
    files::write(&events, &events::encoded(&outcome.history, &outcome.parameters))?;
    let summary = Summary::new(scene, outcome, seconds);
    files::write(&page, &page::html(&scene.name, &summary, &searched, &pictures)?)?;
    files::write_json(&result, &summary)?;
    files.extend([events, page, result]);
    Ok(files)
}

const PNG: &str = "image/png";

/// An animation as a part of the page, unless it is too large for that.
fn animated(file: &Path) -> Result<Option<Picture>> {
    if fs::metadata(file).is_ok_and(|found| found.len() > MOST_IN_PAGE) {
        return Ok(None);
    }
    let bytes = input::bytes(file, Bytes(MOST_IN_PAGE), "expected the animation that was just written")?;
    Ok(Some(Picture { title: "Target and result", kind: "image/gif", bytes }))
}

/// The films whose silhouettes are compared: their names, what they should show and what is found.
fn silhouettes<'a>(scene: &'a Scene, videos: &'a [Video], found: &'a [Video]) -> Vec<(&'a str, &'a Video, &'a Video)> {
    let all = scene.films.iter().zip(videos).zip(found);
    let compared = all.filter(|((film, _), _)| film.weights[0] > 0.0);
    compared.map(|((film, target), found)| (film.name.as_str(), target, found)).collect()
}

/// Intersection over union of the silhouettes of every frame, mean over these films.
fn agreement(films: &[(&str, &Video, &Video)]) -> Result<Vec<f64>> {
    let frames = films.iter().map(|(_, target, _)| target.frames.len()).min().unwrap_or(0);
    let one = |k: usize| -> Result<f64> {
        let each = films.iter().map(|(_, target, found)| Ok(target.iou(k, &found.frames[k].coverage()?)?));
        Ok(each.sum::<Result<f64>>()? / films.len() as f64)
    };
    (0..frames).map(one).collect()
}
