//! The table for people.

use super::observation::{Observation, Sought, Supervision};
use super::protocol::Protocol;
use super::row::{self, Row};
use super::table::Table;
use std::fmt::Write as _;

/// The whole table.
pub(super) fn text(table: &Table) -> String {
    let protocol = &table.protocol;
    let instances = table.rows.iter().map(|row| row.instance + 1).max().unwrap_or(0);
    let mut text = format!("# {}\n\n{}. ", table.experiment, capital(&protocol.about));
    let _ = writeln!(
        text,
        "{instances} of {} instances, seed {}, diffkern {}; made by `diffkern table {} --seed {}` in {:.0} s. Errors are relative to the truth.\n",
        protocol.instances, table.seed, table.version, table.experiment, table.seed, table.seconds
    );
    text += "| sought | observed | mean | median | worst | searches | not determined | failed | mean where the search began | published mean |\n";
    text += "|---|---|---|---|---|---|---|---|---|---|\n";
    for (sought, quantity) in
        [(Sought::Numbers, "mass"), (Sought::Numbers, "mu"), (Sought::Numbers, "lambda"), (Sought::Field, "mass")]
    {
        let name = if sought == Sought::Field { "mass of each element" } else { quantity };
        for column in columns(sought) {
            let line = line(table, column, quantity);
            let _ = writeln!(
                text,
                "| {name} | {} | {line} | {:.4} |",
                column.name(),
                published(protocol, column, quantity)
            );
        }
    }
    text + &even(table) + &kinds(table) + &costs(table) + &said(protocol) + &table.failures()
}

/// The columns of what is sought: states, then images.
fn columns(sought: Sought) -> impl Iterator<Item = Observation> {
    Observation::ALL.into_iter().filter(move |column| column.sought == sought)
}

fn rows(table: &Table, column: Observation) -> impl Iterator<Item = &Row> {
    table.rows.iter().filter(move |row| row.observation == column)
}

fn errors<'a>(table: &'a Table, column: Observation, quantity: &'a str) -> impl Iterator<Item = &'a row::Error> {
    rows(table, column).flat_map(|row| &row.errors).filter(move |error| error.quantity == quantity)
}

fn line(table: &Table, column: Observation, quantity: &str) -> String {
    let mut sorted: Vec<f64> = errors(table, column, quantity).map(|e| e.error).collect();
    sorted.sort_by(f64::total_cmp);
    let (n, failed) = (sorted.len(), table.failed(column));
    if n == 0 {
        return format!("- | - | - | 0 | - | {failed} | -");
    }
    let median = 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]);
    let undetermined = errors(table, column, quantity).filter(|e| !e.determined).count();
    let before = mean(errors(table, column, quantity).map(|e| e.before));
    format!(
        "{:.5} | {median:.5} | {:.5} | {n} | {undetermined} | {failed} | {before:.3}",
        mean(sorted.iter().copied()),
        sorted[n - 1]
    )
}

/// What a field that is even would be off, though its mass were right.
fn even(table: &Table) -> String {
    let all: Vec<f64> = table.rows.iter().flat_map(|row| &row.errors).filter_map(|error| error.even).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(
            "\nOf the fields, the true mass of the body spread evenly over its elements is off by {:.3} in the mean; elements were {:.0} in the mean, found by {:.0} coordinates.\n",
            mean(all.iter().copied()),
            mean(fields(table).map(|row| row.elements as f64)),
            mean(fields(table).map(|row| row.coordinates as f64))
        ),
    }
}

fn fields(table: &Table) -> impl Iterator<Item = &Row> {
    table.rows.iter().filter(|row| row.observation.sought == Sought::Field)
}

/// Mean errors of each kind of body.
fn kinds(table: &Table) -> String {
    let mut text = String::from("\nMeans by kind:\n\n| sought | observed |");
    for kind in &table.protocol.kinds {
        let _ = write!(text, " {} |", kind.name);
    }
    text += &format!("\n|---|---|{}\n", "---|".repeat(table.protocol.kinds.len()));
    for (sought, quantity) in
        [(Sought::Numbers, "mass"), (Sought::Numbers, "mu"), (Sought::Numbers, "lambda"), (Sought::Field, "mass")]
    {
        let name = if sought == Sought::Field { "mass of each element" } else { quantity };
        for column in columns(sought).filter(|column| rows(table, *column).next().is_some()) {
            let _ = write!(text, "| {name} | {} |", column.name());
            for kind in &table.protocol.kinds {
                let own = rows(table, column).filter(|row| row.kind == kind.name).flat_map(|row| &row.errors);
                let own: Vec<f64> = own.filter(|error| error.quantity == quantity).map(|error| error.error).collect();
                let cell = if own.is_empty() { "-".into() } else { format!("{:.5}", mean(own.iter().copied())) };
                let _ = write!(text, " {cell} |");
            }
            text += "\n";
        }
    }
    text
}

