//! Ways to film a scene: cameras that look from elsewhere, and bodies that begin in another way.
//!
//! All are films of one document, so that each throw is simulated once for all cameras. What a film tells does not depend on the others, and
//! what several tell adds up.

use super::throws;
use crate::error::Result;
use crate::scene::document::{BodyShape, BoxShape, Camera, Document, Observation, Take, Up, Vector, Video};
use crate::scene::{Access, Scene};
use nalgebra::{Rotation3, Unit, Vector3};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Angles by which cameras are turned about the vertical through what they look at \[degrees\].
const TURNS: [i32; 5] = [45, 90, 180, -90, -45];
/// Elevation of the camera that looks from above \[rad\].
const ABOVE: f64 = 1.2;
/// Part of the distance at which a camera is nearer.
const NEARER: f64 = 0.65;
/// Names of what is added begin with this.
const PREFIX: &str = "plan_";
/// The film of a scene that names none, and the take.
const OWN_FILM: &str = "film";
const OWN_TAKE: &str = "first";

/// A way to film.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Design {
    /// Its name, also of its folder.
    pub(crate) name: String,
    /// What it is, for people.
    pub(crate) about: String,
    /// Names of the films that it has beside those of the scene, or in their place.
    pub(crate) films: Vec<String>,
    /// Whether the films of the scene count as well.
    pub(crate) adds: bool,
    /// Whether its tracks do: where its own take is run.
    pub(crate) tracks: bool,
}

/// All ways to film a scene that are compared, as films of one document.
#[derive(Debug, Clone)]
pub(crate) struct Designs {
    /// The document with all of them.
    pub(crate) document: Document,
    /// The films of the scene itself.
    pub(crate) own: Vec<String>,
    /// The first is the scene as it is.
    pub(crate) all: Vec<Design>,
    /// What cannot be filmed, and why.
    pub(crate) notes: Vec<String>,
}

impl Designs {
    /// Of the document in `folder`, whose scene is `scene`.
    ///
    /// # Errors
    /// When the document is wrong.
    pub(crate) fn of(document: &Document, scene: &Scene, folder: &Path, access: Access) -> Result<Self> {
        let base = named(document.clone());
        let own: Vec<String> = base.videos.keys().cloned().collect();
        let as_it_is = Design {
            name: "as_it_is".into(),
            about: "the scene as it is".into(),
            films: Vec::new(),
            adds: true,
            tracks: true,
        };
        let mut designs = Self { document: base.clone(), own, all: vec![as_it_is], notes: Vec::new() };
        let Some((name, film)) = base.videos.iter().next().map(|(name, film)| (name.clone(), film.clone())) else {
            return Ok(designs);
        };
        let camera = film.camera.clone().or_else(|| base.cameras.keys().next().cloned()).unwrap_or_default();
        let views = base.cameras.get(&camera).map(|own| views(own, up(&base))).unwrap_or_default();
        for (view, about, camera) in views {
            designs.document.cameras.insert(format!("{PREFIX}{view}"), camera);
            designs.add(&name, &film, (&view, &about), |film| film.camera = Some(format!("{PREFIX}{view}")));
        }
        for throw in throws::of(&base, scene) {
            let mut alone = base.clone();
            let take = format!("{PREFIX}{}", throw.name);
            if alone.takes.is_empty() {
                with_takes(&mut alone);
            }
            alone.takes.insert(take.clone(), throw.take.clone());
            let second = Video { take: Some(take.clone()), ..film_of(&film, &throw.name) };
            alone.videos.insert(take.clone(), second);
            match Scene::of_document(&alone, folder, access) {
                Ok(_) => {
                    if designs.document.takes.is_empty() {
                        with_takes(&mut designs.document);
                    }
                    designs.document.takes.insert(take.clone(), throw.take);
                    designs.add(&name, &film, (&throw.name, &throw.about), |film| film.take = Some(take.clone()));
                }
                Err(error) => designs.notes.push(format!("{} is left out: {error}", throw.about)),
            }
        }
        Ok(designs)
    }

    /// A film in place of the scene's, and one beside it.
    fn add(&mut self, own: &str, film: &Video, (name, about): (&str, &str), change: impl FnOnce(&mut Video)) {
        let mut new = film_of(film, name);
        change(&mut new);
        let thrown = new.take.as_ref().is_some_and(|take| take.starts_with(PREFIX));
        let film = format!("{PREFIX}{name}");
        self.document.videos.insert(film.clone(), new);
        let one = |name: String, about: String, adds: bool| Design {
            name,
            about,
            films: vec![film.clone()],
            adds,
            tracks: adds || !thrown,
        };
        if self.own.len() == 1 {
            self.all.push(one(name.to_owned(), about.to_owned(), false));
        }
        self.all.push(one(format!("{own}_and_{name}"), format!("a second video: {about}"), true));
    }

    /// The takes in which bodies begin in another way, and what they are.
    pub(crate) fn throws(&self) -> BTreeMap<String, String> {
        let thrown = |take: &&String| take.starts_with(PREFIX);
        let about = |take: &String| {
            let film = self.document.videos.iter().find(|(_, film)| film.take.as_ref() == Some(take));
            let of = |design: &&Design| film.is_some_and(|(name, _)| design.films == [name.clone()]);
            self.all.iter().find(of).map_or_else(|| take.clone(), |design| design.about.clone())
        };
        self.document.takes.keys().filter(thrown).map(|take| (take.clone(), about(take))).collect()
    }

