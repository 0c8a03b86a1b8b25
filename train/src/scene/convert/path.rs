//! Paths of what can be unknown.

use crate::scene::document::Document;
use crate::scene::measure::Measure;
use crate::scene::quantity::{AXES, Quantity};
use crate::scene::row::Owner;
use crate::scene::tree::{Fault, among};
use crate::text::shown;

/// The path of a value below a name, what it measures, and whether it is a vector.
type Row = (&'static str, Measure, bool);

/// What the schema has paths for and no version finds yet, by group.
const NOT_YET: [(&str, &[Row]); 2] =
    [("colliders", &[("pose.position", Measure::Length, true)]), ("cameras", &[("noise", Measure::Ratio, false)])];

/// Groups of a document that have names.
const GROUPS: [&str; 3] = ["bodies", "colliders", "cameras"];

/// The group of what a quantity is of; none if it is of the whole scene.
fn group(owner: Owner) -> Option<&'static str> {
    match owner {
        Owner::Material | Owner::Body | Owner::Start => Some("bodies"),
        Owner::Collider => Some("colliders"),
        Owner::Camera => Some("cameras"),
        Owner::Scene => None,
    }
}

/// What can be unknown of the things that `of` tells.
fn quantities(of: impl Fn(Owner) -> bool) -> impl Iterator<Item = Row> {
    let rows = Quantity::ALL.into_iter().map(Quantity::row);
    // The first component stands for its vector.
    let first = rows.filter(move |row| of(row.owner) && row.component.is_none_or(|axis| axis == 0));
    first.map(|row| (row.path, row.measure, row.component.is_some()))
}

/// What can be unknown of a thing in a group.
fn rows(of: &str) -> impl Iterator<Item = Row> {
    let not_yet = NOT_YET.into_iter().filter(move |(group, _)| *group == of).flat_map(|(_, rows)| rows.iter().copied());
    quantities(move |owner| group(owner) == Some(of)).chain(not_yet)
}

/// Something that can be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scene) struct Target {
    /// What it measures.
    pub(in crate::scene) measure: Measure,
    /// What of it, if it is a vector.
    pub(in crate::scene) part: Part,
}

/// A number, a vector or a component of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scene) enum Part {
    Number,
    Vector,
    Component(usize),
}

/// What the path of an unknown leads to.
pub(in crate::scene) fn target(document: &Document, path: &str) -> Result<Target, Fault> {
    let component =
        path.rsplit_once('.').and_then(|(vector, end)| Some((AXES.iter().position(|axis| *axis == end)?, vector)));
    let found = match component.and_then(|(k, vector)| Some((k, find(document, vector)?))) {
        Some((k, (measure, true))) => Some(Target { measure, part: Part::Component(k) }),
        Some((_, (_, false))) => None,
        None => find(document, path).map(|(measure, vector)| {
            let part = if vector { Part::Vector } else { Part::Number };
            Target { measure, part }
        }),
    };
    let at = || format!("unknowns.{}", shown(path));
    found.ok_or_else(|| Fault::new(at(), format!("unknown parameter, {}", among(path, &all(document)))))
}

/// What the value at a path measures, and whether it is a vector.
fn find(document: &Document, path: &str) -> Option<(Measure, bool)> {
    if let Some(rest) = path.strip_prefix("takes.") {
        let (take, rest) = rest.split_once('.')?;
        let (body, field) = rest.strip_prefix("bodies.")?.split_once('.')?;
        (document.takes.contains_key(take) && document.bodies.contains_key(body)).then_some(())?;
        return quantities(|owner| owner == Owner::Start).find(|(known, ..)| *known == field).map(measured);
    }
    if let Some(row) = quantities(|owner| group(owner).is_none()).find(|(known, ..)| *known == path) {
        return Some(measured(row));
    }
    GROUPS.into_iter().find_map(|group| {
        let (name, field) = path.strip_prefix(group)?.strip_prefix('.')?.split_once('.')?;
        names(document, group).any(|known| known == name).then_some(())?;
        rows(group).find(|(known, ..)| *known == field).map(measured)
    })
}

fn measured((_, measure, vector): Row) -> (Measure, bool) {
    (measure, vector)
}

fn names<'a>(document: &'a Document, group: &str) -> Box<dyn Iterator<Item = &'a String> + 'a> {
    match group {
        "bodies" => Box::new(document.bodies.keys()),
        "colliders" => Box::new(document.colliders.keys()),
        _ => Box::new(document.cameras.keys()),
    }
}

/// Every path of a document that can be unknown.
fn all(document: &Document) -> Vec<String> {
    // The first ones show how they are written.
    const FIRST: usize = 20;
    let mut paths: Vec<String> = quantities(|owner| group(owner).is_none()).map(|(path, ..)| path.to_owned()).collect();
    for group in GROUPS {
        for name in names(document, group).take(FIRST) {
            paths.extend(rows(group).map(|(field, ..)| format!("{group}.{name}.{field}")));
        }
    }
    for take in document.takes.keys().take(FIRST) {
        for body in document.bodies.keys().take(FIRST) {
            let starts = quantities(|owner| owner == Owner::Start);
            paths.extend(starts.map(|(field, ..)| format!("takes.{take}.bodies.{body}.{field}")));
        }
    }
    paths
}
