//! Makes the table, and goes on with one that was begun.

use super::markdown;
use super::observation::Observation;
use super::protocol::Protocol;
use super::row::Row;
use super::table::{Failure, Table};
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended};
use crate::experiments::Tabulate;
use crate::job::Flow;
use crate::{files, text};
use std::path::Path;
use std::time::Instant;

/// Runs what is missing of the table, column by column, and writes `NAME.json` and `NAME.md` after each search.
///
/// # Errors
/// When the protocol is wrong as a whole, or a file cannot be written.
pub fn tabulate(options: &Tabulate, protocol: Protocol, console: &mut dyn Console) -> Result<Ended> {
    let count = options.count.unwrap_or(protocol.instances);
    if count == 0 {
        return Err(Error::argument("count", "0, expected at least 1"));
    }
    let name = options.name.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let [json, md] = ["json", "md"].map(|extension| options.out.join(format!("{name}.{extension}")));
    let new = Table {
        experiment: name,
        version: env!("CARGO_PKG_VERSION").into(),
        seed: options.seed,
        protocol,
        rows: Vec::new(),
        failures: Vec::new(),
        seconds: 0.0,
    };
    let mut table = Table::read(&json, new)?;
    let (begun, before) = (Instant::now(), table.seconds);
    let all = Observation::ALL.into_iter().flat_map(|column| (0..count).map(move |k| (k, column)));
    let missing: Vec<(usize, Observation)> = all.filter(|(k, column)| !table.holds(*k, *column)).collect();
    for (done, (instance, observation)) in missing.iter().copied().enumerate() {
        match Row::search(&table.protocol, options.seed, instance, observation) {
            Ok(row) => table.rows.push(row),
            Err(Error::Interrupted) => return Ok(stopped(&json, console)),
            // The protocol is wrong, not this instance.
            Err(error @ (Error::Argument { .. } | Error::Input { .. } | Error::Write { .. })) => return Err(error),
            Err(error) => table.failures.push(Failure { instance, observation, problem: error.to_string() }),
        }
        table.seconds = before + begun.elapsed().as_secs_f64();
        write(&table, &json, &md)?;
        let part = (done + 1) as f64 / missing.len() as f64;
        if console.fraction(part, begun.elapsed().as_secs_f64()) == Flow::Stop && part < 1.0 {
            return Ok(stopped(&json, console));
        }
    }
    // Of a table that was whole, as its form may have changed.
    write(&table, &json, &md)?;
    console.finish();
    console.print(markdown::text(&table).trim_end());
    console.say(&format!("wrote {} and {}", text::path(&json), text::path(&md)));
    Ok(Ended::Done)
}

fn write(table: &Table, json: &Path, md: &Path) -> Result<()> {
    files::write_json(json, table)?;
    files::write(md, markdown::text(table).as_bytes())
}

fn stopped(json: &Path, console: &mut dyn Console) -> Ended {
    console.finish();
    console.say(&format!("stopped; the same command goes on with {}", text::path(json)));
    Ended::Interrupted
}
