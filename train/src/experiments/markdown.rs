//! A table for people.

use super::method;
use super::observation::Observation;
use super::program::Supervision;
use super::protocol::{Protocol, Published};
use super::quantity::{Quantity, Unknown};
use super::row::{Number, Row};
use super::table::{self, COLUMNS};
use std::fmt::Write as _;

type Table = table::Table<Protocol, Row>;

/// Errors of one number in one column.
struct Errors {
    sorted: Vec<f64>,
    absolute: f64,
    undetermined: usize,
    held: usize,
}

impl Errors {
    fn of(table: &Table, quantity: Quantity, column: Observation) -> Self {
        let numbers: Vec<&Number> = rows(table, column)
            .flat_map(|row| row.numbers.iter().filter(|number| number.quantity == quantity))
            .collect();
        let mut sorted: Vec<f64> = numbers.iter().map(|number| number.error()).collect();
        sorted.sort_by(f64::total_cmp);
        Self {
            absolute: mean(&numbers.iter().map(|n| (n.found - n.truth).abs()).collect::<Vec<_>>()),
            undetermined: numbers.iter().filter(|number| !number.determined).count(),
            held: numbers.iter().filter(|number| number.holds()).count(),
            sorted,
        }
    }

    fn cells(&self) -> String {
        let n = self.sorted.len();
        if n == 0 {
            return "| - | - | - | - | - | - ".into();
        }
        let (median, worst) = (0.5 * (self.sorted[(n - 1) / 2] + self.sorted[n / 2]), self.sorted[n - 1]);
        let (mean, absolute) = (mean(&self.sorted), self.absolute);
        format!(
            "| {mean:.2e} | {median:.2e} | {worst:.2e} | {absolute:.2e} | {} of {n} | {} of {n} ",
            self.undetermined, self.held
        )
    }
}

/// The whole table.
pub(super) fn text(table: &Table) -> String {
    let mut text = format!("# {}\n\n{}. ", table.experiment, sentence(&table.protocol.about));
    let instances = table.rows.iter().map(|row| row.instance + 1).max().unwrap_or(0);
    let _ = writeln!(
        text,
        "{instances} instances, seed {}, diffkern {}; made by `diffkern table {} --seed {}` in {:.0} s. Errors are relative to the truth.\n",
        table.seed, table.version, table.experiment, table.seed, table.seconds
    );
    text += "| unknown | observed | mean | median | worst | mean, absolute | not determined | truth in its interval | published mean |\n";
    text += "|---|---|---|---|---|---|---|---|---|\n";
    for Unknown { quantity, .. } in &table.protocol.unknowns {
        for column in &COLUMNS {
            let cells = Errors::of(table, *quantity, *column).cells();
            let published = published(table, *quantity).map_or("-".into(), |p| beside(p, *column));
            let _ = writeln!(text, "| {} | {} {cells}| {published} |", quantity.name(), column.name());
        }
    }
    text += "\n| observed | iterations, mean | most | starts, most | not explained | failed | seconds a search |\n|---|---|---|---|---|---|---|\n";
    for column in &COLUMNS {
        if rows(table, *column).next().is_none() {
            continue;
        }
        let of = |get: fn(&Row) -> f64| rows(table, *column).map(get).collect::<Vec<_>>();
        let iterations = of(|row| row.iterations as f64);
        let (most, starts) = (largest(&iterations), largest(&of(|row| row.starts as f64)));
        let elsewhere = rows(table, *column).filter(|row| !row.explained).count();
        let failed = table.failed(*column);
        let (iterations, seconds) = (mean(&iterations), mean(&of(|row| row.seconds)));
        let _ = writeln!(
            text,
            "| {} | {iterations:.1} | {most} | {starts} | {elsewhere} | {failed} | {seconds:.2} |",
            column.name()
        );
    }
    text + &guessed(table) + &quoted(table) + &table.failures()
}

/// What is reached by guesses: the mean of what is drawn, and the starts, which are drawn as the truths are.
fn guessed(table: &Table) -> String {
    let mut text = String::from(
        "\nGuesses, mean relative errors:\n\n| unknown | average of the range | random |\n|---|---|---|\n",
    );
    let Some(column) = COLUMNS.first() else { return text };
    for unknown in &table.protocol.unknowns {
        let numbers =
            rows(table, *column).flat_map(|row| row.numbers.iter().filter(|n| n.quantity == unknown.quantity));
        let errors: Vec<[f64; 2]> =
            numbers.map(|n| [method::mean(unknown), n.start].map(|guess| (guess / n.truth - 1.0).abs())).collect();
        let [average, random] = [0, 1].map(|k| mean(&errors.iter().map(|e| e[k]).collect::<Vec<_>>()));
        let _ = writeln!(text, "| {} | {average:.4} | {random:.4} |", unknown.quantity.name());
    }
    text
}

/// What others reach without a gradient, as it was published.
fn quoted(table: &Table) -> String {
    if table.protocol.published.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\nPublished (Jatavallabhula et al., gradSim, ICLR 2021), mean relative errors:\n\n\
         | unknown | average | random | ConvLSTM | PyBullet with REINFORCE | gradSim, image | gradSim, state |\n|---|---|---|---|---|---|---|\n",
    );
    for p in &table.protocol.published {
        let reinforce = p.reinforce.map_or("-".into(), |x| x.to_string());
        let name = p.quantity.name();
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {reinforce} | {:.2e} | {:.2e} |",
            p.average, p.random, p.conv_lstm, p.image, p.state
        );
    }
    text
}

fn published(table: &Table, quantity: Quantity) -> Option<&Published> {
    table.protocol.published.iter().find(|published| published.quantity == quantity)
}

/// The published mean of what a column observes.
fn beside(published: &Published, column: Observation) -> String {
    let (relative, absolute) = match column.supervision {
        Supervision::Image => (published.image, published.image_absolute),
        Supervision::State => (published.state, published.state_absolute),
        Supervision::Com => return "-".into(),
    };
    let unit = published.quantity.unit();
    absolute.map_or(format!("{relative:.2e}"), |absolute| format!("{relative:.2e} ({absolute:.2e} {unit})"))
}

fn rows(table: &Table, column: Observation) -> impl Iterator<Item = &Row> {
    table.rows.iter().filter(move |row| row.observation == column)
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len().max(1) as f64
}

fn largest(of: &[f64]) -> f64 {
    of.iter().fold(0.0, |most, x| most.max(*x))
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
