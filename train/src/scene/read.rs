//! From the text of `scene.json` to a checked [`Scene`].

use super::raw::Header;
use super::{Scene, check};
use crate::error::{Error, Place, Result};
use crate::input;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::{Path, PathBuf};

impl Scene {
    /// Reads and checks `folder/scene.json`.
    ///
    /// # Errors
    /// Names the file, the place and what was expected there.
    pub fn read(folder: &Path) -> Result<Self> {
        let file = Self::file(folder)?;
        let text = input::text(&file, input::SCENE)?;
        let header: Header = from_json(&file, &text)?;
        check::scene(folder, &file, header)
    }

    /// The path of the scene's file in an existing folder.
    ///
    /// # Errors
    /// When the folder does not exist.
    pub fn file(folder: &Path) -> Result<PathBuf> {
        if !folder.is_dir() {
            let what = if folder.exists() { "is not a folder" } else { "no such folder" };
            return Err(Error::file(folder, format!("{what}, expected one with scene.json, silhouette and shaded")));
        }
        Ok(folder.join("scene.json"))
    }
}

/// The text of a record of a run.
pub(crate) fn read_text(file: &Path) -> Result<String> {
    input::text(file, input::RECORD)
}

/// Parses JSON; a mistake is told with line, column and the path of the field.
pub(crate) fn from_json<T: DeserializeOwned>(file: &Path, text: &str) -> Result<T> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let parsed = serde_path_to_error::deserialize(&mut parser).map_err(|e| {
        let field = e.path().to_string();
        (Some(field).filter(|f| f != "." && !f.is_empty()), e.into_inner())
    });
    let ended = parsed.and_then(|value| parser.end().map(|()| value).map_err(|e| (None, e)));
    ended.map_err(|(field, e)| Error::Input {
        file: file.into(),
        place: Place { line: Some((e.line(), e.column())).filter(|l| l.0 > 0), field },
        problem: describe(&e),
    })
}

/// The message without the place that serde_json appends, and with the reason of the usual slip.
fn describe(e: &serde_json::Error) -> String {
    let text = e.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    match e.classify() {
        serde_json::error::Category::Data => text.to_owned(),
        _ => format!("malformed JSON: {text} (JSON has no NaN, Infinity, comments or trailing commas)"),
    }
}

/// The fields below `field`, whose shape depends on the kind of the scene.
pub(super) fn from_value<T: DeserializeOwned>(file: &Path, field: &str, value: Value) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|e| {
        let path = e.path().to_string();
        let field = if path == "." { field.to_owned() } else { format!("{field}.{path}") };
        Error::field(file, field, e.into_inner().to_string())
    })
}
