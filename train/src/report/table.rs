//! Answers as lines of text.

use crate::job::{Ending, Gradcheck, Outcome, Parameter, TrackFit, Values};
use crate::text::path;
use std::path::{Path, PathBuf};

/// The table of parameters, the loss, and the files, of a search that took so many seconds and wrote to `folder`.
pub fn finished(outcome: &Outcome, seconds: f64, files: &[PathBuf], folder: &Path) -> Vec<String> {
    let head = ["parameter", "unit", "initial", "found", "95 % interval"].map(str::to_owned);
    let mut lines = columns(&std::iter::once(head).chain(outcome.parameters.iter().map(row)).collect::<Vec<_>>());
    lines.push(String::new());
    lines.extend(loss(outcome));
    if outcome.viscosity != 0.0 {
        lines.push(format!("fitted along: viscosity beside the scene's, {} Pa s", number(outcome.viscosity)));
    }
    let d = outcome.discretisation;
    let distance = |track: &TrackFit| format!("{}: {:.3e} m from what was measured", track.name, track.distance);
    lines.extend(outcome.tracks.iter().map(distance));
    let iou = outcome.iou.map(|iou| format!("silhouette IoU {iou:.4}, ")).unwrap_or_default();
    let outlines = outcome.outlines.map(|off| format!("outlines off by {off:.2} pixels, ")).unwrap_or_default();
    lines.push(format!(
        "{iou}{outlines}{} iterations, {:.1} s, {}, grid {:.3e} m, step {:.3e} s, {} {}",
        outcome.iterations,
        seconds,
        d.simulator.name(),
        d.dx,
        d.dt,
        d.elements,
        d.simulator.elements()
    ));
    let [coarse, fine] = outcome.runs.map(|runs| runs.walks());
    lines.push(format!("simulator: {coarse} walks over all steps on the coarse grid, {fine} on the final one"));
    // Without files, there is nothing of this run to go on with.
    lines.extend(ending(outcome.ending, folder).filter(|_| !files.is_empty()));
    lines.extend(files.iter().map(|file| format!("wrote {}", path(file))));
    lines
}

fn row(parameter: &Parameter) -> [String; 5] {
    let interval = match parameter.interval {
        None => "not computed".into(),
        Some((low, high)) if parameter.determined => format!("{} to {}", number(low), number(high)),
        Some((low, high)) => {
            format!("{} to {}: this video cannot tell it", number(low), number(high))
        }
    };
    let (initial, found) = (number(parameter.initial), number(parameter.found));
    [parameter.name.to_string(), parameter.unit.clone(), initial, found, interval]
}

fn loss(outcome: &Outcome) -> Option<String> {
    let to = outcome.loss?;
    let Some(from) = outcome.loss_initial else { return Some(format!("loss {to:.4e}")) };
    let change = 100.0 * (to / from - 1.0);
    let change = if change.is_finite() { format!(" ({change:+.2} %)") } else { String::new() };
    Some(format!("loss {from:.4e} -> {to:.4e}{change}"))
}

fn ending(ending: Ending, folder: &Path) -> Option<String> {
    let resume = format!("diffkern resume {}", path(folder));
    match ending {
        Ending::Converged => None,
        Ending::MaxIterations => {
            Some(format!("ended by the limit of iterations; go on with: {resume} --max-iterations N"))
        }
        Ending::Interrupted => Some(format!("stopped; go on with: {resume}")),
    }
}

/// Six digits that count.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = (5 - value.abs().max(1e-12).log10().floor() as i32).clamp(0, 12);
    format!("{value:.*}", digits as usize)
}

/// The directions of a gradient check.
pub fn gradient(check: &Gradcheck) -> Vec<String> {
    let mut lines = vec![format!(
        "gradient of the whole program against central differences: {} {}, {} steps, {} frames",
        check.discretisation.elements,
        check.discretisation.simulator.elements(),
        check.steps,
        check.frames
    )];
    let head = ["seed", "at", "adjoint", "forward mode", "differences", "error", "Taylor rate", "without gradient"];
    let rows = check.directions.iter().map(|d| {
        let derivatives = [d.analytic, d.forward, d.numeric].map(|v| format!("{v:.9e}"));
        let [adjoint, forward, numeric] = derivatives;
        let (rate, without) = (format!("{:.3}", d.taylor_rate), format!("{:.3}", d.taylor_rate_without));
        [d.seed.to_string(), values(&d.at), adjoint, forward, numeric, format!("{:.1e}", d.error), rate, without]
    });
    lines.extend(columns(&std::iter::once(head.map(str::to_owned)).chain(rows).collect::<Vec<_>>()));
    lines.extend(check.kinks.iter().map(|kink| {
        format!(
            "seed {}: {} is at a kink, the one-sided derivatives are {:.9e} and {:.9e}: differences say nothing, drawn again",
            kink.seed,
            values(&kink.at),
            kink.left,
            kink.right
        )
    }));
    let verdict = if check.passed { "passed" } else { "FAILED" };
    lines.push(format!("gradient check {verdict}, bound {:.1e}", check.bound));
    lines.push(String::new());
    lines
}

fn values(values: &Values) -> String {
    values.iter().map(|(name, value)| format!("{name}={}", number(*value))).collect::<Vec<_>>().join(" ")
}

/// Rows of cells, each column as wide as its widest.
pub fn columns<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let widths: Vec<usize> = (0..N).map(|c| rows.iter().map(|r| r[c].len()).max().unwrap_or(0)).collect();
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
