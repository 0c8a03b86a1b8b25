//! Checks of what happens where two things touch.

use super::numbers::{share, wrong};
use crate::scene::document::{self, Document};
use crate::scene::tree::Fault;
use crate::scene::{Contact, bounds};

/// The contact at a path.
pub(super) fn checked(at: &str, contact: document::Contact) -> Result<Contact, Fault> {
    match contact {
        document::Contact::Frictionless => Ok(Contact::Friction(0.0)),
        document::Contact::Friction(coefficient) => {
            share(&format!("{at}.friction"), coefficient, &bounds::FRICTION)?;
            Ok(Contact::Friction(coefficient))
        }
        document::Contact::Sticky => Ok(Contact::Sticky),
        document::Contact::Slip => Ok(Contact::Slip),
    }
}

/// The contact of several bodies with each other; refuses those that are not simulated.
pub(super) fn between_bodies(document: &Document) -> Result<Option<Contact>, Fault> {
    const PATH: &str = "contact_between_bodies";
    const KNOWN: &str = "\"sticky\", \"frictionless\" or {\"friction\": 0.4}";
    match (document.contact_between_bodies, document.bodies.len()) {
        (None, 0 | 1) => Ok(None),
        (None, _) => wrong(PATH, format!("missing, but there are several bodies, expected {KNOWN}")),
        (Some(_), 0 | 1) => wrong(PATH, "there are no two bodies, expected no such field"),
        (Some(document::Contact::Slip), _) => {
            wrong(PATH, format!("is not simulated by this version, expected {KNOWN}"))
        }
        (Some(contact), _) => checked(PATH, contact).map(Some),
    }
}
