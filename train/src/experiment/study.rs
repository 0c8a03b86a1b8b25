//! Studies: what is found once, and kept as a table for people and as numbers for programs.

use super::{Console, Ended};
use crate::error::{Error, Result};
use crate::job::Flow;
use crate::{files, text};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Tells which part of a study is done, `begun` then.
///
/// # Errors
/// [`Error::Interrupted`] where somebody asks for an end.
pub(crate) fn tell(console: &mut dyn Console, begun: Instant, part: f64) -> Result<()> {
    match console.fraction(part, begun.elapsed().as_secs_f64()) {
        Flow::Stop => Err(Error::Interrupted),
        Flow::Continue => Ok(()),
    }
}

/// Writes `NAME.json`, `NAME.md` and what else there is, each with its extension, to `out`, and tells the table; nothing of a study that was interrupted.
///
/// # Errors
/// That of the study, or when a file cannot be written.
pub(crate) fn keep<S: Serialize>(
    (name, out): (&str, &Path),
    study: Result<S>,
    table: impl FnOnce(&S) -> String,
    also: impl FnOnce(&S) -> Result<Vec<(&'static str, Vec<u8>)>>,
    console: &mut dyn Console,
) -> Result<Ended> {
    console.finish();
    let study = match study {
        Err(Error::Interrupted) => return Ok(Ended::Interrupted),
        study => study?,
    };
    std::fs::create_dir_all(out).map_err(|e| Error::write(out, e))?;
    let file = |extension: &str| out.join(format!("{name}.{extension}"));
    let table = table(&study);
    files::write_json(&file("json"), &study)?;
    files::write(&file("md"), table.as_bytes())?;
    let mut written = vec![file("json"), file("md")];
    for (extension, bytes) in also(&study)? {
        files::write(&file(extension), &bytes)?;
        written.push(file(extension));
    }
    console.print(table.trim_end());
    let names: Vec<String> = written.iter().map(|file: &PathBuf| text::path(file)).collect();
    console.say(&format!("wrote {}", names.join(", ")));
    Ok(Ended::Done)
}

/// Of a study with nothing beside its table and its numbers.
///
/// # Errors
/// None.
pub(crate) fn alone<S>(_: &S) -> Result<Vec<(&'static str, Vec<u8>)>> {
    Ok(Vec::new())
}
