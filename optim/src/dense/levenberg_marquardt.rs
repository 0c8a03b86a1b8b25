//! Levenberg-Marquardt steps within bounds (Marquardt 1963; Nocedal and Wright 2006, chapter 10).

use super::normal_equations::{NormalEquations, solve};
use crate::check::{Checked, at_most, within};
use crate::error::{Result, same_length};

/// Where the parameters may go, and how far at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// Least values.
    pub low: Vec<f64>,
    /// Greatest values.
    pub high: Vec<f64>,
    /// Longest step per parameter.
    pub trust: Vec<f64>,
}

/// A proposed step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Change of each parameter.
    pub change: Vec<f64>,
    /// Parameters that the step takes to a bound.
    pub bounded: Vec<bool>,
}

/// Damping, and how it follows success. [`LevenbergMarquardt::propose`] gives a step; the caller evaluates there and says
/// whether the cost fell.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct LevenbergMarquardt {
    /// Added to the diagonal of the normal equations, relative to it.
    pub damping: f64,
    /// Refused steps since the last accepted one.
    pub refused: usize,
}

const LEAST: f64 = 1e-6;
/// With more the step is zero.
const MOST: f64 = 1e18;
const BEGIN: f64 = 1e-3;
const AFTER_REFUSAL: f64 = 1e-2;

impl Default for LevenbergMarquardt {
    fn default() -> Self {
        Self { damping: BEGIN, refused: 0 }
    }
}

impl LevenbergMarquardt {
    /// The step from `x`, none if nothing shows in the residuals. What does not show stays. What a bound stops is held there, and
    /// the others are solved for anew; then all are shortened until none exceeds its longest step.
    ///
    /// # Errors
    /// When lengths differ.
    pub fn propose(&self, normal: &NormalEquations, bounds: &Bounds, x: &[f64]) -> Result<Option<Step>> {
        let n = x.len();
        let lengths = [&normal.gradient, &bounds.low, &bounds.high, &bounds.trust].map(Vec::len);
        lengths.into_iter().try_for_each(|found| same_length("numbers of a gradient or of bounds", found, n))?;
        normal.is_shaped()?;
        let (gradient, mut hessian) = (normal.gradient.clone(), normal.hessian.clone());
        (0..n).for_each(|k| hessian[k * n + k] *= 1.0 + self.damping);
        let (mut change, mut bounded) = (vec![0.0; n], vec![false; n]);
        let shown = normal.shown();
        if shown.is_empty() {
            return Ok(None);
        }
        // At most n passes: each binds a parameter or ends.
        loop {
            let free: Vec<usize> = shown.iter().copied().filter(|&k| !bounded[k]).collect();
            let pick = |row: usize| free.iter().map(move |&k| (row, k));
            let matrix: Vec<f64> = free.iter().flat_map(|&r| pick(r)).map(|(r, k)| hessian[r * n + k]).collect();
            let bound_part =
                |r: usize| (0..n).filter(|&k| bounded[k]).map(|k| hessian[r * n + k] * change[k]).sum::<f64>();
            let right: Vec<f64> = free.iter().map(|&r| -gradient[r] - bound_part(r)).collect();
            let Some(solution) = solve(&matrix, &right) else { return Ok(None) };
            free.iter().zip(&solution).for_each(|(&k, s)| change[k] = *s);
            let mut stopped = false;
            for &k in &free {
                let room = (bounds.low[k] - x[k], bounds.high[k] - x[k]);
                if change[k] < room.0 || change[k] > room.1 {
                    change[k] = change[k].clamp(room.0.min(0.0), room.1.max(0.0));
                    bounded[k] = true;
                    stopped = true;
                }
            }
            if !stopped || bounded.iter().all(|b| *b) {
                break;
            }
        }
        let longest = change.iter().zip(&bounds.trust).fold(1.0f64, |m, (c, t)| m.max(c.abs() / t));
        change.iter_mut().for_each(|c| *c /= longest);
        Ok(Some(Step { change, bounded }))
    }

