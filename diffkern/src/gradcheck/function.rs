//! The gradient of a function of some numbers.

use super::GradcheckReport;
use super::differences::{Estimate, Ladder};
use super::random::Random;
use crate::error::{Error, Result};

/// How [`function()`] checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Of the random directions.
    pub seed: u64,
    /// Number of directions.
    pub directions: usize,
    /// Largest relative error of a directional derivative.
    pub tolerance: f64,
    /// Least Taylor rate with the gradient.
    pub least_rate: f64,
    /// Largest step of the ladder, relative to the scales.
    pub first_step: f64,
    /// Number of steps of the ladder, each a quarter of the one before. The function is called twice per step.
    pub steps: usize,
    /// Size of a usual change of each number; empty for the larger of 1 and its absolute value.
    pub scales: Vec<f64>,
    /// Part by which a gradient that is too large in all components has to be refused, along one direction at least: a
    /// check that cannot fail proves nothing. 0 does not ask. It costs no call of the function.
    pub detects: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: 0,
            directions: 3,
            tolerance: 1e-6,
            least_rate: 1.9,
            first_step: 1e-2,
            steps: 8,
            scales: Vec::new(),
            detects: 0.0,
        }
    }
}

/// Compares `grad`, the gradient of `f` at `at`, with finite differences along random directions (a ladder of steps,
/// the best of its plateau), and measures the rates at which the Taylor remainder shrinks with and without it.
///
/// ```
/// use diffkern::gradcheck::{Options, function};
///
/// let f = |x: &[f64]| Ok(x[0] * x[0] * x[1]);
/// let at = [3.0, 2.0];
/// println!("{}", function(f, &[12.0, 9.0], &at, &Options::default())?);
/// let error = function(f, &[12.0, 8.0], &at, &Options::default()).unwrap_err();
/// println!("{error}"); // the component, and what finite differences say
/// # Ok::<(), diffkern::Error>(())
/// ```
///
/// # Errors
/// When the gradient is wrong: the message has the seed, the worst component, both derivatives and the step. When more
/// than half of the directions meet a kink, or `f` fails. When a gradient that is too large by [`Options::detects`] would
/// pass.
pub fn function(
    f: impl Fn(&[f64]) -> Result<f64>,
    grad: &[f64],
    at: &[f64],
    options: &Options,
) -> Result<GradcheckReport> {
    if grad.len() != at.len() {
        return Err(Error::Length { what: "gradient check", found: grad.len(), expected: at.len() });
    }
    if !options.scales.is_empty() && options.scales.len() != at.len() {
        return Err(Error::Length { what: "gradient check, scales", found: options.scales.len(), expected: at.len() });
    }
    let scales: Vec<f64> = match options.scales.is_empty() {
        true => at.iter().map(|x| x.abs().max(1.0)).collect(),
        false => options.scales.clone(),
    };
    let problem = Problem { f: &f, grad, at, options, value: f(at)? };
    let mut random = Random::new(options.seed);
    let mut detected = options.detects == 0.0;
    let mut report = GradcheckReport {
        taylor_rate: f64::INFINITY,
        taylor_rate_without: f64::INFINITY,
        ..GradcheckReport::default()
    };
    while report.directions < options.directions {
        let direction: Vec<f64> = scales.iter().map(|s| s * random.component()).collect();
        let ladder = problem.ladder(&direction)?;
        let estimate = ladder.estimate();
        if let Some((left, right)) = estimate.kink {
            report.redrawn += 1;
            if 2 * report.redrawn > options.directions.max(2) {
                return Err(Error::Gradient(format!(
                    "seed {}: {} directions meet a kink (one-sided derivatives {left} and {right}); check at another \
                     point",
                    options.seed, report.redrawn
                )));
            }
            continue;
        }
        report.directions += 1;
        report.difference_error = report.difference_error.max(problem.compare(&direction, &scales, estimate)?);
        let slope = problem.slope(&direction);
        report.taylor_rate = report.taylor_rate.min(ladder.rate(slope));
        report.taylor_rate_without = report.taylor_rate_without.min(ladder.rate(0.0));
        let off = (1.0 + options.detects) * slope;
        let error = problem.error(&direction, off, estimate);
        detected |= error > options.tolerance || ladder.rate(off) < options.least_rate;
    }
    if report.taylor_rate < options.least_rate {
        return Err(Error::Gradient(format!(
            "seed {}: Taylor rate {:.3} (without the gradient {:.3}), {} is needed",
            options.seed, report.taylor_rate, report.taylor_rate_without, options.least_rate
        )));
    }
    match detected {
        true => Ok(report),
        false => Err(Error::Gradient(format!(
            "seed {}: a gradient that is too large by the part {:e} would pass, too: the function hardly changes in the {} \
             directions, or more is allowed than that",
            options.seed, options.detects, report.directions
        ))),
    }
}

struct Problem<'a, F> {
    f: &'a F,
    grad: &'a [f64],
    at: &'a [f64],
    options: &'a Options,
    value: f64,
}

