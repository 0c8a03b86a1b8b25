//! Adam on numbers of the host.

use crate::check::{Checked, finite, require, within};
use crate::error::{Result, same_length};
use crate::first_order::adam::{AdamStep, adam, check_moments};

/// Far more steps than any search takes.
const MOST_STEPS: i32 = 1_000_000_000;

/// [`Adam`](crate::Adam) with a scale for each parameter, by the same formula.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Adam {
    /// Length of a step of each parameter, in units of its scale.
    pub rate: f64,
    /// Size of a usual change of each parameter.
    pub scales: Vec<f64>,
    /// Forgetting factors of the first and of the second moment.
    pub beta: [f64; 2],
    /// Keeps the quotient finite where the gradient vanishes; in units of the scaled gradient.
    pub epsilon: f64,
    first: Vec<f64>,
    second: Vec<f64>,
    steps: i32,
}

impl Adam {
    /// With the moments' usual factors, 0.9 and 0.999.
    pub fn new(rate: f64, scales: Vec<f64>) -> Self {
        let zeros = vec![0.0; scales.len()];
        Self { rate, scales, beta: [0.9, 0.999], epsilon: 1e-12, first: zeros.clone(), second: zeros, steps: 0 }
    }

    /// Checks what was read from a file, for `parameters` unknowns.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self, parameters: usize) -> Checked {
        within("rate", self.rate, 0.0, f64::MAX)?;
        check_moments(self.beta, self.epsilon)?;
        finite("scales", &self.scales, parameters)?;
        finite("first", &self.first, parameters)?;
        finite("second", &self.second, parameters)?;
        let squares = self.second.iter().all(|square| *square >= 0.0);
        require(squares, "second", || format!("{:?}, expected no negative number", self.second))?;
        let counted = (0..=MOST_STEPS).contains(&self.steps);
        require(counted, "steps", || format!("{}, expected 0 to {MOST_STEPS}", self.steps))
    }

    /// The change of each parameter for this gradient, bias-corrected: the first is `rate * scale`, whatever the gradient's
    /// size.
    ///
    /// # Errors
    /// When the gradient has another length than the scales, or the moments of a state from outside have.
    pub fn step(&mut self, gradient: &[f64]) -> Result<Vec<f64>> {
        let n = self.scales.len();
        same_length("numbers of the gradient", gradient.len(), n)?;
        same_length("first moments", self.first.len(), n)?;
        same_length("second moments", self.second.len(), n)?;
        self.steps = self.steps.saturating_add(1);
        let mut changes = Vec::with_capacity(n);
        for (k, &scale) in self.scales.iter().enumerate() {
            let by = AdamStep::new(self.rate, scale, self.beta, self.epsilon, self.steps);
            let (first, second, change) = adam::<f64>(gradient[k] * scale, self.first[k], self.second[k], by);
            (self.first[k], self.second[k]) = (first, second);
            changes.push(change);
        }
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_the_rate_in_units_of_the_scale() -> Result<()> {
        let mut adam = Adam::new(0.1, vec![1.0, 100.0]);
        let change = adam.step(&[1e-3, -1e5])?;
        assert!((change[0] + 0.1).abs() < 1e-9 && (change[1] - 10.0).abs() < 1e-9, "{change:?}");
        // By hand: moments 0.9 m + 0.1 g and 0.999 v + 0.001 g^2, corrected by 1 - 0.9^2 and 1 - 0.999^2.
        let change = adam.step(&[3e-3, 0.0])?;
        let (m, v) = (0.09e-3 + 0.3e-3, 0.999e-9 + 9e-9);
        let exact = -0.1 * (m / 0.19) / (v / (1.0 - 0.999f64 * 0.999)).sqrt();
        assert!((change[0] / exact - 1.0).abs() < 1e-6, "{} {exact}", change[0]);
        Ok(())
    }

    #[test]
    fn it_finds_the_bottom_of_a_bowl_whose_axes_differ() -> Result<()> {
        let mut x = vec![3.0, -200.0];
        let mut adam = Adam::new(0.1, vec![1.0, 100.0]);
        for step in 0..2000 {
            adam.rate = 0.1 / (1.0 + 0.01 * f64::from(step));
            let gradient = vec![2.0 * (x[0] - 1.0), 1e-3 * (x[1] - 50.0)];
            x.iter_mut().zip(adam.step(&gradient)?).for_each(|(x, c)| *x += c);
        }
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 50.0).abs() < 1e-4, "{x:?}");
        Ok(())
    }
}
