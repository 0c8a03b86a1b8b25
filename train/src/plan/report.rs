//! A ranking, for people and programs.

use super::ranking::{Ranked, Ranking};
use crate::identify::{NOISE, Together, Told};
use serde_json::{Value, json};

/// For people: a table, what each design is, and pairs that are told together.
pub(crate) fn lines(ranking: &Ranking) -> Vec<String> {
    let Some(first) = ranking.0.first() else { return Vec::new() };
    let head: Vec<String> = first.told.iter().map(unit).collect();
    let mut rows = vec![format!("| design | narrower | {} |", head.join(" | "))];
    rows.push(format!("|---|---|{}", "---|".repeat(head.len())));
    for Ranked { design, told, gain, .. } in &ranking.0 {
        let cells: Vec<String> = told.iter().map(half).collect();
        rows.push(format!("| {} | {gain:.2}x | {} |", design.about, cells.join(" | ")));
    }
    rows.push(String::new());
    rows.push(format!(
        "halves of 95 % intervals where differences of pixels are {NOISE} of white and independent, and those of two grids are in the model; what a scene lacks makes them wider, less so their ratios"
    ));
    let untold = |told: &&Told| !told.tells;
    let names: Vec<String> = first.told.iter().filter(untold).map(|told| told.name.to_string()).collect();
    if !names.is_empty() {
        rows.push(format!("the scene as it is cannot tell {}", names.join(", ")));
    }
    let pairs = first.together.iter();
    rows.extend(pairs.map(|pair| format!("the scene as it is tells {pair}, much better than each of the two")));
    rows
}

fn unit(told: &Told) -> String {
    match told.relative {
        true => format!("{} [%]", told.name),
        false => format!("{} [{}]", told.name, told.name.unit()),
    }
}

fn half(told: &Told) -> String {
    let value = if told.relative { 100.0 * told.half } else { told.half };
    let text = format!("{value:.3}");
    if told.tells { text } else { format!("{text} (cannot tell)") }
}

/// For programs.
pub(crate) fn record(ranking: &Ranking) -> Value {
    let told =
        |told: &Told| json!({"name": told.name, "half": told.half, "relative": told.relative, "tells": told.tells});
    let pair = |pair: &Together| json!({"names": pair.names, "power": pair.power, "half": pair.half});
    let one = |ranked: &Ranked| {
        json!({
            "design": ranked.design.name,
            "about": ranked.design.about,
            "narrower": ranked.gain,
            "unknowns": ranked.told.iter().map(told).collect::<Vec<_>>(),
            "together": ranked.together.iter().map(pair).collect::<Vec<_>>(),
        })
    };
    json!({"noise": NOISE, "designs": ranking.0.iter().map(one).collect::<Vec<_>>()})
}
