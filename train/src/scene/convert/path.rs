//! Paths of what can be unknown.

use super::measure::Measure;
use crate::scene::document::Document;
use crate::scene::tree::{Fault, among};
use crate::text::shown;

/// The path of a value below a name, what it measures, and whether it is a vector.
type Row = (&'static str, Measure, bool);

/// Groups of a document that have names, and what of each can be unknown.
const NAMED: [(&str, &[Row]); 3] = [
    (
        "bodies",
        &[
            ("material.mu", Measure::Pressure, false),
            ("material.lambda", Measure::Pressure, false),
            ("material.young", Measure::Pressure, false),
            ("material.poisson", Measure::Ratio, false),
            ("material.viscosity", Measure::Viscosity, false),
            ("density", Measure::Density, false),
            ("velocity", Measure::Velocity, true),
            ("angular_velocity", Measure::AngularVelocity, true),
            ("pose.position", Measure::Length, true),
        ],
    ),
    ("colliders", &[("contact.friction", Measure::Ratio, false)]),
    (
        "cameras",
        &[
            ("position", Measure::Length, true),
            ("look_at", Measure::Length, true),
            ("vertical_fov", Measure::Angle, false),
            ("exposure", Measure::Ratio, false),
            ("noise", Measure::Ratio, false),
            ("distortion.k1", Measure::Ratio, false),
            ("distortion.k2", Measure::Ratio, false),
            ("distortion.k3", Measure::Ratio, false),
            ("distortion.p1", Measure::Ratio, false),
            ("distortion.p2", Measure::Ratio, false),
        ],
    ),
];

/// The field of the whole scene that can be unknown.
const GRAVITY: &str = "gravity";

/// Something that can be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scene) struct Target {
    /// What it measures.
    pub(in crate::scene) measure: Measure,
    /// What of it, if it is a vector.
    pub(in crate::scene) part: Part,
}

/// A number, a vector or a component of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scene) enum Part {
    Number,
    Vector,
    Component(usize),
}

/// Ends of the paths of components.
pub(in crate::scene) const COMPONENTS: [&str; 3] = [".x", ".y", ".z"];

/// What the path of an unknown leads to.
pub(in crate::scene) fn target(document: &Document, path: &str) -> Result<Target, Fault> {
    let component = COMPONENTS.iter().enumerate().find_map(|(k, end)| Some((k, path.strip_suffix(end)?)));
    let found = match component.and_then(|(k, vector)| Some((k, find(document, vector)?))) {
        Some((k, (measure, true))) => Some(Target { measure, part: Part::Component(k) }),
        Some((_, (_, false))) => None,
        None => find(document, path).map(|(measure, vector)| {
            let part = if vector { Part::Vector } else { Part::Number };
            Target { measure, part }
        }),
    };
    let at = || format!("unknowns.{}", shown(path));
    found.ok_or_else(|| Fault::new(at(), format!("unknown parameter, {}", among(path, &all(document)))))
}

/// What the value at a path measures, and whether it is a vector.
fn find(document: &Document, path: &str) -> Option<(Measure, bool)> {
    if path == GRAVITY {
        return Some((Measure::Acceleration, true));
    }
    NAMED.iter().find_map(|(group, fields)| {
        let (name, field) = path.strip_prefix(group)?.strip_prefix('.')?.split_once('.')?;
        has(document, group, name).then_some(())?;
        let row = fields.iter().find(|(known, ..)| *known == field);
        row.map(|&(_, measure, vector)| (measure, vector))
    })
}

fn has(document: &Document, group: &str, name: &str) -> bool {
    names(document, group).iter().any(|known| *known == name)
}

fn names<'a>(document: &'a Document, group: &str) -> Vec<&'a String> {
    match group {
        "bodies" => document.bodies.keys().collect(),
        "colliders" => document.colliders.keys().collect(),
        _ => document.cameras.keys().collect(),
    }
}

/// Every path of a document that can be unknown.
fn all(document: &Document) -> Vec<String> {
    let mut paths = vec![GRAVITY.to_owned()];
    for (group, fields) in NAMED {
        // The first ones show how they are written.
        for name in names(document, group).into_iter().take(20) {
            paths.extend(fields.iter().map(|(field, ..)| format!("{group}.{name}.{field}")));
        }
    }
    paths
}
