//! Many instances, as they are kept.

use super::observation::Observation;
use super::protocol::Protocol;
use super::row::Row;
use crate::error::{Error, Result};
use crate::files;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// A search that ended with an error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Failure {
    pub(super) instance: usize,
    pub(super) observation: Observation,
    pub(super) problem: String,
}

/// A table as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    pub(super) experiment: String,
    pub(super) version: String,
    pub(super) seed: u64,
    /// What was asked for, so that no two are mixed.
    pub(super) protocol: Protocol,
    pub(super) rows: Vec<Row>,
    pub(super) failures: Vec<Failure>,
    /// Time of all that is in it \[s\].
    pub(super) seconds: f64,
}

impl Table {
    pub(super) fn holds(&self, instance: usize, observation: Observation) -> bool {
        let is = |k: usize, column: Observation| k == instance && column == observation;
        self.rows.iter().any(|row| is(row.instance, row.observation))
            || self.failures.iter().any(|failure| is(failure.instance, failure.observation))
    }

    /// The table in a file, if one was begun there of the same experiment.
    pub(super) fn read(file: &Path, new: Table) -> Result<Table> {
        if !files::is_there(file)? {
            return Ok(new);
        }
        let text = fs::read_to_string(file).map_err(|e| Error::file(file, e.to_string()))?;
        let old: Table = serde_json::from_str(&text)
            .map_err(|e| Error::file(file, format!("{e}, expected a table of this version")))?;
        let key = |table: &Table| (table.version.clone(), table.seed, table.protocol.clone());
        if key(&old) != key(&new) {
            let problem = "is a table of another protocol, seed or version, expected another --out";
            return Err(Error::file(file, problem));
        }
        Ok(old)
    }
}
