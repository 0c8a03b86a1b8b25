//! The experiments in the program, by their names.

use super::protocol::Protocol;
use crate::error::{Error, Result};
use crate::input;
use std::path::{Path, PathBuf};

/// An experiment with the name by which it is asked for.
#[derive(Debug, Clone)]
pub struct Named {
    /// Its name.
    pub name: String,
    /// What it is.
    pub protocol: Protocol,
}

/// Name and text of each.
const ALL: [(&str, &str); 2] = [
    ("rigid", include_str!("../../experiments/rigid.ron")),
    ("contact", include_str!("../../experiments/contact.ron")),
];

/// All that are in the program.
///
/// # Errors
/// Where one is wrong.
pub fn catalogue() -> Result<Vec<Named>> {
    ALL.iter().map(|(name, text)| named(name, text)).collect()
}

/// Whether `target` is an experiment rather than a job: a name of the catalogue, or a RON file that says `Protocol`.
///
/// # Errors
/// When the file cannot be read.
pub fn is_protocol(target: &Path) -> Result<bool> {
    if is_name(target) {
        return Ok(true);
    }
    Ok(begins_with(&input::text(target, input::JOB)?, "Protocol"))
}

/// An experiment's name, the file that it comes from, and its text.
pub(crate) type Source = (String, PathBuf, String);

/// The text of one of `own` by its name, or of a RON file that begins with `word`; none where it is neither.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn source(target: &Path, own: &[(&str, &str)], word: &str) -> Result<Option<Source>> {
    if let Some((name, text)) = own.iter().find(|(name, _)| Path::new(name) == target) {
        return Ok(Some(((*name).to_owned(), format!("{name}.ron").into(), (*text).to_owned())));
    }
    if !target.is_file() {
        return Ok(None);
    }
    let text = input::text(target, input::JOB)?;
    let name = target.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(begins_with(&text, word).then(|| (name, target.to_owned(), text)))
}

/// Whether this is the first word of a RON file, after comments.
fn begins_with(text: &str, word: &str) -> bool {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("//"));
    first.and_then(|line| line.strip_prefix(word)).is_some_and(|rest| rest.trim_start().starts_with('('))
}

/// The experiment of a name or a RON file.
///
/// # Errors
/// When there is none of this name, or the file is wrong.
pub fn find(target: &Path) -> Result<Named> {
    if let Some((name, text)) = ALL.iter().find(|(name, _)| Path::new(name) == target) {
        return named(name, text);
    }
    if is_name(target) {
        let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
        let problem =
            format!("{} is no experiment, expected one of {}, or a RON file", target.display(), names.join(", "));
        return Err(Error::argument("name", problem));
    }
    let protocol = Protocol::parse(target, &input::text(target, input::JOB)?)?;
    let name = target.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Named { name, protocol })
}

/// The name of an experiment, or a word that is no file.
fn is_name(target: &Path) -> bool {
    is_word(target) || ALL.iter().any(|(name, _)| Path::new(name) == target)
}

/// A word that is no file: neither has it an extension, nor is it there.
pub fn is_word(target: &Path) -> bool {
    target.components().count() == 1 && target.extension().is_none() && !target.exists()
}

fn named(name: &str, text: &str) -> Result<Named> {
    let protocol = Protocol::parse(Path::new(&format!("{name}.ron")), text)?;
    Ok(Named { name: name.to_owned(), protocol })
}
