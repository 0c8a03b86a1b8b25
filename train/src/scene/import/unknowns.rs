//! What is to be found.

use super::object::Object;
use super::{CAMERA, FLOOR, Notes, texts};
use crate::scene::Name;
use crate::scene::document::{Body, Range, Transform, Unknown};
use crate::scene::quantity::{AXES, Quantity};
use crate::scene::row::Owner;
use crate::scene::tree::{Fault, typed};
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
    let row = quantity.row();
    let path = row.component.map_or_else(|| row.path.to_owned(), |axis| format!("{}.{}", row.path, AXES[axis]));
    match row.owner {
        Owner::Material | Owner::Body | Owner::Start => {}
        Owner::Collider => return Ok(format!("colliders.{FLOOR}.{path}")),
        Owner::Scene => return Ok(path),
        Owner::Camera => return Ok(format!("cameras.{CAMERA}.{path}")),
    }
    match (of, bodies.keys().next()) {
        (Some(body), _) => Ok(format!("bodies.{body}.{path}")),
        (None, Some(body)) if bodies.len() == 1 => Ok(format!("bodies.{body}.{path}")),
        (None, _) => {
            let names = bodies.keys().map(|body| format!("{body}.{}", quantity.key())).collect::<Vec<_>>();
            Err(format!("is of several bodies, expected {}", names.join(" or ")))
        }
    }
}

fn unknown(mut object: Object<'_>, quantity: Quantity) -> Result<Unknown, Fault> {
    let unit = object.unit(quantity.row().measure)?;
    let meanings = match quantity {
        Quantity::Mu => texts::MEANING_OF_MU,
        Quantity::Lambda => texts::MEANING_OF_LAMBDA,
        Quantity::Young | Quantity::Poisson => texts::NO_MEANING,
        Quantity::Density | Quantity::Mass | Quantity::Viscosity => texts::NO_MEANING,
        Quantity::Damping | Quantity::Load => texts::NO_MEANING,
        Quantity::RelaxationModulus | Quantity::RelaxationTime => texts::NO_MEANING,
        Quantity::Friction | Quantity::Restitution => texts::NO_MEANING,
        Quantity::StartPosition(_) | Quantity::ColliderVelocity(_) => texts::NO_MEANING,
        Quantity::ColliderAngularVelocity(_) => texts::NO_MEANING,
        Quantity::Velocity(_) | Quantity::AngularVelocity(_) | Quantity::Gravity(_) => texts::NO_MEANING,
        Quantity::Position(_) | Quantity::LookAt(_) | Quantity::FieldOfView => texts::NO_MEANING,
        Quantity::Exposure | Quantity::Distortion(_) => texts::NO_MEANING,
    };
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
        None => Ok(Unknown { range: Range::Number(range), transform: Transform::Auto, prior: None, field: None }),
    }
}
