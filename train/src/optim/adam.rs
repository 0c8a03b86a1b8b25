//! Adam (Kingma and Ba 2015): gradient steps scaled by running moments, for many parameters and noisy gradients.

use crate::check::{Checked, finite, require, within};
use serde::{Deserialize, Serialize};

/// Far more steps than any search takes.
const MOST_STEPS: i32 = 1_000_000_000;

/// Moments of the gradient so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
        within("epsilon", self.epsilon, f64::MIN_POSITIVE, f64::MAX)?;
        let fading = self.beta.iter().all(|fade| (0.0..1.0).contains(fade));
        require(fading, "beta", || format!("{:?}, expected two numbers from 0 to less than 1", self.beta))?;
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
    pub fn step(&mut self, gradient: &[f64]) -> Vec<f64> {
        self.steps += 1;
        let [fade, fade_square] = self.beta;
        let (mature, mature_square) = (1.0 - fade.powi(self.steps), 1.0 - fade_square.powi(self.steps));
        let moments = self.first.iter_mut().zip(&mut self.second);
        let change = |((first, second), (gradient, scale)): ((&mut f64, &mut f64), (&f64, &f64))| {
            let gradient = gradient * scale;
            *first = fade * *first + (1.0 - fade) * gradient;
            *second = fade_square * *second + (1.0 - fade_square) * gradient * gradient;
            let size = (*second / mature_square).sqrt();
            -self.rate * scale * (*first / mature) / (size + self.epsilon)
        };
        moments.zip(gradient.iter().zip(&self.scales)).map(change).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_step_is_the_rate_in_units_of_the_scale() {
        let mut adam = Adam::new(0.1, vec![1.0, 100.0]);
        let change = adam.step(&[1e-3, -1e5]);
        assert!((change[0] + 0.1).abs() < 1e-9 && (change[1] - 10.0).abs() < 1e-9, "{change:?}");
        // By hand: moments 0.9 m + 0.1 g and 0.999 v + 0.001 g^2, corrected by 1 - 0.9^2 and 1 - 0.999^2.
        let change = adam.step(&[3e-3, 0.0]);
        let (m, v) = (0.09e-3 + 0.3e-3, 0.999e-9 + 9e-9);
        let exact = -0.1 * (m / 0.19) / (v / (1.0 - 0.999f64 * 0.999)).sqrt();
        assert!((change[0] / exact - 1.0).abs() < 1e-6, "{} {exact}", change[0]);
    }

    #[test]
    fn it_finds_the_bottom_of_a_bowl_whose_axes_differ() {
        let mut x = vec![3.0, -200.0];
        let mut adam = Adam::new(0.1, vec![1.0, 100.0]);
        for turn in 0..2000 {
            adam.rate = 0.1 / (1.0 + 0.01 * f64::from(turn));
            let gradient = vec![2.0 * (x[0] - 1.0), 1e-3 * (x[1] - 50.0)];
            x.iter_mut().zip(adam.step(&gradient)).for_each(|(x, c)| *x += c);
        }
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 50.0).abs() < 1e-4, "{x:?}");
    }
}
