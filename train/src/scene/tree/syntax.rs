//! The two ways to write a scene.

use super::node::{Node, Tree};
use crate::error::{Error, Place, Result};
use ron::error::SpannedError;
use serde::de::DeserializeSeed;
use serde_path_to_error::Track;
use std::path::Path;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::scene) enum Syntax {
    Json,
    Ron,
}

impl Syntax {
    /// Both, the one that is looked for first in front.
    pub(in crate::scene) const ALL: [Self; 2] = [Self::Json, Self::Ron];

    /// Name of a scene's file.
    pub(in crate::scene) fn file(self) -> &'static str {
        match self {
            Self::Json => "scene.json",
            Self::Ron => "scene.ron",
        }
    }

    /// By the end of the file's name.
    pub(in crate::scene) fn of(file: &Path) -> Self {
        match file.extension().is_some_and(|end| end.eq_ignore_ascii_case("ron")) {
            true => Self::Ron,
            false => Self::Json,
        }
    }

    /// The tree of a text; a mistake is told with line, column and the path of the value.
    pub(in crate::scene) fn parse(self, file: &Path, text: &str) -> Result<Node> {
        match self {
            Self::Json => json(file, text, Tree { null: true }),
            Self::Ron => ron(file, text),
        }
    }
}

/// Parses JSON; a mistake is told with line, column and the path of the field.
pub(in crate::scene) fn json<'de, S: DeserializeSeed<'de>>(file: &Path, text: &'de str, seed: S) -> Result<S::Value> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let mut track = Track::new();
    let parsed = seed.deserialize(serde_path_to_error::Deserializer::new(&mut parser, &mut track));
    let parsed = parsed.map_err(|e| (field(track), e));
    let ended = parsed.and_then(|value| parser.end().map(|()| value).map_err(|e| (None, e)));
    ended.map_err(|(field, e)| Error::Input {
        file: file.into(),
        place: Place { line: Some((e.line(), e.column())).filter(|l| l.0 > 0), field },
        problem: describe(&e),
    })
}

/// The path of the field where a parser stopped.
fn field(track: Track) -> Option<String> {
    match track.path().to_string().as_str() {
        "." => None,
        // A field without a name.
        "" => Some("\"\"".into()),
        field => Some(field.into()),
    }
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

fn ron(file: &Path, text: &str) -> Result<Node> {
    let wrong = |e: SpannedError, field: Option<String>| Error::Input {
        file: file.into(),
        place: Place { line: Some((e.span.start.line, e.span.start.col)), field },
        problem: format!("malformed RON: {}", e.code.to_string().replace('\n', " ")),
    };
    let mut parser = ron::Deserializer::from_str(text).map_err(|e| wrong(e, None))?;
    let mut track = Track::new();
    let parsed = Tree { null: false }.deserialize(serde_path_to_error::Deserializer::new(&mut parser, &mut track));
    let node = parsed.map_err(|e| wrong(parser.span_error(e), field(track)))?;
    parser.end().map_err(|e| wrong(parser.span_error(e), None))?;
    Ok(node)
}
