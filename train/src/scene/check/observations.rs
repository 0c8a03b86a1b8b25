//! Checks of what was measured beside videos.

use super::numbers::{at_most, within, wrong};
use super::videos::place;
use crate::scene::bounds;
use crate::scene::convert::Conversion;
use crate::scene::document::{Document, Observation};
use crate::scene::folder::Files;
use crate::scene::track::{Followed, Track};
use crate::scene::tree::Fault;
use crate::scene::{Quantity, Scene, Target};
use crate::text::quoted;

/// The tracks, before their tables are read.
pub(super) fn tracks(document: &Document, files: &Files<'_>) -> Result<Vec<Track>, Fault> {
    let mut tracks: Vec<Track> = Vec::new();
    for (name, observation) in &document.observations {
        let (kind, body, take, file, points, deviation) = match observation {
            Observation::Markers(markers) => {
                let points = Some(markers.points.as_ref());
                ("markers", &markers.body, &markers.take, &markers.file, points, markers.deviation)
            }
            Observation::CentreOfMass(centre) => {
                ("centre_of_mass", &centre.body, &centre.take, &centre.file, None, centre.deviation)
            }
        };
        let at = |field: &str| format!("observations.{name}.{kind}.{field}");
        within(&at("deviation"), deviation, &bounds::DEVIATION)?;
        files.path(file).map_err(|problem| Fault::new(at("file"), problem))?;
        if let Some(other) = tracks.iter().find(|other| other.file == *file) {
            let problem = format!("{} is the file of {} as well, expected another", quoted(file), other.name);
            return wrong(&at("file"), problem);
        }
        if let Some(Some(points)) = points {
            if points.is_empty() {
                return wrong(&at("points"), "there is none, expected at least one, or no such field");
            }
            for (k, point) in points.iter().enumerate() {
                at_most(&format!("{}[{k}]", at("points")), *point, &bounds::PLACE)?;
            }
        }
        tracks.push(Track {
            name: name.clone(),
            body: place(&at("body"), "body", body.as_ref(), &document.bodies)?,
            take: match document.takes.is_empty() {
                true if take.is_none() => 0,
                _ => place(&at("take"), "take", take.as_ref(), &document.takes)?,
            },
            of: match points {
                Some(points) => Followed::Points(points.cloned().unwrap_or_default()),
                None => Followed::Centre,
            },
            file: file.clone(),
            deviation,
            measured: None,
            units: Conversion::of(document),
        });
    }
    Ok(tracks)
}

/// A centre of mass is taken for that of volume.
pub(super) fn of_even_density(scene: &Scene) -> Result<(), Fault> {
    let varies = |track: &&Track| track.of == Followed::Centre && scene.cut(track.body, Quantity::Density).is_some();
    match scene.tracks.iter().find(varies) {
        None => Ok(()),
        Some(track) => wrong(
            &format!("observations.{}.centre_of_mass.body", track.name),
            format!("{} has a density that varies, expected one without", scene.bodies[track.body].name),
        ),
    }
}

/// Markers are on their bodies where the scene has these: not where the table has them, when these begin elsewhere.
pub(super) fn of_known_places(scene: &Scene) -> Result<(), Fault> {
    let begins = |track: &Track, a: usize| {
        scene.range(Target { take: track.take, ..Target::new(track.body, Quantity::StartPosition(a)) })
    };
    let unplaced = |track: &&Track| matches!(&track.of, Followed::Points(points) if points.is_empty());
    let wanted = |track: &&Track| unplaced(track) && (0..3).any(|a| begins(track, a).is_some());
    match scene.tracks.iter().find(wanted) {
        None => Ok(()),
        Some(track) => wrong(
            &format!("observations.{}.markers.points", track.name),
            "missing, but where the body begins is to be found, expected where the markers are on the body where its pose has it",
        ),
    }
}
