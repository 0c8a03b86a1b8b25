//! Derivatives by differences of runs over what an answer may be off.

use crate::program::{Coverage, Outcome, simulable};
use crate::search::{Parametrisation, Tick};

/// Part of what an answer may be off over which motions are taken where it cannot be simulated farther away.
const NEARER: f64 = 0.1;

/// Part of the largest motion over what an answer may be off that one must be to be more than rounding errors of single precision.
const ROUNDING: f64 = 1e-4;

/// How what the refined grid draws moves with the coordinates about a place.
pub(super) struct Motions {
    pub(super) at: Vec<f64>,
    /// Of each coordinate.
    pub(super) of: Vec<Coverage>,
}

impl Motions {
    /// Of what `run` gives about `at`. None where places near cannot be simulated.
    pub(super) fn about(
        parametrisation: &Parametrisation,
        at: &[f64],
        tick: &mut Tick<'_>,
        run: &mut dyn FnMut(&[f64], &mut Tick<'_>) -> Outcome<Coverage>,
    ) -> Outcome<Option<Motions>> {
        for part in [1.0, NEARER] {
            if let Some(mut of) = simulable(over_doubt(parametrisation, at, part, tick, run))? {
                still(&mut of, &parametrisation.doubt());
                return Ok(Some(Motions { at: at.to_vec(), of }));
            }
        }
        Ok(None)
    }
}

/// Derivatives of what a run gives along each coordinate: differences over a part of how much an answer may be off.
pub(super) fn over_doubt(
    parametrisation: &Parametrisation,
    at: &[f64],
    part: f64,
    tick: &mut Tick<'_>,
    run: &mut dyn FnMut(&[f64], &mut Tick<'_>) -> Outcome<Coverage>,
) -> Outcome<Vec<Coverage>> {
    let steps: Vec<f64> = parametrisation.doubt().into_iter().map(|doubt| part * doubt).collect();
    let (runs, mut done) = (2.0 * steps.len() as f64, 0.0);
    differences(parametrisation, at, &steps, &mut |there| {
        let all = run(there, &mut |part| tick((done + part) / runs));
        done += 1.0;
        all
    })
}

/// Derivatives of pictures along each coordinate: differences over `steps` to both sides, as far as the ranges allow.
pub(super) fn differences(
    parametrisation: &Parametrisation,
    at: &[f64],
    steps: &[f64],
    pictures: &mut dyn FnMut(&[f64]) -> Outcome<Coverage>,
) -> Outcome<Vec<Coverage>> {
    let mut derivatives = Vec::new();
    for (k, step) in steps.iter().enumerate() {
        let mut moved = |by: f64| -> Outcome<(f64, Coverage)> {
            let mut there = at.to_vec();
            there[k] += by;
            let there = parametrisation.inside(&there);
            Ok((there[k], pictures(&there)?))
        };
        let ((high, mut up), (low, down)) = (moved(*step)?, moved(-step)?);
        let apart = high - low;
        for (a, b) in up.iter_mut().flatten().zip(down.iter().flatten()) {
            *a = if apart > 0.0 { (*a - b) / apart } else { 0.0 };
        }
        derivatives.push(up);
    }
    Ok(derivatives)
}

/// Nothing moves along coordinates that over their `doubt` move less than a part of what most moves: of these, differences in single precision are rounding errors.
fn still(motions: &mut [Coverage], doubt: &[f64]) {
    let size = |(motion, doubt): (&Coverage, &f64)| doubt * motion.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
    let sizes: Vec<f64> = motions.iter().zip(doubt).map(size).collect();
    let most = sizes.iter().copied().fold(0.0, f64::max);
    for (motion, _) in motions.iter_mut().zip(&sizes).filter(|(_, size)| **size < ROUNDING * most) {
        motion.iter_mut().flatten().for_each(|x| *x = 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_by_rounding_errors_does_not_move() {
        let motion = |x: f64| vec![vec![x, -x], vec![0.5 * x]];
        // Over what each may be off: 0.1, 2e-6 and 1e-4.
        let mut motions = [motion(2.0), motion(2e-4), motion(1e-4)];
        still(&mut motions, &[0.05, 0.01, 1.0]);
        assert_eq!(motions, [motion(2.0), motion(0.0), motion(1e-4)]);
        let mut nothing = [motion(0.0)];
        still(&mut nothing, &[0.1]);
        assert_eq!(nothing, [motion(0.0)]);
    }
}
