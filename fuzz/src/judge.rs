//! What a run must have given: values and tangents as by the evaluator, and `<u, J v> = <J^T u, v>`.

use crate::ast::ARRAYS;
use crate::case::Case;
use crate::eval::Outcome;

/// What a run of a kernel gave, scalars of all elements by array; empty for integers.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The arrays afterwards.
    pub values: Vec<Vec<f64>>,
    /// Their tangents.
    pub tangents: Vec<Vec<f64>>,
    /// The adjoints of the arrays as they were before.
    pub gradients: Vec<Vec<f64>>,
}

/// Whether the outcome is finite and not so large that rounding decides.
pub fn is_tame(outcome: &Outcome) -> bool {
    let tame = |x: f64| x.is_finite() && x.abs() < 1e7;
    outcome.iter().flatten().flatten().all(|x| tame(x.v) && tame(x.d))
}

/// # Errors
/// The first disagreement.
pub fn judge(expected: &Outcome, at: &Case, found: &Found) -> Result<(), String> {
    for (k, expected) in expected.iter().enumerate() {
        let Some(expected) = expected else { continue };
        let name = ARRAYS[k].0;
        compare(&format!("value of {name}"), &found.values[k], expected.iter().map(|x| x.v))?;
        compare(&format!("tangent of {name}"), &found.tangents[k], expected.iter().map(|x| x.d))?;
    }
    let (forward, forward_size) = product(&at.bars, &found.tangents);
    let (reverse, reverse_size) = product(&found.gradients, &at.dots);
    match (forward - reverse).abs() <= 1e-9 * (1.0 + forward_size + reverse_size) {
        true => Ok(()),
        false => Err(format!("<u, J v> = {forward:e}, <J^T u, v> = {reverse:e}")),
    }
}

/// The inner product, and the sum of the sizes of its terms.
fn product(a: &[Vec<f64>], b: &[Vec<f64>]) -> (f64, f64) {
    let terms = || a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b)).map(|(a, b)| a * b);
    (terms().sum(), terms().map(f64::abs).sum())
}

fn compare(what: &str, found: &[f64], expected: impl Iterator<Item = f64>) -> Result<(), String> {
    let expected: Vec<f64> = expected.collect();
    if found.len() != expected.len() {
        return Err(format!("{what}: {} scalars, expected {}", found.len(), expected.len()));
    }
    let scale = expected.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    for (k, (a, b)) in found.iter().zip(&expected).enumerate() {
        let close = (a - b).abs() <= 1e-8 * scale;
        if !close {
            return Err(format!("{what}: scalar {k} is {a:e}, expected {b:e}"));
        }
    }
    Ok(())
}
