//! Newton's method with truncated conjugate gradients in a trust region (Steihaug 1983; Nocedal and Wright 2006,
//! algorithms 4.1 and 7.2). The Hessian is seen through its products alone, and may have negative eigenvalues.
//!
//! Only the choice of steps: who evaluates, and on what, is elsewhere.

use crate::check::{Checked, at_most, within};
use serde::{Deserialize, Serialize};

/// Far more products than any step takes.
const MOST_PRODUCTS: usize = 1_000_000;

/// Why the inner iteration ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inner {
    /// The system is solved as far as it was asked for.
    Solved,
    /// The step reached the border of the trust region.
    Border,
    /// Along some direction the cost curves downwards; the step follows it to the border.
    NegativeCurvature,
}

/// A proposed step.
#[derive(Debug, Clone, PartialEq)]
pub struct NewtonStep {
    /// Change of each parameter.
    pub change: Vec<f64>,
    /// By how much the quadratic model falls.
    pub predicted: f64,
    /// Products with the Hessian that it took.
    pub products: usize,
    /// How it ended.
    pub ended: Inner,
}

/// The trust region, and how it follows success.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewtonCg {
    /// Longest step, Euclidean.
    pub radius: f64,
    /// Largest radius.
    pub widest: f64,
    /// Most products per step; the number of parameters is always enough.
    pub products: usize,
}

impl NewtonCg {
    /// Steps of at most `radius` at first.
    pub fn new(radius: f64) -> Self {
        Self { radius, widest: 100.0 * radius, products: 50 }
    }

    /// Checks what was read from a file.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Checked {
        within("widest", self.widest, 0.0, f64::MAX)?;
        within("radius", self.radius, 0.0, self.widest)?;
        at_most("products", self.products, MOST_PRODUCTS)
    }

    /// The step for this gradient; `product` multiplies the Hessian with a vector. The system is solved the better the
    /// smaller the gradient, relative to `first`, the norm of the first gradient: convergence ends up superlinear.
    ///
    /// # Errors
    /// Those of `product`.
    pub fn propose<E>(
        &self,
        gradient: &[f64],
        first: f64,
        mut product: impl FnMut(&[f64]) -> Result<Vec<f64>, E>,
    ) -> Result<NewtonStep, E> {
        let size = norm(gradient);
        let goal = size * (size / first.max(size)).sqrt().min(0.5);
        let mut change = vec![0.0; gradient.len()];
        let mut residual = gradient.to_vec();
        let mut direction: Vec<f64> = residual.iter().map(|r| -r).collect();
        let mut images = vec![0.0; gradient.len()];
        let mut products = 0;
        let most = self.products.min(2 * gradient.len().max(1));
        let ended = loop {
            if norm(&residual) <= goal || products >= most {
                break Inner::Solved;
            }
            let image = product(&direction)?;
            products += 1;
            let curvature = dot(&direction, &image);
            let square = dot(&residual, &residual);
            let step = square / curvature;
            // Not `curvature <= 0`: NaN is no curvature either.
            let convex = curvature > 1e-14 * dot(&direction, &direction) * norm(&image).min(1.0);
            let beyond = !convex || norm(&plus(&change, step, &direction)) >= self.radius;
            let length = if beyond { to_border(&change, &direction, self.radius) } else { step };
            change = plus(&change, length, &direction);
            images = plus(&images, length, &image);
            if beyond {
                break if convex { Inner::Border } else { Inner::NegativeCurvature };
            }
            residual = plus(&residual, step, &image);
            let next = dot(&residual, &residual) / square;
            direction = direction.iter().zip(&residual).map(|(d, r)| next * d - r).collect();
        };
        let predicted = -dot(gradient, &change) - 0.5 * dot(&change, &images);
        Ok(NewtonStep { change, predicted, products, ended })
    }

    /// After the cost fell by `fall` (negative if it rose): whether to take the step. The region follows how well the model
    /// foretold it.
    pub fn judge(&mut self, step: &NewtonStep, fall: f64) -> bool {
        let ratio = fall / step.predicted;
        if ratio.is_nan() || ratio < 0.25 {
            self.radius = 0.25 * norm(&step.change);
        } else if ratio > 0.75 && step.ended != Inner::Solved {
            self.radius = (2.0 * self.radius).min(self.widest);
        }
        ratio > 1e-4
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn plus(a: &[f64], s: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + s * b).collect()
}

