//! Checks of what bodies touch.

use super::bounds;
use super::numbers::{at_most, share, unit, wrong};
use crate::scene::Floor;
use crate::scene::document::{Collider, ColliderShape, Contact, Document, HalfSpace, Motion, Pose};
use crate::scene::tree::Fault;

/// The floor, the only kind of collider that this version simulates.
pub(super) fn floor(document: &Document) -> Result<Option<Floor>, Fault> {
    for (name, collider) in &document.colliders {
        let at = format!("colliders.{name}");
        let ColliderShape::HalfSpace(_) = &collider.shape else {
            return wrong(&format!("{at}.shape"), "is not simulated by this version, expected a half_space");
        };
        if collider.motion != Motion::default() {
            return wrong(&format!("{at}.motion"), "moving colliders are not simulated by this version, expected none");
        }
        if collider.pose != Pose::default() {
            return wrong(&format!("{at}.pose"), "a half-space has none, expected its point and normal alone");
        }
    }
    let mut planes = document.colliders.iter();
    match (planes.next(), planes.next()) {
        (None, _) => Ok(None),
        (Some((name, collider)), None) => plane(name, collider).map(Some),
        (Some((first, _)), Some((second, _))) => {
            let problem =
                format!("is beside colliders.{first}, expected one: this version simulates a single half-space");
            wrong(&format!("colliders.{second}"), problem)
        }
    }
}

fn plane(name: &str, collider: &Collider) -> Result<Floor, Fault> {
    let at = format!("colliders.{name}");
    let ColliderShape::HalfSpace(HalfSpace { normal, point }) = &collider.shape else {
        return wrong(&format!("{at}.shape"), "is not simulated by this version, expected a half_space");
    };
    let normal = unit(&format!("{at}.shape.half_space.normal"), *normal)?;
    let friction = match collider.contact {
        Contact::Frictionless => 0.0,
        Contact::Friction(coefficient) => coefficient,
        Contact::Sticky | Contact::Slip => {
            let problem = "is not simulated by this version, expected \"frictionless\" or {\"friction\": 0.4}";
            return wrong(&format!("{at}.contact"), problem);
        }
    };
    share(&format!("{at}.contact.friction"), friction, &bounds::FRICTION)?;
    at_most(&format!("{at}.shape.half_space.point"), *point, &bounds::PLACE)?;
    Ok(Floor { point: *point, normal, friction })
}

/// How bodies touch each other.
pub(super) fn touch(_document: &Document) -> Result<(), Fault> {
    Ok(())
}
