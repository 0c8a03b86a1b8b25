//! Finite differences by a ladder of steps.

/// What the values of a function around a point say of its derivative there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Along {
    /// It exists.
    Smooth {
        /// The derivative, by finite differences.
        derivative: f64,
        /// Rate at which the Taylor remainder shrinks with the slope given; infinite for one that is rounding alone.
        rate: f64,
        /// And without a slope.
        rate_without: f64,
    },
    /// The one-sided derivatives differ.
    Kink {
        /// From below.
        left: f64,
        /// From above.
        right: f64,
    },
}

/// Looks at `f`, a function of one number, around 0, where its derivative should be `slope`: a ladder of `steps` steps
/// from `first`, each a quarter of the one before. `noise` is the relative rounding error of `f`; one-sided derivatives
/// that differ by more than `bound`, as a part of the larger, are a kink.
///
/// # Errors
/// Those of `f`.
pub fn along<E>(
    f: impl Fn(f64) -> Result<f64, E>,
    slope: f64,
    (first, steps): (f64, usize),
    noise: f64,
    bound: f64,
) -> Result<Along, E> {
    let steps = Ladder::steps(first, steps);
    let plus = steps.iter().map(|&h| f(h)).collect::<Result<_, E>>()?;
    let minus = steps.iter().map(|&h| f(-h)).collect::<Result<_, E>>()?;
    let ladder = Ladder { steps, at: f(0.0)?, plus, minus, noise, bound };
    let Estimate { derivative, kink, .. } = ladder.estimate();
    Ok(match kink {
        Some((left, right)) => Along::Kink { left, right },
        None => Along::Smooth { derivative, rate: ladder.rate(slope), rate_without: ladder.rate(0.0) },
    })
}

/// Steps of a ladder shrink by this factor.
const RATIO: f64 = 0.25;

/// Values of a function of one variable at 0 and at `+-h` for the steps of a ladder, the largest first.
pub(super) struct Ladder {
    pub(super) steps: Vec<f64>,
    pub(super) at: f64,
    pub(super) plus: Vec<f64>,
    pub(super) minus: Vec<f64>,
    /// Relative rounding error of the function.
    pub(super) noise: f64,
    /// Relative difference of the one-sided derivatives that makes a kink.
    pub(super) bound: f64,
}

/// What a ladder says of the derivative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Estimate {
    pub(super) derivative: f64,
    /// Step at which it was had.
    pub(super) step: f64,
    /// Left and right derivative, where they differ however small the step.
    pub(super) kink: Option<(f64, f64)>,
}

impl Ladder {
    /// The steps `first * RATIO^j`.
    pub(super) fn steps(first: f64, count: usize) -> Vec<f64> {
        (0..count).map(|j| first * RATIO.powi(j as i32)).collect()
    }

    fn central(&self, j: usize) -> f64 {
        (self.plus[j] - self.minus[j]) / (2.0 * self.steps[j])
    }

    /// Of fourth order, from two neighbouring steps.
    fn extrapolated(&self, j: usize) -> f64 {
        let weight = RATIO * RATIO;
        (self.central(j + 1) - weight * self.central(j)) / (1.0 - weight)
    }

    fn sides(&self, j: usize) -> (f64, f64) {
        ((self.at - self.minus[j]) / self.steps[j], (self.plus[j] - self.at) / self.steps[j])
    }

    /// The best of the plateau: where two neighbouring estimates agree best. Where they all do not exist, NaN.
    pub(super) fn estimate(&self) -> Estimate {
        let mut best = (f64::INFINITY, f64::NAN, f64::NAN);
        for j in 0..self.steps.len().saturating_sub(2) {
            let (a, b) = (self.extrapolated(j), self.extrapolated(j + 1));
            if (a - b).abs() < best.0 {
                best = ((a - b).abs(), b, self.steps[j + 1]);
            }
        }
        Estimate { derivative: best.1, step: best.2, kink: self.kink() }
    }

    /// Left and right derivative where they differ, however small the step. Their difference at a step `h` is
    /// `gap + h f''`, with no gap where the function is smooth; two pairs of steps have to show it, lest a kink between
    /// two steps, which the plateau steps over, be taken for one at 0.
    fn kink(&self) -> Option<(f64, f64)> {
        let last = self.steps.len().checked_sub(3).filter(|&last| last > 0)?;
        let difference = |j: usize| {
            let (left, right) = self.sides(j);
            right - left
        };
        let gap = |j: usize| ((difference(j) - RATIO * difference(j - 1)) / (1.0 - RATIO)).abs();
        let (left, right) = self.sides(last);
        let rounding = 1e2 * self.noise * self.at.abs().max(self.plus[0].abs()) / self.steps[last + 1];
        let least = rounding + self.bound * left.abs().max(right.abs());
        (gap(last).min(gap(last + 1)) > least).then_some((left, right))
    }