/// The positive `s` with `|at + s direction| = radius`.
fn to_border(at: &[f64], direction: &[f64], radius: f64) -> f64 {
    let (a, b, c) = (dot(direction, direction), dot(at, direction), dot(at, at) - radius * radius);
    let root = (b * b - a * c).max(0.0).sqrt();
    // Of the two ways to write it, the one without cancellation.
    if b > 0.0 { -c / (b + root) } else { (root - b) / a }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Never = std::convert::Infallible;

    fn minimise(
        mut x: Vec<f64>,
        cost: impl Fn(&[f64]) -> f64,
        gradient: impl Fn(&[f64]) -> Vec<f64>,
        product: impl Fn(&[f64], &[f64]) -> Vec<f64>,
    ) -> (Vec<f64>, usize, bool) {
        let (mut newton, mut turned) = (NewtonCg::new(0.5), false);
        let first = norm(&gradient(&x));
        for turn in 0..100 {
            let here = gradient(&x);
            if norm(&here) < 1e-10 {
                return (x, turn, turned);
            }
            let Ok(step) = newton.propose(&here, first, |v| Ok::<_, Never>(product(&x, v)));
            turned |= step.ended == Inner::NegativeCurvature;
            let next = plus(&x, 1.0, &step.change);
            if newton.judge(&step, cost(&x) - cost(&next)) {
                x = next;
            }
        }
        (x, 100, turned)
    }

    /// Rosenbrock's valley, also from a place where the Hessian is indefinite.
    #[test]
    fn finds_the_end_of_the_valley() {
        let cost = |x: &[f64]| (1.0 - x[0]).powi(2) + 100.0 * (x[1] - x[0] * x[0]).powi(2);
        let gradient = |x: &[f64]| {
            let bend = x[1] - x[0] * x[0];
            vec![-2.0 * (1.0 - x[0]) - 400.0 * x[0] * bend, 200.0 * bend]
        };
        let product = |x: &[f64], v: &[f64]| {
            let (xx, xy) = (2.0 - 400.0 * (x[1] - 3.0 * x[0] * x[0]), -400.0 * x[0]);
            vec![xx * v[0] + xy * v[1], xy * v[0] + 200.0 * v[1]]
        };
        for start in [vec![-1.2, 1.0], vec![0.0, 1.5]] {
            let (x, turns, _) = minimise(start, cost, gradient, product);
            assert!((x[0] - 1.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8 && turns < 60, "{x:?} in {turns}");
        }
    }

    #[test]
    fn a_saddle_is_left_downhill() {
        let cost = |x: &[f64]| x[0] * x[0] - x[1] * x[1] + 0.25 * x[1].powi(4);
        let gradient = |x: &[f64]| vec![2.0 * x[0], -2.0 * x[1] + x[1].powi(3)];
        let product = |x: &[f64], v: &[f64]| vec![2.0 * v[0], (3.0 * x[1] * x[1] - 2.0) * v[1]];
        let (x, turns, turned) = minimise(vec![0.5, 0.01], cost, gradient, product);
        assert!(turned && turns < 30, "{turns}");
        assert!(x[0].abs() < 1e-9 && (x[1].abs() - 2.0f64.sqrt()).abs() < 1e-9, "{x:?}");
    }

    #[test]
    fn a_quadratic_takes_one_step_and_its_prediction_is_exact() {
        let hessian = [[3.0, 1.0, 0.0], [1.0, 4.0, -1.0], [0.0, -1.0, 2.0]];
        let product = |v: &[f64]| Ok::<_, Never>(hessian.iter().map(|row| dot(row, v)).collect());
        let gradient = vec![1.0, -2.0, 0.5];
        let newton = NewtonCg::new(10.0);
        // The first gradient was far larger: solve well.
        let Ok(step) = newton.propose(&gradient, 1e30, product);
        let Ok(image) = product(&step.change);
        image.iter().zip(&gradient).for_each(|(a, g)| assert!((a + g).abs() < 1e-12, "{step:?}"));
        let fall = -dot(&gradient, &step.change) - 0.5 * dot(&step.change, &image);
        assert!((step.predicted - fall).abs() < 1e-14 && step.ended == Inner::Solved && step.products <= 4);
        // Too long: it ends at the border.
        let Ok(short) = NewtonCg::new(0.1).propose(&gradient, 1e30, product);
        assert!(short.ended == Inner::Border && (norm(&short.change) - 0.1).abs() < 1e-12);
    }
}