impl<F: Fn(&[f64]) -> Result<f64>> Problem<'_, F> {
    fn moved(&self, direction: &[f64], h: f64) -> Result<f64> {
        let x: Vec<f64> = self.at.iter().zip(direction).map(|(x, d)| x + h * d).collect();
        (self.f)(&x)
    }

    fn ladder(&self, direction: &[f64]) -> Result<Ladder> {
        let steps = Ladder::steps(self.options.first_step, self.options.steps);
        let plus = steps.iter().map(|&h| self.moved(direction, h)).collect::<Result<_>>()?;
        let minus = steps.iter().map(|&h| self.moved(direction, -h)).collect::<Result<_>>()?;
        let (noise, bound) = (f64::EPSILON, self.options.tolerance);
        Ok(Ladder { steps, at: self.value, plus, minus, noise, bound })
    }

    fn slope(&self, direction: &[f64]) -> f64 {
        self.grad.iter().zip(direction).map(|(g, d)| g * d).sum()
    }

    /// The relative error of the derivative `slope` along `direction`.
    fn error(&self, direction: &[f64], slope: f64, estimate: Estimate) -> f64 {
        let size: f64 = self.grad.iter().zip(direction).map(|(g, d)| (g * d).powi(2)).sum::<f64>().sqrt();
        relative(slope, estimate.derivative, 1e-2 * size)
    }

    /// The relative error along `direction`, or an error that says where it comes from.
    fn compare(&self, direction: &[f64], scales: &[f64], estimate: Estimate) -> Result<f64> {
        let slope = self.slope(direction);
        let error = self.error(direction, slope, estimate);
        if error <= self.options.tolerance {
            return Ok(error);
        }
        let culprit = self.culprit(scales)?;
        Err(Error::Gradient(format!(
            "seed {}: along a random direction the gradient says {slope}, finite differences {} (step {:e}): relative \
             error {error:.2e}, allowed {:e}{culprit}",
            self.options.seed, estimate.derivative, estimate.step, self.options.tolerance
        )))
    }

    /// The worst of the most influential components.
    fn culprit(&self, scales: &[f64]) -> Result<String> {
        let mut order: Vec<usize> = (0..self.grad.len()).collect();
        let influence = |k: usize| (self.grad[k] * scales[k]).abs();
        order.sort_by(|&a, &b| influence(b).total_cmp(&influence(a)));
        let mut worst: Option<(f64, usize, Estimate)> = None;
        for k in order.into_iter().take(8) {
            let mut direction = vec![0.0; self.grad.len()];
            direction[k] = scales[k];
            let estimate = self.ladder(&direction)?.estimate();
            let error = relative(self.grad[k] * scales[k], estimate.derivative, 0.0);
            if worst.is_none_or(|(most, ..)| error > most) {
                worst = Some((error, k, estimate));
            }
        }
        Ok(worst.map_or_else(String::new, |(_, k, estimate)| {
            let numeric = estimate.derivative / scales[k];
            let step = estimate.step * scales[k];
            format!("; component {k}: analytic {}, numeric {numeric}, step {step:e}", self.grad[k])
        }))
    }
}

fn relative(analytic: f64, numeric: f64, floor: f64) -> f64 {
    let size = analytic.abs().max(numeric.abs()).max(floor);
    match (analytic - numeric).abs() {
        0.0 => 0.0,
        error => error / size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f(x: &[f64]) -> Result<f64> {
        Ok(x[0].sin() * x[1].exp() + x[2] * x[2] * x[0])
    }

    fn gradient(x: &[f64]) -> Vec<f64> {
        vec![x[0].cos() * x[1].exp() + x[2] * x[2], x[0].sin() * x[1].exp(), 2.0 * x[2] * x[0]]
    }

    #[test]
    fn a_right_gradient_passes_with_rate_two() {
        let at = [0.4, -0.3, 1.2];
        let report = function(f, &gradient(&at), &at, &Options::default()).expect("right");
        assert!(report.difference_error < 1e-9, "{report}");
        assert!((report.taylor_rate - 2.0).abs() < 0.1, "{report}");
        assert!((report.taylor_rate_without - 1.0).abs() < 0.1, "{report}");
    }

    #[test]
    fn a_wrong_gradient_is_named() {
        let at = [0.4, -0.3, 1.2];
        let mut wrong = gradient(&at);
        wrong[2] *= 1.001;
        let message = function(f, &wrong, &at, &Options::default()).expect_err("wrong").to_string();
        for part in ["seed 0", "component 2", "analytic", "numeric", "step"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn what_could_not_fail_is_refused() {
        let at = [0.4, -0.3, 1.2];
        let check = |tolerance| {
            let options = Options { tolerance, least_rate: 0.0, detects: 1e-3, ..Options::default() };
            function(f, &gradient(&at), &at, &options)
        };
        assert!(check(1e-6).is_ok());
        let message = check(0.1).expect_err("a tolerance of a tenth").to_string();
        assert!(message.contains("too large by the part 1e-3"), "{message}");
        // Whatever the tolerance, the remainder shrinks too slowly.
        let options = Options { tolerance: 0.1, detects: 1e-3, ..Options::default() };
        assert!(function(f, &gradient(&at), &at, &options).is_ok());
    }

    #[test]
    fn a_kink_is_reported() {
        let message = function(|x| Ok(x[0].abs()), &[1.0], &[0.0], &Options::default()).expect_err("kink").to_string();
        assert!(message.contains("kink"), "{message}");
    }

    #[test]
    fn a_linear_function_has_no_remainder() {
        let report = function(|x| Ok(2.0 * x[0]), &[2.0], &[1.0], &Options::default()).expect("right");
        assert!(report.taylor_rate > 1.9);
    }
}