fn costs(table: &Table) -> String {
    let mut text = String::from(
        "\n| sought | observed | iterations, mean | most | residual, root of the mean square | seconds a search |\n|---|---|---|---|---|---|\n",
    );
    for column in Observation::ALL.into_iter().filter(|column| rows(table, *column).next().is_some()) {
        let most = rows(table, column).map(|row| row.iterations).max().unwrap_or(0);
        let unit = if column.supervision == Supervision::State { " m" } else { "" };
        let name = if column.sought == Sought::Field { "mass of each element" } else { "mass, mu, lambda" };
        let _ = writeln!(
            text,
            "| {name} | {} | {:.1} | {most} | {:.2e}{unit} | {:.1} |",
            column.name(),
            mean(rows(table, column).map(|row| row.iterations as f64)),
            mean(rows(table, column).map(|row| row.residual)),
            mean(rows(table, column).map(|row| row.seconds))
        );
    }
    text
}

/// How it was done.
fn said(protocol: &Protocol) -> String {
    let mut text = String::from("\n## Protocol\n\n");
    let range = |(low, high): (f64, f64)| format!("{low:.3e} to {high:.3e}");
    let _ = writeln!(
        text,
        "Instance `k` is of kind `k` modulo {}. Drawn evenly by their logarithms: mu {} Pa, lambda {} Pa, density {} kg/m^3; a search for numbers starts at another draw, and where it \
         leaves residuals above five deviations also from the middles of the ranges. Iterations count all. \
         The law is the compressible neo-Hookean one, the solver finite elements on a lattice of quadratic splines. Motions begin at rest but for a throw, under gravity {:?} m/s^2 and known forces, \
         which act as `sin^2` in the first {} parts of the motion (1 is all of it): without them mass and moduli would show by their ratio alone.\n",
        protocol.kinds.len(),
        range(protocol.mu),
        range(protocol.lambda),
        range(protocol.density),
        protocol.gravity,
        protocol.acting
    );
    let _ = writeln!(
        text,
        "The observed motion has {} times as many cells along each axis as the search and the shorter steps that these ask for, so its model is another one. {} frames: silhouettes of {} x {} pixels, of \
         8 bits or as floats, or states, the places of the vertices of the surface and of points inside. It is observed in double precision, searched in single.\n",
        protocol.finer, protocol.frames, protocol.camera.width, protocol.camera.height
    );
    let _ = writeln!(
        text,
        "Fields: logarithms of densities are Gaussian with a standard deviation of {} and a covariance `exp(-r^2 / 2 l^2)`, `l` {} of the longest side, about a mean that is drawn as a density is. The search has \
         the same covariance as its prior, the mean free with a deviation of 1 about the middle of the range, and takes residuals for independent with {} m (states) and {} (pixels); moduli are known. The error of a \
         field is the mean over elements of the relative error of the mass of each; so is that of where the search began, the middle of the range everywhere.\n",
        protocol.field.deviation, protocol.field.length, protocol.trust.state, protocol.trust.image
    );
    text += "Published: gradSim (Jatavallabhula et al., ICLR 2021), Table 3, deformable solids: masses of particles, mu and lambda, from images and from states.\n";
    text
}

/// The published mean of what a column observes.
fn published(protocol: &Protocol, column: Observation, quantity: &str) -> f64 {
    let of = match quantity {
        "mass" => protocol.published.mass,
        "mu" => protocol.published.mu,
        _ => protocol.published.lambda,
    };
    if column.supervision == Supervision::Image { of.image } else { of.state }
}

fn mean(of: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = of.fold((0.0, 0usize), |(sum, count), x| (sum + x, count + 1));
    sum / count.max(1) as f64
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
