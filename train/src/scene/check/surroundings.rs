//! Checks of what bodies touch.

use super::numbers::{at_most, share, unit, wrong};
use crate::scene::bounds;
use crate::scene::document::{Collider, ColliderShape, Contact, Document, HalfSpace, Motion, Pose};
use crate::scene::tree::Fault;
use crate::scene::{self, Floor};

/// The floor, the only kind of collider that this version simulates.
pub(super) fn floor(document: &Document) -> Result<Option<Floor>, Fault> {
    let planes = document.colliders.iter().map(|(name, collider)| plane(name, collider));
    match planes.collect::<Result<Vec<_>, _>>()?.as_slice() {
        [] => Ok(None),
        [floor] => Ok(Some(floor.clone())),
        [first, second, ..] => {
            let problem =
                format!("is beside colliders.{}, expected one: this version simulates a single half-space", first.name);
            wrong(&format!("colliders.{}", second.name), problem)
        }
    }
}

fn plane(name: &str, collider: &Collider) -> Result<Floor, Fault> {
    let at = format!("colliders.{name}");
    let ColliderShape::HalfSpace(HalfSpace { normal, point }) = &collider.shape else {
        return wrong(&format!("{at}.shape"), "is not simulated by this version, expected a half_space");
    };
    if collider.motion != Motion::default() {
        return wrong(&format!("{at}.motion"), "moving colliders are not simulated by this version, expected none");
    }
    if collider.pose != Pose::default() {
        return wrong(&format!("{at}.pose"), "a half-space has none, expected its point and normal alone");
    }
    let normal = unit(&format!("{at}.shape.half_space.normal"), *normal)?;
    at_most(&format!("{at}.shape.half_space.point"), *point, &bounds::PLACE)?;
    let contact = match collider.contact {
        Contact::Frictionless => scene::Contact::Friction(0.0),
        Contact::Friction(coefficient) => {
            share(&format!("{at}.contact.friction"), coefficient, &bounds::FRICTION)?;
            scene::Contact::Friction(coefficient)
        }
        Contact::Sticky => scene::Contact::Sticky,
        Contact::Slip => scene::Contact::Slip,
    };
    Ok(Floor { name: name.into(), point: *point, normal, contact })
}

/// Refuses contacts between bodies that are not simulated; says what is simplified.
pub(super) fn between_bodies(document: &Document) -> Result<Option<String>, Fault> {
    const PATH: &str = "contact_between_bodies";
    match (document.contact_between_bodies, document.bodies.len()) {
        (None, 0 | 1) | (Some(Contact::Sticky), _) => Ok(None),
        (None, _) => wrong(PATH, "missing, but there are several bodies, expected \"sticky\" or \"frictionless\""),
        (Some(_), 0 | 1) => wrong(PATH, "there are no two bodies, expected no such field"),
        (Some(Contact::Frictionless), _) => Ok(Some(format!(
            "{PATH}: bodies that touch move as one and part freely, they do not slide on each other yet"
        ))),
        (Some(Contact::Slip | Contact::Friction(_)), _) => {
            wrong(PATH, "is not simulated by this version, expected \"sticky\" or \"frictionless\"")
        }
    }
}
