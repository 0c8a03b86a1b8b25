//! Checks of what happens where bodies touch each other.

use super::numbers::wrong;
use crate::scene::document::{Contact, Document};
use crate::scene::tree::Fault;

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
