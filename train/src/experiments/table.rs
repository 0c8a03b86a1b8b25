//! Many instances of an experiment, as they are kept.

use super::observation::{Bits, Observation};
use super::program::Supervision;
use super::protocol::Protocol;
use super::row::Row;
use crate::error::{Error, Result};
use crate::files;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The columns of a table.
const COLUMNS: [Observation; 4] = [
    Observation { supervision: Supervision::Image, bits: Bits::Eight, finer: 1 },
    Observation { supervision: Supervision::State, bits: Bits::Float, finer: 1 },
    Observation { supervision: Supervision::Image, bits: Bits::Float, finer: 1 },
    Observation { supervision: Supervision::Image, bits: Bits::Eight, finer: 4 },
];

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
    /// Searches that ended with an error: instance, column and message.
    pub(super) failures: Vec<(usize, String, String)>,
    /// Time of all that is in it \[s\].
    pub(super) seconds: f64,
}

impl Table {
    pub(super) fn holds(&self, instance: usize, observation: Observation) -> bool {
        let found = self.rows.iter().any(|row| row.instance == instance && row.observation == observation);
        found || self.failures.iter().any(|(k, column, _)| *k == instance && *column == observation.name())
    }

    /// The columns in it, in their order.
    pub(super) fn columns() -> &'static [Observation] {
        &COLUMNS
    }

    /// The table in a file, if one was begun there of the same experiment.
    pub(super) fn read(file: &Path, new: Table) -> Result<Table> {
        if !files::is_there(file)? {
            return Ok(new);
        }
        let text = fs::read_to_string(file).map_err(|e| Error::file(file, e.to_string()))?;
        let old: Table = serde_json::from_str(&text)
            .map_err(|e| Error::file(file, format!("{e}, expected a table of this version")))?;
        let key = |table: &Table| (table.experiment.clone(), table.version.clone(), table.seed, table.protocol.clone());
        if key(&old) != key(&new) {
            let problem = "is a table of another experiment, seed or version, expected another --out";
            return Err(Error::file(file, problem));
        }
        Ok(old)
    }
}
