//! Reference losses and gradients in f64, made by another framework (`golden/`).

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::harness::Gradients;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// Workloads with one group of inputs only.
const WITHOUT_B: [&str; 1] = ["w5"];

/// The small case of a workload: `loss X`, then `ga ROWS COLUMNS` and its numbers, then `gb ROWS COLUMNS`.
pub fn small(id: &str) -> Result<Gradients> {
    let path = folder().join(format!("{id}_small.txt"));
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut result = Gradients { loss: f64::NAN, a: Vec::new(), b: Vec::new() };
    let mut into_b = false;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.clone().next() {
            Some("loss") => result.loss = words.nth(1).context("a number after `loss`")?.parse()?,
            Some("ga") => into_b = false,
            Some("gb") if WITHOUT_B.contains(&id) => break,
            Some("gb") => into_b = true,
            Some("final") => break,
            Some(word) if word.parse::<f64>().is_ok() => {
                let target = if into_b { &mut result.b } else { &mut result.a };
                for word in words.by_ref() {
                    target.push(word.parse()?);
                }
            }
            _ => {}
        }
    }
    let all_there = !result.a.is_empty() && result.b.is_empty() == WITHOUT_B.contains(&id);
    ensure!(all_there, "{}: no gradients in it", path.display());
    Ok(result)
}

/// The full case, where it is kept.
pub fn full(id: &str) -> Result<Option<Gradients>> {
    let read = |name: &str| -> Result<Option<Vec<f64>>> {
        let path = folder().join(format!("{id}_full_{name}.f64"));
        if !path.exists() {
            return Ok(None);
        }
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let doubles = bytes.chunks_exact(8).map(|c| {
            let mut word = [0; 8];
            word.copy_from_slice(c);
            f64::from_le_bytes(word)
        });
        Ok(Some(doubles.collect()))
    };
    let loss = match id {
        "w1" => 0.135497887264,
        "w2" => 0.123416676286,
        "w5" => 0.166808577787,
        "w6" => 0.0550396434005,
        "w7" => 0.0553313383649,
        _ => 0.701870186454,
    };
    let b = if WITHOUT_B.contains(&id) { Some(Vec::new()) } else { read("gb")? };
    Ok(read("ga")?.zip(b).map(|(a, b)| Gradients { loss, a, b }))
}

pub fn norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Relative errors, of the gradients in the Euclidean norm; null where there is no gradient.
pub fn compare(found: &Gradients, reference: &Gradients) -> Value {
    let relative = |x: &[f64], y: &[f64]| {
        if x.is_empty() && y.is_empty() {
            return None;
        }
        // A length that differs shows as NaN, which is below no bound.
        let differences = (x.len() == y.len()).then(|| x.iter().zip(y).map(|(a, b)| a - b).collect::<Vec<_>>());
        Some(differences.map_or(f64::NAN, |d| norm(&d) / norm(y)))
    };
    json!({
        "golden_loss_rel": ((found.loss - reference.loss) / reference.loss).abs(),
        "golden_a_rel": relative(&found.a, &reference.a),
        "golden_b_rel": relative(&found.b, &reference.b),
    })
}
