//! What is to be found.

use super::object::Object;
use super::{CAMERA, FLOOR, Notes, texts};
use crate::scene::convert::Measure;
use crate::scene::document::{Body, Range, Transform, Unknown};
use crate::scene::tree::{Fault, typed};
use crate::scene::{Name, Quantity};
use crate::text::shown;
use std::collections::BTreeMap;

/// The unknowns, by the paths of what they are.
pub(super) fn unknowns(
    root: &mut Object<'_>,
    bodies: &BTreeMap<String, Body>,
    notes: &mut Notes,
) -> Result<BTreeMap<String, Unknown>, Fault> {
    let object = root.required_child("unknowns", "an object of names with a range each")?;
    let mut unknowns = BTreeMap::new();
    for (key, node) in object.fields() {
        let file = object.path(&shown(key));
        let name: Name = key.parse().map_err(|problem: String| Fault::new(&file, problem))?;
        let (of, quantity) = (name.of(), name.quantity());
        let path = path(of, quantity, bodies).map_err(|problem| Fault::new(&file, problem))?;
        notes.fields.add(format!("unknowns.{path}"), file.clone());
        let unknown = unknown(Object::new(node, file.clone())?, quantity)?;
        if unknowns.insert(path, unknown).is_some() {
            return Err(Fault::new(file, "another name means the same, expected one of both"));
        }
    }
    Ok(unknowns)
}

/// Where the document has it.
fn path(of: Option<&str>, quantity: Quantity, bodies: &BTreeMap<String, Body>) -> Result<String, String> {
    let key = quantity.key();
    let part = match quantity {
        Quantity::Mu | Quantity::Lambda | Quantity::Viscosity => format!("material.{key}"),
        Quantity::Density | Quantity::Velocity(_) | Quantity::AngularVelocity(_) => key,
        Quantity::Friction => return Ok(format!("colliders.{FLOOR}.contact.{key}")),
        Quantity::Gravity(_) => return Ok(key),
        Quantity::Camera(_) => return Ok(format!("cameras.{CAMERA}.{key}")),
    };
    match (of, bodies.keys().next()) {
        (Some(body), _) => Ok(format!("bodies.{body}.{part}")),
        (None, Some(body)) if bodies.len() == 1 => Ok(format!("bodies.{body}.{part}")),
        (None, _) => {
            let names = bodies.keys().map(|body| format!("{body}.{}", quantity.key())).collect::<Vec<_>>();
            Err(format!("is of several bodies, expected {}", names.join(" or ")))
        }
    }
}

fn unknown(mut object: Object<'_>, quantity: Quantity) -> Result<Unknown, Fault> {
    let (measure, meanings) = match quantity {
        Quantity::Mu => (Measure::Pressure, texts::MEANING_OF_MU),
        Quantity::Lambda => (Measure::Pressure, texts::MEANING_OF_LAMBDA),
        Quantity::Density => (Measure::Density, texts::NO_MEANING),
        Quantity::Viscosity => (Measure::Viscosity, texts::NO_MEANING),
        Quantity::Velocity(_) => (Measure::Velocity, texts::NO_MEANING),
        Quantity::AngularVelocity(_) => (Measure::AngularVelocity, texts::NO_MEANING),
        Quantity::Friction => (Measure::Ratio, texts::NO_MEANING),
        Quantity::Gravity(_) => (Measure::Acceleration, texts::NO_MEANING),
        Quantity::Camera(_) => (Measure::Length, texts::NO_MEANING),
    };
    let unit = object.unit(measure)?;
    object.exact("meaning", meanings)?;
    let Some(range) = object.node("range") else {
        return Err(object.fault("range", "missing, expected [least, greatest]"));
    };
    let range = match typed::<[f64; 2]>(range) {
        Ok(range) => range.map(|end| end * unit),
        Err(_) => return Err(object.fault("range", format!("{}, expected [least, greatest]", range.shown()))),
    };
    match object.left().first() {
        Some(other) => Err(Fault::new(other.clone(), "unknown field, expected range, unit and meaning")),
        None => Ok(Unknown { range: Range::Number(range), transform: Transform::Auto, prior: None }),
    }
}
