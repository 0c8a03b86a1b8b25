//! The floor and the unknowns.

use super::object::Object;
use super::texts::Touch;
use super::{Notes, OBJECT, texts};
use crate::scene::convert::Quantity;
use crate::scene::document::{
    Body, Collider, ColliderShape, Contact, HalfSpace, Motion, Pose, Range, Transform, Unknown,
};
use crate::scene::tree::{Fault, Node};
use crate::text::{quoted, shown};
use std::collections::BTreeMap;

/// The floor, if there is one.
pub(super) fn floor(root: &mut Object<'_>, notes: &mut Notes) -> Result<BTreeMap<String, Collider>, Fault> {
    let Some(mut floor) = root.child("floor")? else {
        return Ok(BTreeMap::new());
    };
    for (document, file) in [("", "floor"), (".shape.half_space", "floor"), (".contact", "floor.contact")] {
        notes.fields.add(format!("colliders.floor{document}"), file);
    }
    let shape = HalfSpace { normal: floor.required("normal")?, point: floor.required("point")? };
    let contact = contact(&mut floor, notes)?;
    notes.ignored.extend(floor.left());
    let shape = ColliderShape::HalfSpace(shape);
    let collider = Collider { shape, pose: Pose::default(), motion: Motion::default(), contact };
    Ok(BTreeMap::from([("floor".into(), collider)]))
}

fn contact(floor: &mut Object<'_>, notes: &mut Notes) -> Result<Contact, Fault> {
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

/// The unknowns, by the paths of what they are.
pub(super) fn unknowns(
    root: &mut Object<'_>,
    bodies: &BTreeMap<String, Body>,
    notes: &mut Notes,
) -> Result<BTreeMap<String, Unknown>, Fault> {
    let object = root.required_child("unknowns", "an object of names with a range each")?;
    let mut unknowns = BTreeMap::new();
    for (name, node) in object.fields() {
        let file = object.path(name);
        let (body, constant) = match name.rsplit_once('.') {
            Some((body, constant)) => (body, constant),
            None => (OBJECT, name.as_str()),
        };
        let meanings = match constant {
            "mu" => texts::MEANING_OF_MU,
            "lambda" => texts::MEANING_OF_LAMBDA,
            _ => return Err(unknown_name(name, bodies)),
        };
        if !bodies.contains_key(body) {
            return Err(unknown_name(name, bodies));
        }
        let path = format!("bodies.{body}.material.{constant}");
        notes.fields.add(format!("unknowns.{path}"), file.clone());
        unknowns.insert(path, unknown(Object::new(node, file)?, meanings)?);
    }
    Ok(unknowns)
}

fn unknown(mut object: Object<'_>, meanings: &[&'static str]) -> Result<Unknown, Fault> {
    let pascals = object.unit(Quantity::Pressure)?;
    object.exact("meaning", meanings)?;
    let Some(range) = object.node("range") else {
        return Err(object.fault("range", "missing, expected [least, greatest]"));
    };
    let range = match crate::scene::tree::typed::<[f64; 2]>(range) {
        Ok(range) => range.map(|end| end * pascals),
        Err(_) => return Err(object.fault("range", format!("{}, expected [least, greatest]", range.shown()))),
    };
    match object.left().first() {
        Some(other) => Err(Fault::new(other.clone(), "unknown field, expected range, unit and meaning")),
        None => Ok(Unknown { range: Range::Number(range), transform: Transform::Auto, prior: None }),
    }
}

fn unknown_name(name: &str, bodies: &BTreeMap<String, Body>) -> Fault {
    let names = match bodies.contains_key(OBJECT) && bodies.len() == 1 {
        true => "mu, lambda".to_owned(),
        false => bodies.keys().map(|body| format!("{body}.mu, {body}.lambda")).collect::<Vec<_>>().join(", "),
    };
    let problem = format!("unknown parameter {}, expected one of {names}", quoted(name));
    Fault::new(format!("unknowns.{}", shown(name)), problem)
}
