//! An axis: what it covers, and the round numbers that are written beside it.

use super::number::{raised, signed};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// How values lie along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    Linear,
    /// By the logarithm.
    Log,
}

/// A range of values along one side of a plot.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// What it measures, with the unit.
    pub(super) label: String,
    low: f64,
    high: f64,
    scale: Scale,
    /// Round numbers inside, and how they are written.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Covers all finite values, with about `most` numbers at most; a logarithmic one needs positive values and is linear
    /// otherwise.
    pub(super) fn around(label: &str, values: impl Iterator<Item = f64>, scale: Scale, most: usize) -> Self {
        let (low, high) = span(values).unwrap_or((0.0, 1.0));
        if scale == Scale::Log && low > 0.0 && (high / low).is_finite() {
            let spare = (high / low).powf(0.05).max(1.05);
            return Self::between(label, (low / spare, high * spare), scale, most);
        }
        let size = low.abs().max(high.abs());
        let least = if size > 0.0 { (0.02 * size).max(f64::MIN_POSITIVE) } else { 1.0 };
        // Values that differ by rounding alone would be drawn as noise.
        let spare = if high - low > 1e-9 * size { 0.06 * (high - low) } else { least };
        Self::between(label, (low - spare, high + spare), Scale::Linear, most)
    }

    /// Covers `0..=last`.
    pub(super) fn from_zero(label: &str, last: f64, most: usize) -> Self {
        let last = if last > 0.0 { last } else { 1.0 };
        Self::between(label, (-0.02 * last, 1.02 * last), Scale::Linear, most)
    }

    /// Covers what is counted up to `last`.
    pub(super) fn counting(label: &str, last: usize, most: usize) -> Self {
        let mut axis = Self::from_zero(label, last as f64, most);
        axis.ticks = steps(axis.low, axis.high, most, 1.0);
        axis
    }

    fn between(label: &str, (low, high): (f64, f64), scale: Scale, most: usize) -> Self {
        let ticks = match scale {
            Scale::Log if high / low > 4.0 => powers(low, high, most),
            Scale::Log | Scale::Linear => steps(low, high, most, 0.0),
        };
        Self { label: label.to_owned(), low, high, scale, ticks }
    }

    /// Whether a value is inside.
    pub(super) fn covers(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// How far along a value lies, 0 at the low end; one outside lies at the end.
    fn share(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        from + (f64::from(to - from) * self.share(*value)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|tick| tick.0).collect()
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|tick| tick.0 == *value);
        tick.map_or_else(String::new, |tick| tick.1.clone())
    }
}

/// Multiples of a round step of at least `least`.
fn steps(low: f64, high: f64, most: usize, least: f64) -> Vec<(f64, String)> {
    let step = round_step((high - low) / most.max(1) as f64).max(least);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    let size = low.abs().max(high.abs()).log10().floor() as i32;
    // Very large and very small numbers are written as multiples of one power of ten.
    let power = if (-3..6).contains(&size) { 0 } else { size };
    let decimals = (power - step.log10().floor() as i32).max(0) as usize;
    let multiple = if power == 0 { String::new() } else { format!("·10{}", raised(power)) };
    let text = |value: f64| signed(&format!("{:.decimals$}", value / 10f64.powi(power))) + &multiple;
    (first..=last).map(|k| k as f64 * step).map(|value| (value, text(value))).collect()
}

/// Powers of ten, and multiples of each where there is room.
fn powers(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let factors: &[i32] = match last - first {
        ..=2 if high / low < 10.0 => &[1, 2, 3, 5],
        decades if decades as usize * 3 <= most + 3 => &[1, 2, 5],
        _ => &[1],
    };
    let every = (high.log10().floor() - low.log10().ceil()).max(0.0) as usize / most.max(1) + 1;
    let tick = |factor: i32, power: i32| {
        let head = if factor == 1 { String::new() } else { format!("{factor}·") };
        (f64::from(factor) * 10f64.powi(power), format!("{head}10{}", raised(power)))
    };
    let powers = (first..=last).filter(|power| power % every as i32 == 0);
    let ticks = powers.flat_map(|power| factors.iter().map(move |factor| tick(*factor, power)));
    ticks.filter(|(value, _)| (low..=high).contains(value)).collect()
}

/// The least and the greatest of the finite values.
pub(super) fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|v| v.is_finite()).fold(None, |span, v| {
        let (low, high) = span.unwrap_or((v, v));
        Some((v.min(low), v.max(high)))
    })
}

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= least).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[f64], scale: Scale) -> Vec<String> {
        let axis = Axis::around("", values.iter().copied(), scale, 5);
        let place = |value: f64| axis.map(&value, (0, 300));
        let places: Vec<i32> = axis.ticks.iter().map(|tick| place(tick.0)).collect();
        assert!(places.is_sorted() && places.iter().all(|place| (0..=300).contains(place)), "{values:?}: {places:?}");
        axis.ticks.iter().map(|tick| axis.format_ext(&tick.0)).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(texts(&[1.3, 8.9], Scale::Linear), ["2", "4", "6", "8"]);
        assert_eq!(texts(&[-0.3, 0.3], Scale::Linear), ["−0.2", "0.0", "0.2"]);
        assert_eq!(texts(&[8.0001, 8.0002], Scale::Linear), ["8.00010", "8.00015", "8.00020"]);
        assert_eq!(texts(&[1e-5, 2e-5], Scale::Linear)[0], "1.0·10⁻⁵");
        assert_eq!(texts(&[2e-5, 0.3], Scale::Log), ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"]);
        assert_eq!(texts(&[2e-3, 0.03], Scale::Log), ["2·10⁻³", "5·10⁻³", "10⁻²", "2·10⁻²"]);
        assert_eq!(texts(&[2.3e-5, 1.8e-4], Scale::Log), ["3·10⁻⁵", "5·10⁻⁵", "10⁻⁴"]);
        assert_eq!(texts(&[2e-3, 4e-3], Scale::Log).len(), 5);
    }

    #[test]
    fn equal_missing_and_odd_values_have_an_axis() {
        for values in [&[7.0, 7.0][..], &[0.0], &[], &[f64::NAN, f64::INFINITY], &[-1.0, 2.0], &[1e300, 1e-300]] {
            for scale in [Scale::Linear, Scale::Log] {
                let count = texts(values, scale).len();
                assert!((1..=12).contains(&count), "{values:?}: {count}");
            }
        }
        for (last, first, count) in [(0, "0", 2), (4, "0", 5), (300, "0", 7)] {
            let ticks = Axis::counting("", last, 8).ticks;
            assert_eq!((ticks[0].1.as_str(), ticks.len()), (first, count), "{last}");
        }
    }
}
