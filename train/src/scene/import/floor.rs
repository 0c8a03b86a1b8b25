//! The floor.

use super::object::Object;
use super::texts::Touch;
use super::{FLOOR, Notes, texts};
use crate::scene::document::{Collider, ColliderShape, Contact, HalfSpace, Motion, Pose};
use crate::scene::tree::{Fault, Node};
use crate::text::quoted;
use std::collections::BTreeMap;

/// The floor, if there is one.
pub(super) fn floor(root: &mut Object<'_>, notes: &mut Notes) -> Result<BTreeMap<String, Collider>, Fault> {
    let Some(mut floor) = root.child("floor")? else {
        return Ok(BTreeMap::new());
    };
    for (document, file) in [("", "floor"), (".shape.half_space", "floor"), (".contact", "floor.contact")] {
        notes.fields.add(format!("colliders.{FLOOR}{document}"), file);
    }
    let shape = HalfSpace { normal: floor.required("normal")?, point: floor.required("point")? };
    let contact = contact(&mut floor, root, notes)?;
    let restitution = floor.optional("restitution")?.unwrap_or(0.0);
    notes.ignored.extend(floor.left());
    let shape = ColliderShape::HalfSpace(shape);
    let collider = Collider { shape, pose: Pose::default(), motion: Motion::default(), contact, restitution };
    Ok(BTreeMap::from([(FLOOR.into(), collider)]))
}

fn contact(floor: &mut Object<'_>, root: &mut Object<'_>, notes: &mut Notes) -> Result<Contact, Fault> {
    let friction: Option<f64> = floor.optional("friction")?;
    if let Some(Node::Object(_)) = floor.node("contact") {
        let mut object = floor.required_child("contact", "a contact")?;
        let coefficient = object.required("friction")?;
        notes.fields.add("colliders.floor.contact.friction", "floor.contact.friction");
        return match (object.left().first(), friction) {
            (None, None) => Ok(Contact::Friction(coefficient)),
            (Some(other), _) => Err(Fault::new(other.clone(), "unknown field, expected friction alone")),
            (None, Some(_)) => {
                Err(floor.fault("friction", "there is floor.contact.friction as well, expected one of both"))
            }
        };
    }
    let text: String = floor.required("contact")?;
    let Some((_, touch)) = texts::CONTACTS.iter().find(|(known, _)| *known == text) else {
        let known: Vec<_> = texts::CONTACTS.iter().map(|(known, _)| *known).collect();
        return Err(floor.fault("contact", format!("{} or {{\"friction\": 0.4}}", texts::refused(&text, &known))));
    };
    let (contact, what) = match (touch, friction) {
        (Touch::Frictionless, None | Some(0.0)) => (Contact::Frictionless, "frictionless".to_owned()),
        (Touch::Sticky, None) => (Contact::Sticky, "sticky".to_owned()),
        (Touch::Friction, Some(coefficient)) => {
            notes.fields.add("colliders.floor.contact.friction", "floor.friction");
            (Contact::Friction(coefficient), format!("friction with the coefficient floor.friction, {coefficient}"))
        }
        // It is searched for, from the middle of its range.
        (Touch::Friction, None) if unknown(root)?.is_some() => {
            let [low, high] = unknown(root)?.unwrap_or_default();
            (Contact::Friction(0.5 * (low + high)), "friction with the coefficient that is to be found".to_owned())
        }
        (Touch::Friction, None) => return Err(floor.fault("friction", "missing, expected the coefficient of friction")),
        (Touch::Frictionless | Touch::Sticky, Some(coefficient)) => {
            let problem = format!("{coefficient}, but floor.contact is {}, expected no such field", quoted(&text));
            return Err(floor.fault("friction", problem));
        }
    };
    if !matches!(text.as_str(), "frictionless" | "sticky") {
        notes.taken.push(format!("floor.contact: {} is taken as {what}", quoted(&text)));
    }
    Ok(contact)
}

/// The range of the friction, if that is to be found.
fn unknown(root: &mut Object<'_>) -> Result<Option<[f64; 2]>, Fault> {
    let Some(mut unknowns) = root.child("unknowns")? else { return Ok(None) };
    unknowns.child("friction")?.map(|mut friction| friction.optional("range")).transpose().map(Option::flatten)
}
