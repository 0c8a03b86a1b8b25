//! Makes a table, and goes on with one that was begun.

use super::catalogue::{Named, find};
use super::fit::MOST;
use super::markdown;
use super::method::Method;
use super::protocol::Protocol;
use super::row::Row;
use super::table::{COLUMNS, Searched, Table};
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended};
use crate::job::Flow;
use crate::{files, text};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
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
    /// When there is no such experiment, it is wrong as a whole, no search of it succeeds, or a file cannot be written.
    pub fn run(&self, console: &mut dyn Console) -> Result<Ended> {
        let Named { name, protocol } = find(&self.name)?;
        let count = self.count.unwrap_or(protocol.instances);
        let search = |protocol: &Protocol, instance, column| {
            Row::search(protocol, self.seed, instance, column, Method::Lm, MOST)
        };
        fill(self, Table::new(name, self.seed, protocol), (count, &COLUMNS), search, markdown::text, console)
    }
}

/// Runs what is missing of a table of `count` instances, column by column, so that what counts most is there first, and writes `NAME.json` and `NAME.md` after each
/// search.
///
/// # Errors
/// When the experiment is wrong as a whole, no search of it succeeds, or a file cannot be written.
pub(crate) fn fill<P: Clone + PartialEq + Serialize + DeserializeOwned, R: Searched>(
    options: &Tabulate,
    new: Table<P, R>,
    (count, columns): (usize, &[R::Column]),
    search: impl Fn(&P, usize, R::Column) -> Result<R>,
    text_of: impl Fn(&Table<P, R>) -> String,
    console: &mut dyn Console,
) -> Result<Ended> {
    if count == 0 {
        return Err(Error::argument("count", "0, expected at least 1"));
    }
    let [json, md] = ["json", "md"].map(|extension| options.out.join(format!("{}.{extension}", new.experiment)));
    let write = |table: &Table<P, R>| {
        files::write_json(&json, table)?;
        files::write(&md, text_of(table).as_bytes())
    };
    let stopped = |console: &mut dyn Console| {
        console.finish();
        console.say(&format!("stopped; the same command goes on with {}", text::path(&json)));
        Ended::Interrupted
    };
    let mut table = Table::read(&json, new)?;
    let (begun, before) = (Instant::now(), table.seconds);
    let all = columns.iter().flat_map(|column| (0..count).map(move |k| (k, *column)));
    let missing: Vec<(usize, R::Column)> = all.filter(|(k, column)| !table.holds(*k, *column)).collect();
    for (done, &(instance, column)) in missing.iter().enumerate() {
        match search(&table.protocol, instance, column) {
            Ok(row) => table.rows.push(row),
            Err(Error::Interrupted) => return Ok(stopped(console)),
            // The experiment is wrong, not this instance.
            Err(error @ (Error::Argument { .. } | Error::Input { .. } | Error::Write { .. })) => return Err(error),
            Err(error) => table.failures.push((instance, R::named(column), error.to_string())),
        }
        table.seconds = before + begun.elapsed().as_secs_f64();
        write(&table)?;
        let part = (done + 1) as f64 / missing.len() as f64;
        if console.fraction(part, begun.elapsed().as_secs_f64()) == Flow::Stop && part < 1.0 {
            return Ok(stopped(console));
        }
    }
    // Of a table that was whole, as its form may have changed.
    write(&table)?;
    console.finish();
    console.print(text_of(&table).trim_end());
    console.say(&format!("wrote {} and {}", text::path(&json), text::path(&md)));
    match table.failures.first() {
        Some((instance, column, message)) if table.rows.is_empty() => {
            let problem =
                format!("no search of {} succeeded; instance {instance}, {column}: {message}", table.experiment);
            Err(Error::Compute(problem))
        }
        Some(_) | None => Ok(Ended::Done),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Quiet;
    use serde::Deserialize;

    /// A search of which nothing but its instance is kept.
    #[derive(Serialize, Deserialize)]
    struct Done(usize);

    impl Searched for Done {
        type Column = u8;

        fn place(&self) -> (usize, u8) {
            (self.0, 0)
        }

        fn named(column: u8) -> String {
            column.to_string()
        }
    }

    #[test]
    fn a_table_without_any_success_is_written_and_an_error() -> Result<()> {
        let out = std::env::temp_dir().join(format!("diffkern-tabulate-{}", std::process::id()));
        let options = Tabulate { name: "toy".into(), count: None, seed: 0, out: out.clone() };
        let run = |count: usize| {
            let search = |_: &u8, k: usize, _: u8| match k {
                0 | 1 => Err(Error::Compute("it fell".into())),
                _ => Ok(Done(k)),
            };
            let text = |_: &Table<u8, Done>| String::new();
            fill(&options, Table::<u8, Done>::new("toy".into(), 0, 7), (count, &[0u8]), search, text, &mut Quiet)
        };
        let said = run(2).map_err(|error| (error.exit_code(), error.to_string()));
        assert!(said.as_ref().is_err_and(|(code, s)| *code == 1 && s.ends_with("instance 0, 0: it fell")), "{said:?}");
        assert!(out.join("toy.json").is_file() && out.join("toy.md").is_file());
        // One that succeeds is enough.
        assert_eq!(run(3)?, Ended::Done);
        files::remove(&out)
    }
}