    /// Order at which the remainder `f(h) - f(0) - h slope` shrinks: from the smallest steps at which it is not rounding, the
    /// larger of those to both sides. For `a h^2 + b h^3` that is `|a| h^2 + |b| h^3`, in which the terms cannot cancel: on one
    /// side they do at `h = -a / b`, which is a small step where the curvature along the direction happens to be small.
    pub(super) fn rate(&self, slope: f64) -> f64 {
        let side = |value: f64, h: f64| (value - self.at - h * slope).abs();
        let remainder = |j: usize| side(self.plus[j], self.steps[j]).max(side(self.minus[j], -self.steps[j]));
        let rounding = 1e3 * self.noise * self.at.abs().max(self.plus[0].abs());
        let pair = (0..self.steps.len().saturating_sub(1)).rev().find(|&j| remainder(j + 1) > rounding);
        pair.map_or(f64::INFINITY, |j| (remainder(j + 1) / remainder(j)).ln() / RATIO.ln())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(f: impl Fn(f64) -> f64) -> Estimate {
        let steps = Ladder::steps(1e-2, 8);
        let (plus, minus) = (steps.iter().map(|&h| f(h)).collect(), steps.iter().map(|&h| f(-h)).collect());
        Ladder { at: f(0.0), steps, plus, minus, noise: f64::EPSILON, bound: 1e-6 }.estimate()
    }

    #[test]
    fn smooth_functions_have_a_plateau() {
        for shift in [0.3, 1.0, 2.5] {
            let found = ladder(|x| (3.0 * (x + shift)).sin() * (x + shift).exp());
            let exact = (3.0 * (3.0 * shift).cos() + (3.0 * shift).sin()) * shift.exp();
            assert!((found.derivative - exact).abs() < 1e-9 * exact.abs().max(1.0), "{found:?} {exact}");
            assert!(found.kink.is_none());
        }
    }

    #[test]
    fn kinks_are_seen() {
        assert!(ladder(|x| x.abs()).kink.is_some());
        assert!(ladder(|x| x.max(0.0) + x * x).kink.is_some());
        assert!(ladder(|x| x * x).kink.is_none());
        assert!(ladder(|x| 5.0 + 1e-6 * x).kink.is_none());
    }

    fn smooth(f: impl Fn(f64) -> f64, slope: f64) -> (f64, f64, f64) {
        match along(|t| Ok::<_, ()>(f(t)), slope, (1e-2, 7), f64::EPSILON, 1e-6) {
            Ok(Along::Smooth { derivative, rate, rate_without }) => (derivative, rate, rate_without),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_right_slope_has_rate_two_and_a_wrong_one_rate_one() {
        let f = |t: f64| (1.0 + t).powi(3) + (2.0 * t).sin();
        let (derivative, rate, rate_without) = smooth(f, 5.0);
        assert!((derivative / 5.0 - 1.0).abs() < 1e-9 && (rate - 2.0).abs() < 0.05, "{derivative} {rate}");
        assert!((rate_without - 1.0).abs() < 0.05, "{rate_without}");
        let (_, rate, _) = smooth(f, 5.001);
        assert!(rate < 1.5, "{rate}");
    }

    #[test]
    fn the_rate_is_two_where_third_order_cancels_second_on_one_side() {
        for curvature in [1e-3, -1e-3] {
            let f = |t: f64| 1.0 + t + curvature * t * t - 5.0 * t.powi(3);
            let (_, rate, rate_without) = smooth(f, 1.0);
            assert!((1.95..3.05).contains(&rate) && (rate_without - 1.0).abs() < 0.05, "{rate} {rate_without}");
            let (_, rate, _) = smooth(f, 1.001);
            assert!(rate < 1.5, "{rate}");
        }
    }

    #[test]
    fn a_kink_at_the_point_is_told_and_one_beside_it_is_stepped_over() {
        let kinked = |at: f64| move |t: f64| 3.0 + t + 1e-4 * (t - at).abs() + t * t;
        match along(|t| Ok::<_, ()>(kinked(0.0)(t)), 1.0, (1e-2, 7), f64::EPSILON, 1e-6) {
            Ok(Along::Kink { left, right }) => assert!((right - left - 2e-4).abs() < 1e-4, "{left} {right}"),
            other => panic!("{other:?}"),
        }
        let (derivative, ..) = smooth(kinked(1e-3), 1.0 - 1e-4);
        assert!((derivative / (1.0 - 1e-4) - 1.0).abs() < 1e-8, "{derivative}");
    }
}
