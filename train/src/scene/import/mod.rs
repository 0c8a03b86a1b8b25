//! Reads a scene without a version: the fields of the folders that were made before there was one. What such a file says in
//! words is compared with the texts that are known, never searched.

mod fields;
mod texts;
mod object;
mod floor;
mod bodies;
mod rigid;
mod unknowns;
mod view;

pub(super) use fields::Fields;
pub(super) use object::mesh_name;

use super::document::{Contact, Document};
use super::tree::{Fault, Node};
use object::Object;
use std::collections::BTreeMap;

/// Names of what such a file has no name for.
const OBJECT: &str = "body";
const FLOOR: &str = "floor";
const CAMERA: &str = "main";

/// A scene without a version as a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Imported {
    pub(super) document: Document,
    /// What the fields of the document are called in the file.
    pub(super) fields: Fields,
    /// How its texts were taken.
    pub(super) taken: Vec<String>,
    /// Fields that were not taken.
    pub(super) ignored: Vec<String>,
}

/// What is found on the way.
#[derive(Debug, Default)]
struct Notes {
    fields: Fields,
    taken: Vec<String>,
    ignored: Vec<String>,
}

/// Takes the fields of a scene without a version.
///
/// # Errors
/// Names the field, and the texts that are known where it holds another one.
pub(super) fn import(node: &Node) -> Result<Imported, Fault> {
    let mut notes = Notes::default();
    let mut root = Object::root(node)?;
    let kind = kind(&mut root)?;
    let frame_rate = root.required("frame_rate")?;
    let gravity = root.required("gravity")?;
    let frames = frames(&mut root, frame_rate)?;
    notes.fields.add("frames", "num_frames");
    let colliders = floor::floor(&mut root, &mut notes)?;
    let (normals, (bodies, pushes)) = match kind {
        Kind::Soft => (texts::NORMALS, (bodies::bodies(&mut root, &mut notes)?, BTreeMap::new())),
        Kind::Rigid => (texts::FLAT, (rigid::bodies(&mut root, &mut notes)?, rigid::pushes(&mut root, &mut notes)?)),
    };
    let unknowns = unknowns::unknowns(&mut root, &bodies, &mut notes)?;
    let contact_between_bodies = root.exact("contact_between_objects", &["frictionless"])?;
    notes.fields.add("contact_between_bodies", "contact_between_objects");
    let (camera, light) = (view::camera(&mut root, &mut notes)?, view::shading(&mut root, normals, &mut notes)?);
    view::conventions(&mut root, &camera, &mut notes)?;
    let document = Document {
        version: 1,
        name: root.required("name")?,
        units: Default::default(),
        axes: Default::default(),
        frame_rate,
        frames,
        gravity,
        bodies,
        contact_between_bodies: contact_between_bodies.map(|_| Contact::Frictionless),
        colliders,
        pushes,
        cameras: BTreeMap::from([(CAMERA.into(), camera)]),
        lights: BTreeMap::from([("light".into(), light.light)]),
        ambient: light.ambient,
        background: light.background,
        takes: BTreeMap::new(),
        videos: BTreeMap::new(),
        observations: BTreeMap::new(),
        unknowns,
    };
    notes.ignored.extend(root.left());
    let Notes { fields, taken, ignored } = notes;
    Ok(Imported { document, fields, taken, ignored })
}

/// What a scene is of.
enum Kind {
    Soft,
    Rigid,
}

fn kind(root: &mut Object<'_>) -> Result<Kind, Fault> {
    let kind: String = root.required("kind")?;
    match kind.as_str() {
        "soft_body" => Ok(Kind::Soft),
        "rigid_body" => Ok(Kind::Rigid),
        "cloth" => {
            let problem =
                format!("{kind:?} cannot be identified by this version, expected \"soft_body\" or \"rigid_body\"");
            Err(Fault::new("kind", problem))
        }
        _ => {
            let problem =
                format!("unknown kind {}, expected \"soft_body\" or \"rigid_body\"", crate::text::quoted(&kind));
            Err(Fault::new("kind", problem))
        }
    }
}

/// The number of frames, which fit into the duration, if there is one.
fn frames(root: &mut Object<'_>, frame_rate: f64) -> Result<u64, Fault> {
    let frames: u64 = root.required("num_frames")?;
    let Some(duration) = root.optional::<f64>("duration")? else {
        return Ok(frames);
    };
    if duration <= 0.0 {
        return Err(Fault::new("duration", format!("{duration}, expected a positive number, or no such field")));
    }
    let last = frames.saturating_sub(1) as f64 / frame_rate;
    match last > duration * (1.0 + 1e-9) {
        true => {
            let problem = format!(
                "{frames} frames at {frame_rate}/s reach {last} s, expected at most the duration of {duration} s"
            );
            Err(Fault::new("num_frames", problem))
        }
        false => Ok(frames),
    }
}
