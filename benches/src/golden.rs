//! Reference losses and gradients in f64, made by another framework (`golden/`).

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::harness::Gradients;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden")
}

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
    ensure!(!result.a.is_empty() && !result.b.is_empty(), "{}: no gradients in it", path.display());
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
        _ => 0.701870186454,
    };
    Ok(match (read("ga")?, read("gb")?) {
        (Some(a), Some(b)) => Some(Gradients { loss, a, b }),
        _ => None,
    })
}

pub fn norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// Relative errors, of the gradients in the Euclidean norm.
pub fn compare(found: &Gradients, reference: &Gradients) -> Value {
    let relative = |x: &[f64], y: &[f64]| {
        if x.len() != y.len() {
            return f64::NAN;
        }
        norm(&x.iter().zip(y).map(|(a, b)| a - b).collect::<Vec<_>>()) / norm(y)
    };
    json!({
        "golden_loss_rel": ((found.loss - reference.loss) / reference.loss).abs(),
        "golden_a_rel": relative(&found.a, &reference.a),
        "golden_b_rel": relative(&found.b, &reference.b),
    })
}
