//! An axis: from values to pixels, with round numbers for its ticks.

/// Maps `low..high` to 0..1, linearly or by the logarithm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    log: bool,
}

impl Axis {
    /// Covers all finite values; a logarithmic one needs them positive and is linear otherwise.
    pub(super) fn around(values: impl Iterator<Item = f64> + Clone, log: bool) -> Self {
        let finite = values.filter(|v| v.is_finite());
        let low = finite.clone().fold(f64::INFINITY, f64::min);
        let high = finite.fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return Self { low: 0.0, high: 1.0, log: false };
        }
        if log && low > 0.0 {
            let spare = (high / low).powf(0.05).max(1.05);
            return Self { low: low / spare, high: high * spare, log: true };
        }
        let spare = (0.05 * (high - low)).max(0.02 * high.abs().max(1e-12));
        Self { low: low - spare, high: high + spare, log: false }
    }

    /// Covers whole numbers from zero.
    pub(super) fn counting(last: usize) -> Self {
        Self { low: 0.0, high: last.max(1) as f64, log: false }
    }

    /// Where a value lies, 0 at the low end.
    pub(super) fn place(&self, value: f64) -> f64 {
        if self.log {
            return (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln();
        }
        (value - self.low) / (self.high - self.low)
    }

    /// Round numbers inside, some five of them.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.log && self.high / self.low > 30.0 {
            let decades = self.low.log10().ceil() as i32..=self.high.log10().floor() as i32;
            let every = (decades.clone().count() / 8 + 1) as i32;
            return decades.filter(|d| d % every == 0).map(|d| 10f64.powi(d)).collect();
        }
        let step = round_step((self.high - self.low) / 5.0);
        let (first, last) = ((self.low / step).ceil() as i64, (self.high / step).floor() as i64);
        (first..=last).map(|k| k as f64 * step).collect()
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= least).unwrap_or(least)
}

/// A number with as few letters as show it.
pub(super) fn label(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-3..1e6).contains(&size) {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Axis, label};

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::around([1.3, 8.9].into_iter(), false);
        assert_eq!(axis.ticks(), [2.0, 4.0, 6.0, 8.0]);
        let axis = Axis::around([2e-5, 0.3].into_iter(), true);
        assert_eq!(axis.ticks().len(), 4);
        assert!(axis.ticks().iter().all(|t| (0.0..=1.0).contains(&axis.place(*t))));
    }

    #[test]
    fn equal_and_missing_values_have_an_axis() {
        assert!((Axis::around([7.0, 7.0].into_iter(), false).place(7.0) - 0.5).abs() < 1e-9);
        assert!((0.0..=1.0).contains(&Axis::around([f64::NAN].into_iter(), true).place(0.5)));
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([label(8000.0), label(0.25), label(1e-5)], ["8000", "0.25", "1.0e-5"]);
    }
}
