//! Steps of least squares, and what is expected of them.

use crate::error::Result;
use diffkern_optim::dense::{Bounds, LevenbergMarquardt, NormalEquations, Step};

/// What is added to the curvature first, in parts of the largest.
const LEAST_HELD: f64 = 1e-12;

/// A step of which no component is longer than `trust` (Levenberg 1944): what is added to the curvature is alike for all coordinates, so that one that is hardly
/// determined stays, and the others go where they belong. To shorten all alike would leave them far from there.
///
/// # Errors
/// When lengths differ.
pub(crate) fn within_trust(
    lm: &LevenbergMarquardt,
    normal: &NormalEquations,
    bounds: &Bounds,
    at: &[f64],
    trust: f64,
) -> Result<Option<Step>> {
    let n = at.len();
    let largest = (0..n).map(|k| normal.hessian[k * n + k]).fold(0.0, f64::max);
    let mut held = normal.clone();
    let mut by = LEAST_HELD * largest;
    loop {
        let step = lm.propose(&held, bounds, at)?;
        let fits = step.as_ref().is_none_or(|step| step.change.iter().all(|c| c.abs() <= trust));
        if fits || by > largest {
            return Ok(step);
        }
        // What nothing shows of stays as it is.
        (0..n)
            .filter(|k| normal.hessian[k * n + k] != 0.0)
            .for_each(|k| held.hessian[k * n + k] = normal.hessian[k * n + k] + by);
        by *= 4.0;
    }
}
