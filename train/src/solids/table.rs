//! Many instances, as they are kept.

use super::observation::{Observation, Sought};
use super::protocol::Protocol;
use super::row::Row;
use crate::experiments::{self, Searched};

/// A table of them.
pub(super) type Table = experiments::Table<Protocol, Row>;

impl Searched for Row {
    type Column = Observation;

    fn place(&self) -> (usize, Observation) {
        (self.instance, self.observation)
    }

    fn named(column: Observation) -> String {
        match column.sought {
            Sought::Numbers => column.name().into(),
            Sought::Field => format!("mass of each element, {}", column.name()),
        }
    }
}
