//! Checks of the values of a document in SI units, and their translation to a [`Scene`]. What this version cannot simulate or
//! compare is refused, never left out.

mod bounds;
mod numbers;
mod names;
mod shape;
mod body;
mod surroundings;
mod view;
mod videos;
mod unknowns;

use super::Scene;
use super::document::Document;
use super::folder::Files;
use super::tree::Fault;
use numbers::{at_most, within, wrong};

/// The scene that a document in SI units describes.
pub(super) fn scene(document: &Document, files: &Files<'_>) -> Result<Scene, Fault> {
    names::scene(&document.name)?;
    for (group, name) in names::of_groups(document) {
        names::part(group, name)?;
    }
    within("frame_rate", document.frame_rate, &bounds::FRAME_RATE)?;
    at_most("gravity", document.gravity, &bounds::GRAVITY)?;
    if !(2..=10_000).contains(&document.frames) {
        return wrong("frames", format!("{}, expected 2 to 10000", document.frames));
    }
    let floor = surroundings::floor(document)?;
    let bodies = body::bodies(document, files)?;
    let clamp = body::clamp(document)?;
    surroundings::touch(document)?;
    if let Some(floor) = &floor {
        shape::above(floor, document)?;
    }
    let camera = view::camera(document)?;
    view::sees(&camera, floor.as_ref(), document)?;
    let shading = view::shading(document)?;
    let warnings = videos::check(document)?;
    let (block, material) = bodies;
    Ok(Scene {
        name: document.name.clone(),
        frame_rate: document.frame_rate,
        num_frames: document.frames as usize,
        gravity: document.gravity,
        camera,
        shading,
        block,
        material,
        floor,
        clamp,
        unknowns: unknowns::ranges(document)?,
        warnings,
    })
}
