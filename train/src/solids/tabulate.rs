//! Makes the table, and goes on with one that was begun.

use super::markdown;
use super::observation::Observation;
use super::protocol::Protocol;
use super::row::Row;
use super::table::Table;
use crate::error::Result;
use crate::experiment::{Console, Ended};
use crate::experiments::{Tabulate, fill};

/// Runs what is missing of the table, column by column, and writes `NAME.json` and `NAME.md` after each search.
///
/// # Errors
/// When the protocol is wrong as a whole, or a file cannot be written.
pub fn tabulate(options: &Tabulate, protocol: Protocol, console: &mut dyn Console) -> Result<Ended> {
    let count = options.count.unwrap_or(protocol.instances);
    let name = options.name.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let search = |protocol: &Protocol, instance, column| Row::search(protocol, options.seed, instance, column);
    let new = Table::new(name, options.seed, protocol);
    fill(options, new, (count, &Observation::ALL), search, markdown::text, console)
}
