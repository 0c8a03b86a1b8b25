//! A step length by the strong Wolfe conditions (Nocedal and Wright 2006, algorithms 3.5 and 3.6), over a function of one
//! number.

use crate::error::{Result, setting};

/// When a step is long enough, and not too long.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Wolfe {
    /// The value falls by at least this part of what the slope promises.
    pub decrease: f64,
    /// The slope's absolute value falls to at most this part.
    pub curvature: f64,
    /// Most evaluations of a search.
    pub evaluations: usize,
}

impl Default for Wolfe {
    /// 1e-4 and 0.9, as is usual for quasi-Newton methods, within 20 evaluations.
    fn default() -> Wolfe {
        Wolfe { decrease: 1e-4, curvature: 0.9, evaluations: 20 }
    }
}

/// Value and slope at a length, with what was evaluated there.
pub(super) struct Trial<P> {
    pub(super) length: f64,
    pub(super) value: f64,
    pub(super) slope: f64,
    /// None at length 0.
    pub(super) place: Option<P>,
}

impl<P> Trial<P> {
    /// Value and slope are numbers.
    fn is_finite(&self) -> bool {
        self.value.is_finite() && self.slope.is_finite()
    }
}

/// How a search ended: with the best length found, if any is better than none, and after so many evaluations.
pub(super) struct Searched<P> {
    pub(super) found: Option<Trial<P>>,
    pub(super) evaluations: usize,
}

impl Wolfe {
    pub(super) fn usable(&self) -> Result<()> {
        let Wolfe { decrease, curvature, .. } = *self;
        setting("the decrease of a line search", decrease, "above 0 and below 1", |c| 0.0 < c && c < 1.0)?;
        let expected = "above its decrease and below 1";
        setting("the curvature of a line search", curvature, expected, |c| decrease < c && c < 1.0)
    }

    /// Looks from length 0, where the slope is negative, with a first guess; `rounding` is the error of a value.
    pub(super) fn search<P>(
        &self,
        start: Trial<P>,
        guess: f64,
        rounding: f64,
        mut probe: impl FnMut(f64) -> Result<Trial<P>>,
    ) -> Result<Searched<P>> {
        let line = Line { rule: self, value: start.value, slope: start.slope, rounding };
        let mut before = start;
        let mut length = guess;
        for evaluations in 1..=self.evaluations {
            let trial = probe(length)?;
            if line.is_too_long(&trial) || (evaluations > 1 && line.is_above(&trial, &before)) {
                return line.zoom(before, trial, evaluations, probe);
            }
            if line.is_flat(&trial) {
                return Ok(Searched { found: Some(trial), evaluations });
            }
            if trial.slope >= 0.0 {
                return line.zoom(trial, before, evaluations, probe);
            }
            // Twice as far, or to where the slopes of the last two foresee a minimum, if that is farther.
            let bend = trial.slope - before.slope;
            let foreseen = trial.length - trial.slope * (trial.length - before.length) / bend;
            length = if bend > 0.0 { foreseen.clamp(2.0 * length, 10.0 * length) } else { 2.0 * length };
            before = trial;
        }
        Ok(Searched { found: Some(before).filter(|trial| trial.place.is_some()), evaluations: self.evaluations })
    }
}

/// The conditions on one line.
struct Line<'a> {
    rule: &'a Wolfe,
    /// At length 0.
    value: f64,
    slope: f64,
    rounding: f64,
}

