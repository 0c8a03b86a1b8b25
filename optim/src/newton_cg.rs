//! Newton's method with truncated conjugate gradients in a trust region (Steihaug 1983; Nocedal and Wright 2006,
//! algorithms 4.1 and 7.2). The Hessian is seen through its products alone, and may have negative eigenvalues.

use crate::check::{Checked, at_most, within};
use crate::error::{Error, Result, setting};
use crate::objective::{Evaluation, Objective};
use crate::rule::{Rule, Stepped, finite};
use crate::vector::Vector;

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
pub struct NewtonStep<V> {
    /// Change of each parameter.
    pub change: V,
    /// Its Euclidean norm.
    pub length: f64,
    /// By how much the quadratic model falls.
    pub predicted: f64,
    /// Products with the Hessian that it took.
    pub products: usize,
    /// How it ended.
    pub ended: Inner,
}

/// The trust region, and how it follows success.
///
/// As a [`Rule`] it takes a step of [`NewtonCg::propose`], evaluates there, and lets [`NewtonCg::judge`] say whether to
/// keep it: one evaluation a step. The parameters should be of like scale: the region is a ball. Of arrays, three reads from
/// the device for each product, at most four more for each step, and those of the evaluation.
///
/// ```
/// use diffkern_optim::{NewtonCg, Stop, minimise, with_products};
///
/// // A saddle at 0 between two minima.
/// let evaluate = |x: &Vec<f64>| Ok((0.25 * x[0].powi(4) - x[0] * x[0], vec![x[0].powi(3) - 2.0 * x[0]]));
/// let product = |x: &Vec<f64>, v: &Vec<f64>| Ok(vec![(3.0 * x[0] * x[0] - 2.0) * v[0]]);
/// let mut x = vec![0.01];
/// let found = minimise(&mut NewtonCg::new(0.5), &mut with_products(evaluate, product), &mut x, &Stop::default())?;
/// assert!((x[0] - 2.0f64.sqrt()).abs() < 1e-8 && found.steps < 20);
/// # Ok::<(), diffkern_optim::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct NewtonCg {
    /// Longest step, Euclidean.
    pub radius: f64,
    /// Largest radius.
    pub widest: f64,
    /// Most products per step; the number of parameters is always enough.
    pub products: usize,
    /// Norm of the first gradient, by which [`Rule::step`] measures progress; none before its first step.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub first: Option<f64>,
}

impl NewtonCg {
    /// Steps of at most `radius` at first.
    pub fn new(radius: f64) -> Self {
        Self { radius, widest: 100.0 * radius, products: 50, first: None }
    }

    /// Checks what was read from a file.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Checked {
        within("widest", self.widest, 0.0, f64::MAX)?;
        within("radius", self.radius, 0.0, self.widest)?;
        at_most("products", self.products, MOST_PRODUCTS)?;
        within("first", self.first.unwrap_or(0.0), 0.0, f64::MAX)
    }

    /// The step for this gradient; `product` multiplies the Hessian with a vector. The system is solved the better the
    /// smaller the gradient, relative to `first`, the norm of the first gradient: convergence ends up superlinear.
    ///
    /// # Errors
    /// Those of `product`; when it gives another shape than it takes, or the device fails.
    pub fn propose<V: Vector, E: From<Error>>(
        &self,
        gradient: &V,
        first: f64,
        mut product: impl FnMut(&V) -> Result<V, E>,
    ) -> Result<NewtonStep<V>, E> {
        let mut square = gradient.dot(gradient)?;
        let size = square.sqrt();
        let goal = size * (size / first.max(size)).sqrt().min(0.5);
        let mut change = gradient.zeros()?;
        let mut images = gradient.zeros()?;
        let mut residual = gradient.scaled(1.0)?;
        let mut direction = residual.scaled(-1.0)?;
        let mut products = 0;
        let most = self.products.min(2 * gradient.reals().max(1));
        let ended = loop {
            if square.sqrt() <= goal || products >= most {
                break Inner::Solved;
            }
            let image = product(&direction)?;
            products += 1;
            let found = V::dots(&[(&direction, &image), (&direction, &direction), (&image, &image)])?;
            let (curvature, length, size) = (found[0], found[1], found[2].sqrt());
            let step = square / curvature;
            // Not `curvature <= 0`: NaN is no curvature either.
            let convex = curvature > 1e-14 * length * size.min(1.0);
            let beyond = !convex || V::combine(1.0, &change, step, &direction)?.norm()? >= self.radius;
            let length = if beyond { to_border(&change, &direction, self.radius)? } else { step };
            change = V::combine(1.0, &change, length, &direction)?;
            images = V::combine(1.0, &images, length, &image)?;
            if beyond {
                break if convex { Inner::Border } else { Inner::NegativeCurvature };
            }
            residual = V::combine(1.0, &residual, step, &image)?;
            let next = residual.dot(&residual)?;
            direction = V::combine(next / square, &direction, -1.0, &residual)?;
            square = next;
        };
        let found = V::dots(&[(gradient, &change), (&change, &images), (&change, &change)])?;
        let predicted = -found[0] - 0.5 * found[1];
        Ok(NewtonStep { change, length: found[2].sqrt(), predicted, products, ended })
    }

    /// After the cost fell by `fall` (negative if it rose): whether to take the step. The region follows how well the model
    /// foretold it.
    pub fn judge<V>(&mut self, step: &NewtonStep<V>, fall: f64) -> bool {
        let ratio = fall / step.predicted;
        if ratio.is_nan() || ratio < 0.25 {
            self.radius = 0.25 * step.length;
        } else if ratio > 0.75 && step.ended != Inner::Solved {
            self.radius = (2.0 * self.radius).min(self.widest);
        }
        ratio > 1e-4
    }
}

