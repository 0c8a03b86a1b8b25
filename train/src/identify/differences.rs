//! A function of one variable against its derivative.

use crate::error::Result;
use crate::job::DirectionCheck;

/// Steps of a ladder shrink by this factor.
const RATIO: f64 = 0.25;
/// Steps of a ladder.
const STEPS: usize = 7;

/// Values at 0 and on either side, the largest step first.
struct Ladder {
    steps: Vec<f64>,
    here: f64,
    above: Vec<f64>,
    below: Vec<f64>,
}

/// Compares `slope` with the derivative of `f` at 0; the ladder of differences begins with steps of `first`, `noise` is
/// the relative rounding error of `f`.
pub(super) fn compare(f: impl Fn(f64) -> Result<f64>, slope: f64, first: f64, noise: f64) -> Result<DirectionCheck> {
    let steps: Vec<f64> = (0..STEPS).map(|k| first * RATIO.powi(k as i32)).collect();
    let side = |sign: f64| steps.iter().map(|h| f(sign * h)).collect::<Result<Vec<f64>>>();
    let ladder = Ladder { here: f(0.0)?, above: side(1.0)?, below: side(-1.0)?, steps };
    let numeric = ladder.plateau();
    Ok(DirectionCheck {
        analytic: slope,
        numeric,
        error: (slope - numeric).abs() / slope.abs().max(numeric.abs()).max(f64::MIN_POSITIVE),
        taylor_rate: ladder.rate(slope, noise),
        taylor_rate_without: ladder.rate(0.0, noise),
    })
}

impl Ladder {
    fn central(&self, k: usize) -> f64 {
        (self.above[k] - self.below[k]) / (2.0 * self.steps[k])
    }

    /// Of fourth order, from two neighbouring steps; where neighbours agree best, neither the step nor rounding is felt.
    fn plateau(&self) -> f64 {
        let weight = RATIO * RATIO;
        let fourth = |k: usize| (self.central(k + 1) - weight * self.central(k)) / (1.0 - weight);
        let pairs = (0..self.steps.len() - 2).map(|k| (fourth(k), fourth(k + 1)));
        let best = pairs.min_by(|a, b| (a.0 - a.1).abs().total_cmp(&(b.0 - b.1).abs()));
        best.map_or_else(|| self.central(0), |(_, b)| b)
    }

    /// Order at which `f(h) - f(0) - h slope` shrinks, from the smallest steps at which it is not rounding.
    fn rate(&self, slope: f64, noise: f64) -> f64 {
        let remainder = |k: usize| (self.above[k] - self.here - self.steps[k] * slope).abs();
        let least = 1e3 * noise * self.here.abs();
        let last = (1..self.steps.len()).rev().find(|&k| remainder(k) > least).unwrap_or(1);
        (remainder(last) / remainder(last - 1)).ln() / RATIO.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_right_slope_has_rate_two_and_a_wrong_one_rate_one() {
        let f = |t: f64| Ok((1.0 + t).powi(3) + (2.0 * t).sin());
        let right = compare(f, 5.0, 1e-2, f64::EPSILON).unwrap();
        assert!(right.error < 1e-9 && (right.taylor_rate - 2.0).abs() < 0.05, "{right:?}");
        assert!((right.taylor_rate_without - 1.0).abs() < 0.05, "{right:?}");
        let wrong = compare(f, 5.001, 1e-2, f64::EPSILON).unwrap();
        assert!(wrong.error > 1e-4 && wrong.taylor_rate < 1.5, "{wrong:?}");
    }
}