impl Line<'_> {
    /// Without sufficient decrease, or with no number. Values that differ by rounding are equal: near a minimum the slope
    /// decides, which is exact for longer.
    fn is_too_long<P>(&self, trial: &Trial<P>) -> bool {
        let most = self.value + self.rule.decrease * trial.length * self.slope + self.rounding;
        !trial.is_finite() || trial.value > most
    }

    fn is_above<P>(&self, trial: &Trial<P>, other: &Trial<P>) -> bool {
        trial.value >= other.value + self.rounding
    }

    fn is_flat<P>(&self, trial: &Trial<P>) -> bool {
        trial.slope.abs() <= -self.rule.curvature * self.slope
    }

    /// Narrows an interval around a good length; `low` has sufficient decrease and the least value so far.
    fn zoom<P>(
        &self,
        mut low: Trial<P>,
        mut high: Trial<P>,
        mut evaluations: usize,
        mut probe: impl FnMut(f64) -> Result<Trial<P>>,
    ) -> Result<Searched<P>> {
        while evaluations < self.rule.evaluations {
            let length = between(&low, &high);
            if length == low.length || length == high.length {
                break;
            }
            let trial = probe(length)?;
            evaluations += 1;
            if self.is_too_long(&trial) || self.is_above(&trial, &low) {
                high = trial;
                continue;
            }
            if self.is_flat(&trial) {
                return Ok(Searched { found: Some(trial), evaluations });
            }
            if trial.slope * (high.length - low.length) >= 0.0 {
                high = low;
            }
            low = trial;
        }
        Ok(Searched { found: Some(low).filter(|low| low.place.is_some()), evaluations })
    }
}

/// The minimum of the cubic with both values and slopes (Nocedal and Wright, equation 3.59), kept away from the ends; the
/// middle where there is none.
fn between<P>(low: &Trial<P>, high: &Trial<P>) -> f64 {
    let width = high.length - low.length;
    let middle = low.length + 0.5 * width;
    if !high.is_finite() {
        // Far out of range, most likely.
        return low.length + 0.1 * width;
    }
    let d1 = low.slope + high.slope - 3.0 * (high.value - low.value) / width;
    let d2 = width.signum() * (d1 * d1 - low.slope * high.slope).sqrt();
    let cubic = high.length - width * (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2);
    let part = (cubic - low.length) / width;
    if part.is_finite() { low.length + part.clamp(0.1, 0.9) * width } else { middle }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(f: impl Fn(f64) -> (f64, f64), guess: f64) -> Result<(f64, usize)> {
        let at = |length: f64| {
            let (value, slope) = f(length);
            Ok(Trial { length, value, slope, place: (length > 0.0).then_some(()) })
        };
        let Searched { found, evaluations } = Wolfe::default().search(at(0.0)?, guess, 0.0, at)?;
        Ok((found.map_or(0.0, |trial| trial.length), evaluations))
    }

    /// Both conditions, for guesses that are far too short and far too long.
    #[test]
    fn a_length_has_decrease_and_curvature() -> Result<()> {
        let bowl = |t: f64| ((t - 3.0).powi(2), 2.0 * (t - 3.0));
        let steep = |t: f64| ((t - 1.0).exp() - 2.0 * t, (t - 1.0).exp() - 2.0);
        let waves = |t: f64| (0.1 * (5.0 * t).sin() - t + 0.1 * t * t, 0.5 * (5.0 * t).cos() - 1.0 + 0.2 * t);
        for f in [&bowl as &dyn Fn(f64) -> (f64, f64), &steep, &waves] {
            for guess in [1e-3, 0.1, 1.0, 10.0, 1e3] {
                let (length, evaluations) = search(f, guess)?;
                let ((before, slope), (after, left)) = (f(0.0), f(length));
                assert!(length > 0.0 && evaluations <= 20, "{length} after {evaluations}");
                assert!(
                    after <= before + 1e-4 * length * slope && left.abs() <= 0.9 * slope.abs(),
                    "{guess}: {length}"
                );
            }
        }
        Ok(())
    }

    /// Where there are no numbers it comes back to where there are.
    #[test]
    fn what_is_not_finite_is_too_long() -> Result<()> {
        let wall = |t: f64| if t < 2.0 { (-t, -1.0 + t) } else { (f64::NAN, f64::NAN) };
        let (length, _) = search(wall, 100.0)?;
        assert!(length > 0.0 && length < 2.0, "{length}");
        Ok(())
    }

    #[test]
    fn a_line_without_end_takes_as_many_evaluations_as_are_allowed() -> Result<()> {
        let (length, evaluations) = search(|t| (-t, -1.0), 1.0)?;
        assert!(length > 1e5 && evaluations == 20, "{length}");
        Ok(())
    }

    #[test]
    fn settings_that_no_length_satisfies_are_refused() {
        assert!(Wolfe { curvature: 1e-5, ..Wolfe::default() }.usable().is_err());
        assert!(Wolfe { decrease: f64::NAN, ..Wolfe::default() }.usable().is_err());
    }
}
