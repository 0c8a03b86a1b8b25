//! Paths of what can be unknown.

use super::quantity::Quantity;
use crate::scene::document::Document;
use crate::scene::tree::{Fault, among};

/// Groups of a document that have names, and what of each can be unknown; the second flag says whether it is a vector.
const NAMED: [(&str, &[(&str, Quantity, bool)]); 3] = [
    (
        "bodies",
        &[
            ("material.mu", Quantity::Pressure, false),
            ("material.lambda", Quantity::Pressure, false),
            ("material.young", Quantity::Pressure, false),
            ("material.poisson", Quantity::Ratio, false),
            ("material.viscosity", Quantity::Viscosity, false),
            ("density", Quantity::Density, false),
            ("velocity", Quantity::Velocity, true),
            ("angular_velocity", Quantity::AngularVelocity, true),
            ("pose.position", Quantity::Length, true),
        ],
    ),
    ("colliders", &[("contact.friction", Quantity::Ratio, false)]),
    (
        "cameras",
        &[
            ("position", Quantity::Length, true),
            ("look_at", Quantity::Length, true),
            ("vertical_fov", Quantity::Angle, false),
            ("exposure", Quantity::Ratio, false),
            ("noise", Quantity::Ratio, false),
            ("distortion.k1", Quantity::Ratio, false),
            ("distortion.k2", Quantity::Ratio, false),
            ("distortion.k3", Quantity::Ratio, false),
            ("distortion.p1", Quantity::Ratio, false),
            ("distortion.p2", Quantity::Ratio, false),
        ],
    ),
];

/// The field of the whole scene that can be unknown.
const GRAVITY: &str = "gravity";

/// Something that can be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scene) struct Target {
    /// What it measures.
    pub(in crate::scene) quantity: Quantity,
    /// Whether it has three components.
    pub(in crate::scene) vector: bool,
}

/// What the path of an unknown leads to.
pub(in crate::scene) fn target(document: &Document, path: &str) -> Result<Target, Fault> {
    if path == GRAVITY {
        return Ok(Target { quantity: Quantity::Acceleration, vector: true });
    }
    let found = NAMED.iter().find_map(|(group, fields)| {
        let (name, field) = path.strip_prefix(group)?.strip_prefix('.')?.split_once('.')?;
        has(document, group, name).then_some(())?;
        fields.iter().find(|(known, ..)| *known == field)
    });
    match found {
        Some(&(_, quantity, vector)) => Ok(Target { quantity, vector }),
        None => Err(Fault::new(format!("unknowns.{path}"), format!("unknown path, {}", among(path, &all(document))))),
    }
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
