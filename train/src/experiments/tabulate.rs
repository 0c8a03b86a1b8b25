//! Makes a table, and goes on with one that was begun.

use super::catalogue::{Named, find};
use super::fit::MOST;
use super::markdown;
use super::method::Method;
use super::observation::Observation;
use super::row::Row;
use super::table::Table;
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended};
use crate::job::Flow;
use crate::{files, text};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A table of an experiment.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Tabulate {
    /// Name of the experiment, or its RON file.
    pub name: PathBuf,
    /// Instances [default: those of the experiment].
    #[arg(long, value_name = "N")]
    pub count: Option<usize>,
    /// Seed of what is drawn.
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Folder of the table; one that was begun there is gone on with.
    #[arg(long, value_name = "DIR", default_value = "out/tables")]
    pub out: PathBuf,
}

impl Tabulate {
    /// Runs what is missing, and writes `NAME.json` and `NAME.md` after each search.
    ///
    /// # Errors
    /// When there is no such experiment, it is wrong as a whole, or a file cannot be written.
    pub fn run(&self, console: &mut dyn Console) -> Result<Ended> {
        let Named { name, protocol } = find(&self.name)?;
        let count = self.count.unwrap_or(protocol.instances);
        if count == 0 {
            return Err(Error::argument("count", "0, expected at least 1"));
        }
        let [json, md] = ["json", "md"].map(|extension| self.out.join(format!("{name}.{extension}")));
        let new = Table {
            experiment: name,
            version: env!("CARGO_PKG_VERSION").into(),
            seed: self.seed,
            protocol,
            rows: Vec::new(),
            failures: Vec::new(),
            seconds: 0.0,
        };
        let mut table = Table::read(&json, new)?;
        let (begun, before) = (Instant::now(), table.seconds);
        // Column by column: what counts most is there first.
        let all = Table::columns().iter().flat_map(|column| (0..count).map(move |k| (k, *column)));
        let missing: Vec<(usize, Observation)> = all.filter(|(k, column)| !table.holds(*k, *column)).collect();
        for (done, (instance, column)) in missing.iter().enumerate() {
            match Row::search(&table.protocol, self.seed, *instance, *column, Method::Lm, MOST) {
                Ok(row) => table.rows.push(row),
                Err(Error::Interrupted) => return Ok(stopped(&json, console)),
                // The experiment is wrong, not this instance.
                Err(error @ (Error::Argument { .. } | Error::Input { .. } | Error::Write { .. })) => return Err(error),
                Err(error) => table.failures.push((*instance, column.name(), error.to_string())),
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
