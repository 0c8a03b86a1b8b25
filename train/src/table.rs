//! Tables of numbers: columns of a CSV file by their names.

use crate::error::{Error, Place, Result};
use crate::input;
use crate::text::quoted;
use std::path::{Path, PathBuf};

/// How far a row may be from its time, as part of the time from row to row.
const EVEN: f64 = 1e-2;

/// The columns of a file that were asked for, and nothing but finite numbers in them.
#[derive(Debug)]
pub(crate) struct Table {
    file: PathBuf,
    names: Vec<String>,
    /// Line of each row, from 1.
    lines: Vec<usize>,
    /// Numbers of each row, in the order of the names.
    pub(crate) rows: Vec<Vec<f64>>,
}

impl Table {
    /// Reads the columns `names`; others are left out.
    ///
    /// # Errors
    /// Names the column that is not there, or the line and column of what is no finite number.
    pub(crate) fn read<S: AsRef<str>>(file: &Path, names: &[S]) -> Result<Self> {
        let names: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
        let mut table = Self { file: file.into(), names, lines: Vec::new(), rows: Vec::new() };
        let text = input::text(file, input::TABLE)?;
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let wrong = |e: csv::Error| Error::file(file, format!("{e}, expected a table of commas"));
        let head = reader.headers().map_err(wrong)?.clone();
        let place = |name: &String| {
            let there = || quoted(&head.iter().collect::<Vec<_>>().join(", "));
            head.iter().position(|column| column == name).ok_or_else(|| {
                let problem = format!("there is no such column, only {}; expected {}", there(), table.names.join(", "));
                at(file, 1, name, problem)
            })
        };
        let places: Vec<usize> = table.names.iter().map(place).collect::<Result<_>>()?;
        for record in reader.records() {
            let record = record.map_err(wrong)?;
            let line = record.position().map_or(0, |at| at.line() as usize);
            let value = |(name, &place): (&String, &usize)| {
                let cell = record.get(place).unwrap_or_default();
                let value = cell.parse().ok().filter(|value: &f64| value.is_finite());
                value.ok_or_else(|| at(file, line, name, format!("{}, expected a finite number", quoted(cell))))
            };
            let row = table.names.iter().zip(&places).map(value).collect::<Result<_>>()?;
            table.rows.push(row);
            table.lines.push(line);
        }
        Ok(table)
    }

    /// The time from row to row, where the first column is the time \[s\], of at least `fewest` rows.
    ///
    /// # Errors
    /// When there are fewer rows, or times are not at equal distances.
    pub(crate) fn interval(&self, fewest: usize) -> Result<f64> {
        let count = self.rows.len();
        if count < fewest.max(2) {
            return Err(Error::file(&self.file, format!("{count} frames, expected at least {}", fewest.max(2))));
        }
        let time = |k: usize| self.rows[k][0] - self.rows[0][0];
        let dt = time(count - 1) / (count - 1) as f64;
        let even = |k: usize| (time(k) - k as f64 * dt).abs() <= EVEN * dt;
        match (0..count).find(|&k| dt <= 0.0 || !even(k)) {
            Some(k) => Err(self.wrong(k, 0, format!("{}, expected frames at equal distances", self.rows[k][0]))),
            None => Ok(dt),
        }
    }

    /// What is wrong with a number, by row and column.
    pub(crate) fn wrong(&self, row: usize, column: usize, problem: String) -> Error {
        at(&self.file, self.lines[row], &self.names[column], problem)
    }
}

fn at(file: &Path, line: usize, field: &str, problem: String) -> Error {
    let place = Place { line: Some((line, 1)), field: Some(field.to_owned()) };
    Error::Input { file: file.into(), place, problem }
}
