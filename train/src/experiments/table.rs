//! Many instances of an experiment, as they are kept.

use super::observation::{Bits, Observation};
use super::program::Supervision;
use super::row::Row;
use crate::error::{Error, Result};
use crate::{files, input};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The columns of a table.
pub(super) const COLUMNS: [Observation; 4] = [
    Observation { supervision: Supervision::Image, bits: Bits::Eight, finer: 1 },
    Observation { supervision: Supervision::State, bits: Bits::Float, finer: 1 },
    Observation { supervision: Supervision::Image, bits: Bits::Float, finer: 1 },
    Observation { supervision: Supervision::Image, bits: Bits::Eight, finer: 4 },
];

/// A search of an instance, of which a table has one in each column.
pub(crate) trait Searched: Serialize + DeserializeOwned {
    /// What a column is.
    type Column: Copy + PartialEq;

    /// Number of the instance, and its column.
    fn place(&self) -> (usize, Self::Column);

    /// What a column is called; no two are called alike.
    fn named(column: Self::Column) -> String;
}

impl Searched for Row {
    type Column = Observation;

    fn place(&self) -> (usize, Observation) {
        (self.instance, self.observation)
    }

    fn named(column: Observation) -> String {
        column.name()
    }
}

/// A table as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table<P, R> {
    pub(crate) experiment: String,
    pub(crate) version: String,
    pub(crate) seed: u64,
    /// What was asked for, so that no two are mixed.
    pub(crate) protocol: P,
    pub(crate) rows: Vec<R>,
    /// Searches that ended with an error: instance, column and message.
    pub(crate) failures: Vec<(usize, String, String)>,
    /// Time of all that is in it \[s\].
    pub(crate) seconds: f64,
}

impl<P: Clone + PartialEq + Serialize + DeserializeOwned, R: Searched> Table<P, R> {
    /// Nothing yet.
    pub(crate) fn new(experiment: String, seed: u64, protocol: P) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        Self { experiment, version, seed, protocol, rows: Vec::new(), failures: Vec::new(), seconds: 0.0 }
    }

    /// Whether a search was run.
    pub(crate) fn holds(&self, instance: usize, column: R::Column) -> bool {
        let name = R::named(column);
        let found = self.rows.iter().any(|row| row.place() == (instance, column));
        found || self.failures.iter().any(|(k, failed, _)| *k == instance && *failed == name)
    }

    /// How many searches of a column have failed.
    pub(crate) fn failed(&self, column: R::Column) -> usize {
        let name = R::named(column);
        self.failures.iter().filter(|(_, failed, _)| *failed == name).count()
    }

    /// What failed, for people; nothing where nothing did.
    pub(crate) fn failures(&self) -> String {
        let line = |(instance, column, message): &(usize, String, String)| {
            format!("- instance {instance}, {column}: {message}\n")
        };
        let lines: String = self.failures.iter().map(line).collect();
        if lines.is_empty() { lines } else { format!("\nFailed:\n\n{lines}") }
    }

    /// The table in a file, if one was begun there of the same experiment.
    pub(super) fn read(file: &Path, new: Self) -> Result<Self> {
        if !files::is_there(file)? {
            return Ok(new);
        }
        let text = input::text(file, input::RECORD)?;
        let old: Self = serde_json::from_str(&text)
            .map_err(|e| Error::file(file, format!("{e}, expected a table of this version")))?;
        let key = |table: &Self| (table.experiment.clone(), table.version.clone(), table.seed, table.protocol.clone());
        if key(&old) != key(&new) {
            let problem = "is a table of another experiment, seed or version, expected another --out";
            return Err(Error::file(file, problem));
        }
        Ok(old)
    }
}