impl<V: Vector> Rule<V> for NewtonCg {
    fn step<O: Objective<V>>(&mut self, x: &mut V, here: O::At, objective: &mut O) -> Result<Stepped<O::At>> {
        setting("the trust region's radius", self.radius, "a finite number above 0", |radius| radius > 0.0)?;
        finite("the value", here.value(), 0)?;
        let size = here.gradient().norm()?;
        finite("the norm of the gradient", size, 0)?;
        if size == 0.0 {
            return Ok(Stepped { here, taken: false, exhausted: true, evaluations: 0, products: 0 });
        }
        let first = *self.first.get_or_insert(size);
        let step = self.propose(here.gradient(), first, |v| here.product(v))?;
        let products = step.products;
        let rounding = V::epsilon() * here.value().abs();
        let trial = V::combine(1.0, x, 1.0, &step.change)?;
        let there = objective.evaluate(&trial)?;
        let mut fall = here.value() - there.value();
        // Where both are rounding their quotient says nothing: the model is right, and the gradient has the last word.
        if step.predicted.abs() <= 10.0 * rounding && fall.abs() <= 10.0 * rounding {
            fall = if there.gradient().norm()? < size { step.predicted } else { 0.0 };
        }
        let taken = self.judge(&step, fall);
        let exhausted = !taken && step.predicted <= 10.0 * rounding;
        let here = if taken { there } else { here };
        if taken {
            x.assign(&trial)?;
        }
        Ok(Stepped { here, taken, exhausted, evaluations: 1, products })
    }
}

/// The positive `s` with `|at + s direction| = radius`.
fn to_border<V: Vector>(at: &V, direction: &V, radius: f64) -> Result<f64> {
    let found = V::dots(&[(direction, direction), (at, direction), (at, at)])?;
    let (a, b, c) = (found[0], found[1], found[2] - radius * radius);
    let root = (b * b - a * c).max(0.0).sqrt();
    // Of the two ways to write it, the one without cancellation.
    Ok(if b > 0.0 { -c / (b + root) } else { (root - b) / a })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    fn norm(a: &[f64]) -> f64 {
        dot(a, a).sqrt()
    }

    fn minimise(
        mut x: Vec<f64>,
        cost: impl Fn(&[f64]) -> f64,
        gradient: impl Fn(&[f64]) -> Vec<f64>,
        product: impl Fn(&[f64], &[f64]) -> Vec<f64>,
    ) -> Result<(Vec<f64>, usize, bool)> {
        let (mut newton, mut curved) = (NewtonCg::new(0.5), false);
        let first = norm(&gradient(&x));
        for k in 0..100 {
            let here = gradient(&x);
            if norm(&here) < 1e-10 {
                return Ok((x, k, curved));
            }
            let step = newton.propose(&here, first, |v: &Vec<f64>| Ok::<_, Error>(product(&x, v)))?;
            curved |= step.ended == Inner::NegativeCurvature;
            let next = Vector::combine(1.0, &x, 1.0, &step.change)?;
            if newton.judge(&step, cost(&x) - cost(&next)) {
                x = next;
            }
        }
        Ok((x, 100, curved))
    }

    /// Rosenbrock's valley, also from a place where the Hessian is indefinite.
    #[test]
    fn finds_the_end_of_the_valley() -> Result<()> {
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
            let (x, steps, _) = minimise(start, cost, gradient, product)?;
            assert!((x[0] - 1.0).abs() < 1e-8 && (x[1] - 1.0).abs() < 1e-8 && steps < 60, "{x:?} in {steps}");
        }
        Ok(())
    }

    #[test]
    fn a_saddle_is_left_downhill() -> Result<()> {
        let cost = |x: &[f64]| x[0] * x[0] - x[1] * x[1] + 0.25 * x[1].powi(4);
        let gradient = |x: &[f64]| vec![2.0 * x[0], -2.0 * x[1] + x[1].powi(3)];
        let product = |x: &[f64], v: &[f64]| vec![2.0 * v[0], (3.0 * x[1] * x[1] - 2.0) * v[1]];
        let (x, steps, curved) = minimise(vec![0.5, 0.01], cost, gradient, product)?;
        assert!(curved && steps < 30, "{steps}");
        assert!(x[0].abs() < 1e-9 && (x[1].abs() - 2.0f64.sqrt()).abs() < 1e-9, "{x:?}");
        Ok(())
    }

    #[test]
    fn a_quadratic_takes_one_step_and_its_prediction_is_exact() -> Result<()> {
        let hessian = [[3.0, 1.0, 0.0], [1.0, 4.0, -1.0], [0.0, -1.0, 2.0]];
        let product = |v: &Vec<f64>| Ok::<_, Error>(hessian.iter().map(|row| dot(row, v)).collect());
        let gradient = vec![1.0, -2.0, 0.5];
        let newton = NewtonCg::new(10.0);
        // The first gradient was far larger: solve well.
        let step = newton.propose(&gradient, 1e30, product)?;
        let image = product(&step.change)?;
        image.iter().zip(&gradient).for_each(|(a, g)| assert!((a + g).abs() < 1e-12, "{step:?}"));
        let fall = -dot(&gradient, &step.change) - 0.5 * dot(&step.change, &image);
        assert!((step.predicted - fall).abs() < 1e-14 && step.ended == Inner::Solved && step.products <= 4);
        // Too long: it ends at the border.
        let short = NewtonCg::new(0.1).propose(&gradient, 1e30, product)?;
        assert!(short.ended == Inner::Border && (norm(&short.change) - 0.1).abs() < 1e-12);
        Ok(())
    }
}
