//! The table of a study.

use super::scene::Twin;
use super::study::{Curve, Study};
use std::fmt::Write as _;

/// The text of a table.
pub(super) fn text(study: &Study) -> String {
    let Study { name, plan, .. } = study;
    let (outcome, unit, more) = plan.outcome();
    let both = plan.twins().len() > 1;
    let mut out = format!("# {name}: {}\n\n", plan.about);
    let kinds = match both {
        true => " with impacts at their time, and as many with impacts for whole steps",
        false => "",
    };
    let _ = writeln!(
        out,
        "{} {} evaluations with a gradient after the first, {} searches from different controls{kinds}. In the table: {outcome}.\n",
        plan.source, plan.iterations, plan.seeds
    );
    let marks = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000];
    let marks: Vec<usize> = marks.into_iter().filter(|&k| k < plan.iterations).chain([plan.iterations]).collect();
    let heads: String = marks.iter().map(|k| format!(" after {k} |")).collect();
    let (impacts, judged) = if both { ("| impacts ", " best, with impacts at their time |") } else { ("", "") };
    let rule = "---|".repeat(marks.len() + if both { 4 } else { 2 });
    let _ = writeln!(out, "{impacts}| seed |{heads} best |{judged}\n|{rule}");
    for Curve { twin, seed, outcome, best, true_outcome, .. } in &study.curves {
        let cells: String = marks.iter().map(|&k| format!(" {:.4} |", outcome[k])).collect();
        let _ = match both {
            true => writeln!(out, "| {} | {seed} |{cells} {best:.4} | {true_outcome:.4} |", twin.name()),
            false => writeln!(out, "| {seed} |{cells} {best:.4} |"),
        };
    }
    let of = |twin: Twin| {
        let ends: Vec<f64> = study.of(twin).map(|curve| curve.true_outcome).collect();
        let worst =
            ends.iter().copied().fold(if more { f64::INFINITY } else { 0.0 }, if more { f64::min } else { f64::max });
        (ends.iter().sum::<f64>() / ends.len().max(1) as f64, worst)
    };
    let (mean, worst) = of(Twin::TimeOfImpact);
    let found = if both {
        let (other, least) = of(Twin::Naive);
        format!(
            ", with impacts at their time: {mean:.4} and {worst:.4} {unit} by searches at the time of impact, {other:.4} and {least:.4} {unit} by naive ones"
        )
    } else {
        format!(": {mean:.4} and {worst:.4} {unit}")
    };
    let _ = writeln!(out, "\nMean and worst of the controls found{found}. [Curves]({name}.png).");
    out
}
