//! Finite differences by a ladder of steps.

/// Steps of a ladder shrink by this factor.
pub(super) const RATIO: f64 = 0.25;

/// Values of a function of one variable at 0 and at `+-h` for the steps of a ladder, the largest first.
pub(super) struct Ladder {
    pub(super) steps: Vec<f64>,
    pub(super) at: f64,
    pub(super) plus: Vec<f64>,
    pub(super) minus: Vec<f64>,
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

    /// In a smooth point the difference of the one-sided derivatives shrinks with the step; at a kink it stays.
    fn kink(&self) -> Option<(f64, f64)> {
        let last = self.steps.len().checked_sub(3)?;
        let noise = 8.0 * f64::EPSILON * (self.at.abs() + self.plus[0].abs()) / self.steps[last];
        let gap = |j: usize| {
            let (left, right) = self.sides(j);
            (right - left).abs()
        };
        let (left, right) = self.sides(last);
        let size = left.abs().max(right.abs());
        let stays = gap(last) > 0.3 * gap(last.saturating_sub(2));
        (gap(last) > noise + 1e-4 * size && stays).then_some((left, right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(f: impl Fn(f64) -> f64) -> Estimate {
        let steps = Ladder::steps(1e-2, 8);
        let (plus, minus) = (steps.iter().map(|&h| f(h)).collect(), steps.iter().map(|&h| f(-h)).collect());
        Ladder { at: f(0.0), steps, plus, minus }.estimate()
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
}
