//! What a run has found so far, in a file, so that a run that was cut off goes on where it stopped.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// What the tests say of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The tests of the rows fail.
    Noticed,
    /// These pass, one of the other gradient tests fails.
    NoticedLate,
    /// rustc refuses the table.
    DoesNotCompile,
    /// All tests pass.
    Survives,
}

const NAMES: [(Outcome, &str); 4] = [
    (Outcome::Noticed, "noticed"),
    (Outcome::NoticedLate, "noticed late"),
    (Outcome::DoesNotCompile, "does not compile"),
    (Outcome::Survives, "survives"),
];

impl Outcome {
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(outcome, _)| *outcome == self).map_or("", |(_, name)| name)
    }
}

/// The outcomes of one table, by mutant. A survivor is not kept: a test may have been added since.
pub struct Results {
    path: PathBuf,
    table: String,
    found: HashMap<String, Outcome>,
}

impl Results {
    /// What the file holds, if it is of this `table`.
    pub fn open(path: &Path, table: &str) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let (old, lines) = text.split_once("\n\n").unwrap_or_default();
        let lines = if old == table { lines } else { "" };
        let parse = |line: &str| {
            let (name, what) = line.split_once('\t')?;
            let (outcome, _) = NAMES.iter().find(|(_, n)| *n == name)?;
            (*outcome != Outcome::Survives).then(|| (what.to_owned(), *outcome))
        };
        Self { path: path.to_owned(), table: table.to_owned(), found: lines.lines().filter_map(parse).collect() }
    }

    pub fn get(&self, what: &str) -> Option<Outcome> {
        self.found.get(what).copied()
    }

    /// Adds one outcome, in the file too.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&mut self, what: &str, outcome: Outcome) -> Result<()> {
        self.found.insert(what.to_owned(), outcome);
        let mut lines: Vec<(&String, &Outcome)> = self.found.iter().collect();
        lines.sort_by_key(|(what, _)| *what);
        let mut text = format!("{}\n\n", self.table);
        for (what, outcome) in lines {
            writeln!(text, "{}\t{what}", outcome.name())?;
        }
        std::fs::write(&self.path, text).with_context(|| format!("writing {}", self.path.display()))
    }
}
