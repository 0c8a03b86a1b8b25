//! Checks of the runs that were filmed.

use super::numbers::wrong;
use crate::scene::document::{Body, Document};
use crate::scene::tree::{Fault, among};

/// Names of the takes, at least one.
pub(super) fn names(document: &Document) -> Result<Vec<String>, Fault> {
    for (name, take) in &document.takes {
        if let Some(body) = take.bodies.keys().find(|body| !document.bodies.contains_key(*body)) {
            let known: Vec<_> = document.bodies.keys().collect();
            return wrong(&format!("takes.{name}.bodies.{body}"), format!("is no body, {}", among(body, &known)));
        }
    }
    Ok(match document.takes.is_empty() {
        true => vec![String::new()],
        false => document.takes.keys().cloned().collect(),
    })
}

/// A body as it is in each take, in the order of their names.
pub(super) fn of(document: &Document, name: &str, body: &Body) -> Vec<Body> {
    let own = |take: &crate::scene::document::Take| {
        let mut own = body.clone();
        if let Some(start) = take.bodies.get(name) {
            own.pose = start.pose.unwrap_or(own.pose);
            own.velocity = start.velocity.unwrap_or(own.velocity);
            own.angular_velocity = start.angular_velocity.unwrap_or(own.angular_velocity);
        }
        own
    };
    match document.takes.is_empty() {
        true => vec![body.clone()],
        false => document.takes.values().map(own).collect(),
    }
}

/// The path of a field of the start of a body in a take.
pub(super) fn path(document: &Document, take: usize, body: &str, field: &str) -> String {
    let own = document.takes.iter().nth(take).filter(|(_, take)| {
        take.bodies.get(body).is_some_and(|start| match field.split('.').next() {
            Some("pose") => start.pose.is_some(),
            Some("velocity") => start.velocity.is_some(),
            Some("angular_velocity") => start.angular_velocity.is_some(),
            _ => false,
        })
    });
    own.map_or_else(|| format!("bodies.{body}.{field}"), |(take, _)| format!("takes.{take}.bodies.{body}.{field}"))
}
