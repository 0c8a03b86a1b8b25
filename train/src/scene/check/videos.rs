//! Checks of the films.

use super::numbers::wrong;
use crate::scene::document::{Document, Shutter, Video, Weights};
use crate::scene::tree::{Fault, among};
use crate::text::quoted;

/// Refuses what is not compared, and says what is simplified.
pub(super) fn check(document: &Document) -> Result<Vec<String>, Fault> {
    for (name, video) in &document.videos {
        let at = |field: &str| format!("videos.{name}.{field}");
        if let Some(camera) = &video.camera
            && !document.cameras.contains_key(camera)
        {
            let known: Vec<_> = document.cameras.keys().collect();
            return wrong(
                &at("camera"),
                format!("{} is no camera of the scene, {}", quoted(camera), among(camera, &known)),
            );
        }
        let own = Video::default();
        for (field, folder, expected) in
            [("silhouette", &video.silhouette, &own.silhouette), ("shaded", &video.shaded, &own.shaded)]
        {
            if folder != expected {
                let problem = format!("{}, expected {} in this version", quoted(folder), quoted(expected));
                return wrong(&at(field), problem);
            }
        }
        if video.masks.is_some() {
            return wrong(&at("masks"), "are not heeded by this version, expected none");
        }
        if video.weights != Weights::default() {
            return wrong(&at("weights"), "are not heeded by this version, expected 1 for both");
        }
    }
    if let Some(second) = document.videos.keys().nth(1) {
        let problem = format!("there are {}, expected one: this version compares no more", document.videos.len());
        return wrong(&format!("videos.{second}"), problem);
    }
    Ok(document
        .cameras
        .iter()
        .flat_map(|(name, camera)| {
            let blurred = camera.shutter != Shutter::default();
            let shutter = "frames are simulated at the middle of the exposure, without its blur";
            let noise = "frames are simulated without noise";
            [(blurred, "shutter", shutter), (camera.noise > 0.0, "noise", noise)]
                .into_iter()
                .filter(|(there, ..)| *there)
                .map(move |(_, field, text)| format!("cameras.{name}.{field}: {text}"))
        })
        .collect())
}
