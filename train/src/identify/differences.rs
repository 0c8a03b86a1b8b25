//! A function of one variable against its derivative.

use crate::error::Result;

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

/// What a function's values around 0 say of its derivative there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Comparison {
    /// It exists.
    Smooth {
        numeric: f64,
        /// Taylor rates with the slope given and without.
        rate: f64,
        rate_without: f64,
    },
    /// The one-sided derivatives differ.
    Kink { left: f64, right: f64 },
}

/// Compares `slope` with the derivative of `f` at 0; the ladder of differences begins with steps of `first`, `noise` is
/// the relative rounding error of `f`, and one-sided derivatives that differ by a share of `bound` are two.
pub(super) fn compare(
    f: impl Fn(f64) -> Result<f64>,
    slope: f64,
    first: f64,
    noise: f64,
    bound: f64,
) -> Result<Comparison> {
    let steps: Vec<f64> = (0..STEPS).map(|k| first * RATIO.powi(k as i32)).collect();
    let side = |sign: f64| steps.iter().map(|h| f(sign * h)).collect::<Result<Vec<f64>>>();
    let ladder = Ladder { here: f(0.0)?, above: side(1.0)?, below: side(-1.0)?, steps };
    Ok(match ladder.kink(noise, bound) {
        Some((left, right)) => Comparison::Kink { left, right },
        None => Comparison::Smooth {
            numeric: ladder.plateau(),
            rate: ladder.rate(slope, noise),
            rate_without: ladder.rate(0.0, noise),
        },
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

    /// Left and right derivative where they differ, however small the step. Their difference at a step `h` is `gap + h f''`,
    /// with no gap where `f` is smooth; two pairs of steps have to show it, lest a kink between two steps, which the
    /// plateau steps over, be taken for one at 0.
    fn kink(&self, noise: f64, bound: f64) -> Option<(f64, f64)> {
        let last = self.steps.len() - 3;
        let sides =
            |k: usize| ((self.here - self.below[k]) / self.steps[k], (self.above[k] - self.here) / self.steps[k]);
        let difference = |k: usize| sides(k).1 - sides(k).0;
        let gap = |k: usize| ((difference(k) - RATIO * difference(k - 1)) / (1.0 - RATIO)).abs();
        let (left, right) = sides(last);
        let rounding = 1e2 * noise * self.here.abs() / self.steps[last + 1];
        let least = rounding + bound * left.abs().max(right.abs());
        (gap(last).min(gap(last + 1)) > least).then_some((left, right))
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

    const NOISE: f64 = f64::EPSILON;

    fn smooth(f: impl Fn(f64) -> Result<f64>, slope: f64) -> (f64, f64, f64) {
        match compare(f, slope, 1e-2, NOISE, 1e-6).unwrap() {
            Comparison::Smooth { numeric, rate, rate_without } => (numeric, rate, rate_without),
            kink => panic!("{kink:?}"),
        }
    }

    #[test]
    fn a_right_slope_has_rate_two_and_a_wrong_one_rate_one() {
        let f = |t: f64| Ok((1.0 + t).powi(3) + (2.0 * t).sin());
        let (numeric, rate, rate_without) = smooth(f, 5.0);
        assert!((numeric / 5.0 - 1.0).abs() < 1e-9 && (rate - 2.0).abs() < 0.05, "{numeric} {rate}");
        assert!((rate_without - 1.0).abs() < 0.05, "{rate_without}");
        let (_, rate, _) = smooth(f, 5.001);
        assert!(rate < 1.5, "{rate}");
    }

    #[test]
    fn a_kink_at_the_point_is_told_and_one_beside_it_is_stepped_over() {
        let kinked = |at: f64| move |t: f64| Ok(3.0 + t + 1e-4 * (t - at).abs() + t * t);
        match compare(kinked(0.0), 1.0, 1e-2, NOISE, 1e-6).unwrap() {
            Comparison::Kink { left, right } => assert!((right - left - 2e-4).abs() < 1e-4, "{left} {right}"),
            smooth => panic!("{smooth:?}"),
        }
        let (numeric, ..) = smooth(kinked(1e-3), 1.0 - 1e-4);
        assert!((numeric / (1.0 - 1e-4) - 1.0).abs() < 1e-8, "{numeric}");
    }
}