    /// Checks what was read from a file, of a search that takes at most `refusals` in a row.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self, refusals: usize) -> Checked {
        within("damping", self.damping, 0.0, MOST)?;
        at_most("refused", self.refused, refusals)
    }

    /// After a step that lowered the cost.
    pub fn accept(&mut self) {
        self.damping = (self.damping * 0.2).max(LEAST);
        self.refused = 0;
    }

    /// After a step that did not.
    pub fn refuse(&mut self) {
        self.damping = (self.damping * 10.0).clamp(AFTER_REFUSAL, MOST);
        self.refused += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(n: usize) -> Bounds {
        Bounds { low: vec![-1e9; n], high: vec![1e9; n], trust: vec![1e9; n] }
    }

    /// Residuals of `y = a exp(b t)` at a = 2, b = -1, and their derivatives.
    fn exponential(x: &[f64]) -> Result<NormalEquations> {
        let t: Vec<f64> = (0..20).map(|k| 0.1 * f64::from(k)).collect();
        let residual: Vec<f64> = t.iter().map(|t| x[0] * (x[1] * t).exp() - 2.0 * (-t).exp()).collect();
        let by_a: Vec<f64> = t.iter().map(|t| (x[1] * t).exp()).collect();
        let by_b: Vec<f64> = t.iter().map(|t| x[0] * t * (x[1] * t).exp()).collect();
        let mut normal = NormalEquations::new(2);
        normal.add(&residual, &[by_a, by_b])?;
        Ok(normal)
    }

    #[test]
    fn finds_the_exponential() -> Result<()> {
        let (mut x, mut lm) = (vec![1.0, 0.5], LevenbergMarquardt::default());
        for _ in 0..30 {
            let here = exponential(&x)?;
            let Some(step) = lm.propose(&here, &wide(2), &x)? else { break };
            let next: Vec<f64> = x.iter().zip(&step.change).map(|(x, c)| x + c).collect();
            if exponential(&next)?.cost < here.cost {
                x = next;
                lm.accept();
            } else {
                lm.refuse();
            }
        }
        assert!((x[0] - 2.0).abs() < 1e-9 && (x[1] + 1.0).abs() < 1e-9, "{x:?}");
        Ok(())
    }

    #[test]
    fn stops_at_a_bound_and_still_moves_the_other() -> Result<()> {
        let mut normal = NormalEquations::new(2);
        normal.add(&[1.0, 1.0], &[vec![1.0, 0.0], vec![0.0, 1.0]])?;
        let bounds = Bounds { low: vec![-0.1, -9.0], ..wide(2) };
        let step = LevenbergMarquardt { damping: 0.0, refused: 0 }.propose(&normal, &bounds, &[0.0, 0.0])?;
        assert_eq!(step, Some(Step { change: vec![-0.1, -1.0], bounded: vec![true, false] }));
        Ok(())
    }

    #[test]
    fn a_prior_decides_where_the_data_do_not() -> Result<()> {
        let mut normal = NormalEquations::new(2);
        normal.add(&[1.0], &[vec![1.0], vec![0.0]])?;
        normal.add_prior(-3.0, &[0.0, 1.0], 1e-3)?;
        let step = LevenbergMarquardt { damping: 0.0, refused: 0 }.propose(&normal, &wide(2), &[0.0, 0.0])?;
        assert!(step.is_some_and(|step| (step.change[1] - 3.0).abs() < 1e-12));
        Ok(())
    }

    #[test]
    fn without_any_effect_there_is_no_step() -> Result<()> {
        let mut normal = NormalEquations::new(1);
        normal.add(&[1.0], &[vec![0.0]])?;
        assert_eq!(LevenbergMarquardt::default().propose(&normal, &wide(1), &[0.0]), Ok(None));
        Ok(())
    }
}
