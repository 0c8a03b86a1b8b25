//! A mistake in a tree: the path of the value, and what is wrong with it.

use crate::text::{nearest, quoted, shown};
use serde::de::{self, Expected, Unexpected};
use std::fmt;

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::scene) struct Fault {
    /// Where it is, such as `bodies.jelly.velocity[1]`; empty for the whole.
    pub(in crate::scene) path: String,
    /// Value seen and value expected.
    pub(in crate::scene) problem: String,
}

impl Fault {
    pub(in crate::scene) fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), problem: problem.into() }
    }

    /// The same one level further up, in the field `key`.
    pub(super) fn below(self, key: &str) -> Self {
        let path = match self.path.chars().next() {
            None => key.to_owned(),
            Some('[') => format!("{key}{}", self.path),
            Some(_) => format!("{key}.{}", self.path),
        };
        Self { path, ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", shown(&self.path), self.problem)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(problem: T) -> Self {
        Self::new("", problem.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new("", format!("{}, expected {}", written(&found), words(expected)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(found: usize, expected: &dyn Expected) -> Self {
        Self::new("", format!("{found} values, expected {}", words(expected)))
    }

    fn unknown_variant(found: &str, known: &'static [&'static str]) -> Self {
        Self::new("", format!("{} is not known, {}", quoted(found), among(found, known)))
    }

    fn unknown_field(found: &str, known: &'static [&'static str]) -> Self {
        // A name without letters is seen in quotes.
        let path = if found.is_empty() { "\"\"" } else { found };
        Self::new(path, format!("unknown field, {}", among(found, known)))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new("", format!("the field {field} is missing"))
    }
}

/// The value as a person would write it.
fn written(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text) => quoted(text),
        Unexpected::Unit | Unexpected::Option => "null".into(),
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Unsigned(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        Unexpected::Float(value) => format!("{value:?}"),
        Unexpected::Seq => "a list".into(),
        Unexpected::Map => "an object".into(),
        other => other.to_string(),
    }
}

/// What was expected, without the words of Rust.
fn words(expected: &dyn Expected) -> String {
    match expected.to_string() {
        text if matches!(text.as_str(), "f64" | "f32") => "a number".into(),
        text if matches!(text.as_str(), "u64" | "u32" | "usize") => "a whole number, zero or more".into(),
        text if text == "an array of length 3" => "three numbers".into(),
        text if text == "an array of length 2" => "two values".into(),
        text if text == "a boolean" => "true or false".into(),
        text if text.starts_with("struct ") || text == "a map" => "an object".into(),
        text if text.starts_with("enum ") => "a name, or an object with one field".into(),
        text => text,
    }
}

/// The name that is nearest, and all that there are.
pub(in crate::scene) fn among<S: AsRef<str>>(found: &str, known: &[S]) -> String {
    let all = known.iter().map(|name| quoted(name.as_ref())).collect::<Vec<_>>().join(", ");
    match (nearest(found, known), known.len()) {
        (_, 0) => "expected none".into(),
        (_, 1) => format!("expected {all}"),
        (Some(name), _) => format!("did you mean {}? Expected one of {all}", quoted(name)),
        (None, _) => format!("expected one of {all}"),
    }
}
