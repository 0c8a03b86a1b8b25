//! Checks of the films.

use super::numbers::{share, within, wrong};
use crate::scene::bounds;
use crate::scene::document::{Depth, Document, Shutter, Video};
use crate::scene::folder::Files;
use crate::scene::tree::{Fault, among};
use crate::scene::{DepthFrames, Film, Track};
use crate::text::quoted;
use std::collections::BTreeMap;

/// What a count of a depth stands for where nothing is given \[m\].
const MILLIMETRE: f64 = 1e-3;

/// The films, each of a camera and a take that there are, in folders of its own.
pub(super) fn films(document: &Document, files: &Files<'_>) -> Result<Vec<Film>, Fault> {
    let none = BTreeMap::from([(String::new(), Video::default())]);
    let videos = if document.videos.is_empty() { &none } else { &document.videos };
    let mut films: Vec<Film> = Vec::new();
    for (name, video) in videos {
        let at = |field: &str| match name.is_empty() {
            true => "videos".to_owned(),
            false => format!("videos.{name}.{field}"),
        };
        let film = Film {
            name: name.clone(),
            camera: place(&at("camera"), "camera", video.camera.as_ref(), &document.cameras)?,
            take: match document.takes.is_empty() {
                true if video.take.is_none() => 0,
                _ => place(&at("take"), "take", video.take.as_ref(), &document.takes)?,
            },
            silhouette: video.silhouette.clone(),
            shaded: video.shaded.clone(),
            masks: video.masks.clone(),
            weights: [
                video.weights.silhouette,
                video.weights.shaded,
                video.weights.depth.unwrap_or(if video.depth.is_some() { 1.0 } else { 0.0 }),
            ],
            depth: video.depth.as_ref().map(|depth| depths(&at, depth)).transpose()?,
        };
        if video.weights.depth.is_some() && film.depth.is_none() {
            return wrong(&at("weights.depth"), "the video has no depths, expected no such field, or depth");
        }
        for (field, weight) in ["weights.silhouette", "weights.shaded", "weights.depth"].into_iter().zip(film.weights) {
            share(&at(field), weight, &bounds::WEIGHT)?;
        }
        let folders = [
            ("silhouette", Some(&film.silhouette)),
            ("shaded", Some(&film.shaded)),
            ("depth.folder", film.depth.as_ref().map(|depth| &depth.folder)),
            ("masks", film.masks.as_ref()),
        ];
        for (field, folder) in folders {
            let Some(folder) = folder else { continue };
            files.path(folder).map_err(|problem| Fault::new(at(field), problem))?;
            let drawn = |film: &Film| {
                let depth = film.depth.as_ref().map(|depth| &depth.folder);
                [Some(&film.silhouette), Some(&film.shaded), depth].contains(&Some(folder))
            };
            let others = films.iter().find(|other| drawn(other));
            if let Some(other) = others {
                let problem = format!("{} is a folder of {} as well, expected another", quoted(folder), other.name);
                return wrong(&at(field), problem);
            }
        }
        if film.silhouette == film.shaded {
            return wrong(
                &at("shaded"),
                format!("{} is that of the silhouettes, expected another", quoted(&film.shaded)),
            );
        }
        if let Some(depth) = film.depth.as_ref().filter(|d| [&film.silhouette, &film.shaded].contains(&&d.folder)) {
            let problem = format!("{} is that of other pictures, expected another", quoted(&depth.folder));
            return wrong(&at("depth.folder"), problem);
        }
        films.push(film);
    }
    Ok(films)
}

/// Checks how depths are written.
fn depths(at: &dyn Fn(&str) -> String, depth: &Depth) -> Result<DepthFrames, Fault> {
    let scale = depth.scale.unwrap_or(MILLIMETRE);
    within(&at("depth.scale"), scale, &bounds::DEVIATION)?;
    within(&at("depth.deviation"), depth.deviation, &bounds::DEVIATION)?;
    Ok(DepthFrames { folder: depth.folder.clone(), scale, deviation: depth.deviation })
}

/// The place of what a video names in a group; of the only one where it names none.
pub(super) fn place<T>(
    at: &str,
    what: &str,
    name: Option<&String>,
    group: &BTreeMap<String, T>,
) -> Result<usize, Fault> {
    let known: Vec<_> = group.keys().collect();
    match name {
        None if known.len() == 1 => Ok(0),
        None => {
            wrong(at, format!("missing, but the scene has {} {}, expected the name of one", known.len(), plural(what)))
        }
        Some(name) => match known.iter().position(|known| *known == name) {
            Some(place) => Ok(place),
            None => wrong(at, format!("{} is no {what} of the scene, {}", quoted(name), among(name, &known))),
        },
    }
}

fn plural(what: &str) -> String {
    match what.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None => format!("{what}s"),
    }
}

/// What is simplified, and what serves for nothing.
pub(super) fn simplified(document: &Document, films: &[Film], tracks: &[Track]) -> Vec<String> {
    let idle = |(place, name): (usize, &String)| {
        let serves = films.iter().any(|film| film.camera == place);
        (!serves).then(|| format!("cameras.{name}: no video is by it"))
    };
    let unseen = |(place, name): (usize, &String)| {
        let serves = films.iter().any(|film| film.take == place) || tracks.iter().any(|track| track.take == place);
        (!serves).then(|| format!("takes.{name}: no video or observation is of it"))
    };
    let cameras = document.cameras.iter().flat_map(|(name, camera)| {
        let blurred = camera.shutter != Shutter::default();
        let shutter = "frames are simulated at the middle of the exposure, without its blur";
        let noise = "frames are simulated without noise";
        [(blurred, "shutter", shutter), (camera.noise > 0.0, "noise", noise)]
            .into_iter()
            .filter(|(there, ..)| *there)
            .map(move |(_, field, text)| format!("cameras.{name}.{field}: {text}"))
    });
    let idle = document.cameras.keys().enumerate().filter_map(idle);
    cameras.chain(idle).chain(document.takes.keys().enumerate().filter_map(unseen)).collect()
}