    /// The same without these of them.
    pub(crate) fn without(mut self, throws: &BTreeSet<String>) -> Self {
        let thrown = |film: &Video| film.take.as_ref().is_some_and(|take| throws.contains(take));
        let films: BTreeSet<String> =
            self.document.videos.iter().filter(|(_, film)| thrown(film)).map(|(name, _)| name.clone()).collect();
        self.document.videos.retain(|name, _| !films.contains(name));
        self.document.takes.retain(|name, _| !throws.contains(name));
        self.all.retain(|design| !design.films.iter().any(|film| films.contains(film)));
        self
    }

    /// The document of a design alone.
    pub(crate) fn document_of(&self, design: &Design) -> Document {
        let mut document = self.document.clone();
        let kept = |name: &String| design.films.contains(name) || (design.adds && self.own.contains(name));
        document.videos.retain(|name, _| kept(name));
        let used = |of: fn(&Video) -> &Option<String>, name: &String| {
            document.videos.values().any(|film| of(film).as_ref() == Some(name))
        };
        let added = |name: &String| name.starts_with(PREFIX);
        let cameras: BTreeSet<String> =
            document.cameras.keys().filter(|name| added(name) && !used(|film| &film.camera, name)).cloned().collect();
        let takes: BTreeSet<String> =
            document.takes.keys().filter(|name| !used(|film| &film.take, name)).cloned().collect();
        document.cameras.retain(|name, _| !cameras.contains(name));
        document.takes.retain(|name, _| !takes.contains(name));
        if !design.tracks {
            document.observations.clear();
            document.unknowns.retain(|name, _| !takes.iter().any(|take| name.starts_with(&format!("takes.{take}."))));
        }
        document
    }
}

/// The document with a name for each film, and a pose for each box.
fn named(mut document: Document) -> Document {
    for body in document.bodies.values_mut() {
        if let BodyShape::Box(BoxShape { min: Some(min), max: Some(max), .. }) = body.shape {
            let side = |a: usize| max[a] - min[a];
            body.shape = BodyShape::Box(BoxShape { size: Some([side(0), side(1), side(2)]), min: None, max: None });
            body.pose.position = [0, 1, 2].map(|a| 0.5 * (min[a] + max[a]));
        }
    }
    if document.videos.is_empty() && document.cameras.len() == 1 {
        document.videos.insert(OWN_FILM.into(), Video::default());
    }
    if let (Some(only), 1) = (document.cameras.keys().next().cloned(), document.cameras.len()) {
        document.videos.values_mut().for_each(|film| film.camera = Some(only.clone()));
    }
    document
}

/// Gives the document a take that is what its bodies say, of which everything is that has been observed. What is unknown of motions belongs to it.
fn with_takes(document: &mut Document) {
    document.takes.insert(OWN_TAKE.into(), Take::default());
    document.videos.values_mut().for_each(|film| film.take = Some(OWN_TAKE.into()));
    for observation in document.observations.values_mut() {
        match observation {
            Observation::Markers(markers) => markers.take = Some(OWN_TAKE.into()),
            Observation::CentreOfMass(centre) => centre.take = Some(OWN_TAKE.into()),
        }
    }
    let of_take = |name: &str| {
        let motion = [".velocity", ".angular_velocity", ".pose"].iter().any(|part| name.contains(part));
        motion && name.starts_with("bodies.")
    };
    let unknowns = std::mem::take(&mut document.unknowns).into_iter();
    let moved = |(name, range): (String, _)| match of_take(&name) {
        true => (format!("takes.{OWN_TAKE}.{name}"), range),
        false => (name, range),
    };
    document.unknowns = unknowns.map(moved).collect::<BTreeMap<_, _>>();
}

/// A film like another one, in folders of its own.
fn film_of(film: &Video, name: &str) -> Video {
    let folder = |kind: &str| format!("videos/{PREFIX}{name}/{kind}");
    let mut new = Video { silhouette: folder("silhouette"), shaded: folder("shaded"), masks: None, ..film.clone() };
    if let Some(depth) = &mut new.depth {
        depth.folder = folder("depth");
    }
    new
}

/// The direction that is up.
fn up(document: &Document) -> Vector3<f64> {
    match document.axes.up {
        Up::Z => Vector3::z(),
        Up::Y => Vector3::y(),
    }
}

/// Cameras that look at the same point from elsewhere.
fn views(own: &Camera, up: Vector3<f64>) -> Vec<(String, String, Camera)> {
    let (position, target) = (Vector3::from(own.position), Vector3::from(own.look_at));
    let arm = position - target;
    let at = |arm: Vector3<f64>, up: Option<Vector>| Camera {
        position: (target + arm).into(),
        up: up.or(own.up),
        ..own.clone()
    };
    let mut all = Vec::new();
    for degrees in TURNS {
        let turn = Rotation3::from_axis_angle(&Unit::new_normalize(up), f64::from(degrees).to_radians());
        let side = if degrees < 0 { "clockwise" } else { "anticlockwise" };
        let size = degrees.abs();
        // What a camera calls up turns with it.
        let own_up = own.up.map(|own| (turn * Vector3::from(own)).into());
        let about =
            format!("the camera {size} degrees {side} about the vertical through what it looks at, seen from above");
        all.push((format!("{side}_{size}"), about, at(turn * arm, own_up)));
    }
    let level = arm - up * arm.dot(&up);
    if level.norm() > 1e-6 * arm.norm() {
        let high = (level.normalize() * ABOVE.cos() + up * ABOVE.sin()) * arm.norm();
        all.push(("above".into(), "the camera from above".into(), at(high, Some(up.into()))));
    }
    all.push(("nearer".into(), "the camera at two thirds of the distance".into(), at(NEARER * arm, None)));
    all
}
