//! Where a stopped run goes on: written with a version and a checksum, read and checked in every version that counts.
//!
//! The form of a version never changes. A new one gets a number, a reader and a sample in `tests/checkpoints`; readers of
//! the last three former versions stay.

use crate::error::{Error, Place, Result};
use crate::identify::State;
use crate::scene::{from_json, read_text};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::path::Path;

/// Reads the text of a file.
type Reader = fn(&Path, &str) -> Result<Checkpoint>;

/// By version, the one that is written last.
const READERS: [(u64, Reader); 4] = [(1, bare), (2, sealed), (3, with_precision), (4, with_weights)];
/// The version that is written.
const VERSION: u64 = READERS[READERS.len() - 1].0;

/// Where a stopped run goes on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// Time spent so far \[s\].
    pub seconds: f64,
    /// The method's own state.
    pub state: State,
}

/// The file since version 2. Version 3 says of places whether they were evaluated in single precision, those of before were not; version 4 has the weights of
/// frames, which were known beforehand until then.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sealed {
    version: u64,
    /// CRC-32 of the text of `checkpoint`, in hexadecimal.
    crc32: String,
    checkpoint: Box<RawValue>,
}

/// The file of version 1.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bare {
    /// In the state as well.
    #[serde(rename = "iteration")]
    _iteration: usize,
    seconds: f64,
    state: State,
}

/// What a checkpoint has since version 3.
#[derive(Deserialize)]
struct WithPrecision {
    #[serde(rename = "state")]
    _state: Rough,
}

#[derive(Deserialize)]
struct Rough {
    #[serde(rename = "rough")]
    _rough: bool,
}

/// What a checkpoint has since version 4.
#[derive(Deserialize)]
struct WithWeights {
    #[serde(rename = "state")]
    _state: Weighed,
}

#[derive(Deserialize)]
struct Weighed {
    #[serde(rename = "weights")]
    _weights: IgnoredAny,
}

/// What a file of any version has.
#[derive(Deserialize)]
struct Versioned {
    version: Option<u64>,
}

impl Checkpoint {
    /// The text of a file.
    pub(super) fn seal(&self) -> Result<String> {
        let wrong = |e: serde_json::Error| Error::Compute(format!("the checkpoint cannot be written as JSON: {e}"));
        let text = serde_json::to_string_pretty(self).and_then(RawValue::from_string).map_err(wrong)?;
        let sealed = Sealed { version: VERSION, crc32: checksum(text.get()), checkpoint: text };
        serde_json::to_string_pretty(&sealed).map(|text| text + "\n").map_err(wrong)
    }

    /// Reads a file of this version or a former one. Whether it fits a job, [`identify::check`](crate::identify::check()) tells.
    ///
    /// # Errors
    /// When it cannot be read, or is not as it was written; names the field.
    pub fn read(file: &Path) -> Result<Self> {
        let text = read_text(file)?;
        let Versioned { version } = from_json(file, &text)?;
        // Version 1 did not name itself.
        let version = version.unwrap_or(1);
        let Some((_, reader)) = READERS.iter().find(|(known, _)| *known == version) else {
            let oldest = READERS[0].0;
            let problem = format!("{version}, expected {oldest} to {VERSION}: resume with the program that wrote it");
            return Err(Error::field(file, "version", problem));
        };
        let checkpoint = reader(file, &text)?;
        if !(checkpoint.seconds.is_finite() && (0.0..1e12).contains(&checkpoint.seconds)) {
            let problem = format!("{}, expected the time of a run in seconds", checkpoint.seconds);
            return Err(Error::field(file, "seconds", problem));
        }
        Ok(checkpoint)
    }
}

fn bare(file: &Path, text: &str) -> Result<Checkpoint> {
    let Bare { seconds, state, .. } = from_json(file, text)?;
    Ok(Checkpoint { seconds, state })
}

fn with_precision(file: &Path, text: &str) -> Result<Checkpoint> {
    content::<WithPrecision>(file, text)?;
    content(file, text)
}

fn with_weights(file: &Path, text: &str) -> Result<Checkpoint> {
    content::<WithWeights>(file, text)?;
    with_precision(file, text)
}

fn sealed(file: &Path, text: &str) -> Result<Checkpoint> {
    content(file, text)
}

/// What is in a file, if it is as it was written.
fn content<T: DeserializeOwned>(file: &Path, text: &str) -> Result<T> {
    let sealed: Sealed = from_json(file, text)?;
    let content = sealed.checkpoint.get();
    let (expected, seen) = (sealed.crc32, checksum(content));
    if seen != expected {
        let problem = format!("its checksum is {seen}, expected {expected}: the file was changed after it was written");
        return Err(Error::field(file, "checkpoint", problem));
    }
    // Lines would be counted from where the content begins.
    from_json(file, content).map_err(|error| match error {
        Error::Input { file, place, problem } => Error::Input { file, place: Place { line: None, ..place }, problem },
        other => other,
    })
}

fn checksum(text: &str) -> String {
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}
