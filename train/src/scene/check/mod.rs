//! Checks of the values of a document in SI units, and their translation to a [`Scene`]. What this version cannot simulate or
//! compare is refused, never left out.

mod numbers;
mod names;
mod shape;
mod takes;
mod videos;
mod rigid;
mod body;
mod contact;
mod collider;
mod view;
mod observations;
mod unknowns;

use super::document::Document;
use super::folder::Files;
use super::import::Fields;
use super::tree::Fault;
use super::{Scene, bounds};
use numbers::{at_most, within, wrong};
use std::collections::BTreeMap;

/// Checks the names of a document, of which the paths of unknowns are made.
pub(super) fn named(document: &Document) -> Result<(), Fault> {
    names::scene(&document.name)?;
    if document.bodies.is_empty() {
        return wrong("bodies", "there is none, expected at least one");
    }
    names::of_groups(document).try_for_each(|(group, name)| names::part(group, name))
}

/// The scene that a document in SI units describes; `fields` knows the names of the file.
pub(super) fn scene(document: &Document, fields: &Fields, files: &Files<'_>) -> Result<Scene, Fault> {
    within("frame_rate", document.frame_rate, &bounds::FRAME_RATE)?;
    at_most("gravity", document.gravity, &bounds::GRAVITY)?;
    if !(2..=10_000).contains(&document.frames) {
        return wrong("frames", format!("{}, expected 2 to 10000", document.frames));
    }
    let colliders = collider::colliders(document)?;
    let takes = takes::names(document)?;
    let bodies = body::bodies(document, files)?;
    let clamp = body::clamp(document)?;
    colliders.iter().try_for_each(|collider| collider::outside(collider, document, &bodies))?;
    let cameras = view::cameras(document)?;
    let films = videos::films(document, files)?;
    let tracks = observations::tracks(document, files)?;
    if tracks.is_empty() && films.iter().all(|film| film.weights == [0.0; 3]) {
        return wrong("videos", "no video counts, expected a weight above 0 for one of them, or observations");
    }
    for film in &films {
        view::sees(&cameras[film.camera], film.take, &colliders, &bodies)?;
    }
    let shading = view::shading(document)?;
    let warnings = videos::simplified(document, &films, &tracks);
    let mut scene = Scene {
        name: document.name.clone(),
        frame_rate: document.frame_rate,
        num_frames: document.frames as usize,
        gravity: document.gravity,
        cameras,
        takes,
        films,
        tracks,
        shading,
        bodies,
        colliders,
        pushes: rigid::pushes(document)?,
        between: contact::between_bodies(document)?,
        clamp,
        unknowns: Vec::new(),
        fields: BTreeMap::new(),
        warnings,
    };
    rigid::fits(&scene)?;
    unknowns::cut(document, &mut scene)?;
    observations::of_even_density(&scene)?;
    scene.unknowns = unknowns::ranges(document, &scene, fields)?;
    unknowns::outside(document, &scene)?;
    observations::of_known_places(&scene)?;
    scene.fields = told(&scene, fields);
    Ok(scene)
}

/// The names of the file, where they are not the paths, of what a job may be refused for.
fn told(scene: &Scene, fields: &Fields) -> BTreeMap<String, String> {
    const OF_A_BODY: [&str; 11] = [
        "shape",
        "density",
        "mass",
        "velocity",
        "angular_velocity",
        "material",
        "material.mu",
        "material.lambda",
        "material.viscosity",
        "material.relaxation",
        "material.relaxation.modulus",
    ];
    let of_bodies = (0..scene.bodies.len()).flat_map(|k| OF_A_BODY.map(|field| scene.path(k, field)));
    let own = of_bodies.chain(scene.cameras.iter().map(|camera| format!("cameras.{}", camera.name)));
    let pairs = own.map(|path| (fields.told(&path), path)).map(|(field, path)| (path, field));
    // The scene has another word for the number of frames than the document.
    let frames = ("num_frames".to_owned(), fields.told("frames"));
    pairs.chain([frames]).filter(|(path, field)| path != field).collect()
}
