//! Names of the scene and of its parts.

use super::numbers::wrong;
use crate::scene::document::Document;
use crate::scene::name::WORDS;
use crate::scene::tree::Fault;
use crate::text::quoted;

/// The name goes into the path of the output folder.
pub(super) fn scene(name: &str) -> Result<(), Fault> {
    let plain = |c: char| c.is_alphanumeric() || "-_. ".contains(c);
    // Most file systems end at 255 bytes, and `_simulated` is added.
    if !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(plain) {
        return Ok(());
    }
    let problem = "expected at most 200 bytes of letters, digits, '-', '_' and '.'";
    wrong("name", format!("{}, {problem}", quoted(name)))
}

/// All names, each with the group that it is in.
pub(super) fn of_groups(document: &Document) -> impl Iterator<Item = (&'static str, &str)> {
    fn named<'a, T>(
        group: &'static str,
        parts: &'a std::collections::BTreeMap<String, T>,
    ) -> impl Iterator<Item = (&'static str, &'a str)> {
        parts.keys().map(move |name| (group, name.as_str()))
    }
    named("bodies", &document.bodies)
        .chain(named("colliders", &document.colliders))
        .chain(named("pushes", &document.pushes))
        .chain(named("cameras", &document.cameras))
        .chain(named("lights", &document.lights))
        .chain(named("takes", &document.takes))
        .chain(named("videos", &document.videos))
        .chain(named("observations", &document.observations))
}

/// A name is a step of the paths of unknowns.
pub(super) fn part(group: &str, name: &str) -> Result<(), Fault> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        let problem = format!("{} is no name, expected at most 64 letters, digits, '-' and '_'", quoted(name));
        return wrong(group, problem);
    }
    match WORDS.contains(&name) {
        true => wrong(group, format!("{} is a word of the paths of unknowns, expected another name", quoted(name))),
        false => Ok(()),
    }
}
