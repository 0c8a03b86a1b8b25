//! Levenberg-Marquardt for many parameters: the damped normal equations by conjugate gradients (Nocedal and Wright 2006,
//! section 10.3), from products alone.

use crate::check::{Checked, at_most, within};
use crate::error::{Result, setting};
use crate::newton_cg::NewtonCg;
use crate::objective::{Evaluation, Objective};
use crate::rule::{Rule, Stepped, finite};
use crate::vector::Vector;

/// Least damping and most; with more the step is zero.
const LEAST: f64 = 1e-9;
const MOST: f64 = 1e18;
/// More products than any step takes.
const MOST_PRODUCTS: usize = 1_000_000;

/// Steps `p` of `(G + mu I) p = -g`, for the gradient `g` and the Gauss-Newton matrix `G = J^T J` of an objective such as
/// [`TapedResiduals`](crate::TapedResiduals). `mu` is the damping times the curvature along the gradient, `<g, G g> / <g, g>`,
/// so that it has no unit. After a step the damping falls, after a refused one it grows, as the value followed the model.
///
/// Unlike [`dense::LevenbergMarquardt`](crate::dense::LevenbergMarquardt) it never makes the matrix: each product is a tangent
/// and an adjoint of the program. Parameters should be of like scale. Of arrays, three reads from the device for each product,
/// at most four more for each step, and those of the evaluation.
///
/// ```
/// use diffkern::{arith, prelude::*};
/// use diffkern_optim::{LevenbergMarquardt, Stop, TapedResiduals, minimise};
///
/// // x^3 = 8
/// let mut x = vec![Device::cpu().array(&[1.0])?];
/// let mut residuals = TapedResiduals::new(|x: &[Array<f64>]| {
///     let eight = x[0].device().full(1, 8.0)?;
///     arith::sub(&arith::multiply(&x[0], &arith::multiply(&x[0], &x[0])?)?, &eight)
/// });
/// minimise(&mut LevenbergMarquardt::default(), &mut residuals, &mut x, &Stop::default())?;
/// assert!((x[0].to_vec()?[0] - 2.0).abs() < 1e-9);
/// # Ok::<(), diffkern_optim::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct LevenbergMarquardt {
    /// Relative to the curvature along the gradient.
    pub damping: f64,
    /// Most products per step.
    pub products: usize,
    /// Norm of the first gradient; none before the first step.
    pub first: Option<f64>,
}

impl Default for LevenbergMarquardt {
    fn default() -> LevenbergMarquardt {
        LevenbergMarquardt { damping: 1e-2, products: 50, first: None }
    }
}

impl LevenbergMarquardt {
    /// Checks what was read from a file.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Checked {
        within("damping", self.damping, 0.0, MOST)?;
        at_most("products", self.products, MOST_PRODUCTS)?;
        within("first", self.first.unwrap_or(0.0), 0.0, f64::MAX)
    }
}

impl<V: Vector> Rule<V> for LevenbergMarquardt {
    fn step<O: Objective<V>>(&mut self, x: &mut V, here: O::At, objective: &mut O) -> Result<Stepped<O::At>> {
        setting("the damping", self.damping, "a finite number of at least 0", |damping| damping >= 0.0)?;
        finite("the value", here.value(), 0)?;
        let gradient = here.gradient();
        let along = here.product(gradient)?;
        let found = V::dots(&[(gradient, gradient), (gradient, &along)])?;
        let (square, curvature) = (found[0], found[1]);
        finite("the squared norm of the gradient", square, 0)?;
        finite("the curvature along the gradient", curvature, 0)?;
        if square == 0.0 {
            return Ok(Stepped { here, taken: false, exhausted: true, evaluations: 0, products: 1 });
        }
        let first = *self.first.get_or_insert(square.sqrt());
        let shift = self.damping * (curvature / square).max(0.0);
        let inner = NewtonCg { products: self.products, ..NewtonCg::new(f64::MAX) };
        let step = inner.propose(gradient, first, |v| V::combine(1.0, &here.product(v)?, shift, v))?;
        let products = step.products + 1;
        // Of the model without damping.
        let predicted = step.predicted + 0.5 * shift * step.length * step.length;
        let trial = V::combine(1.0, x, 1.0, &step.change)?;
        let there = objective.evaluate(&trial)?;
        let rounding = 10.0 * V::epsilon() * here.value().abs();
        let mut fall = here.value() - there.value();
        // Where both are rounding their quotient says nothing: the model is right, and the gradient has the last word.
        if predicted <= rounding && fall.abs() <= rounding {
            fall = if there.gradient().norm()? < square.sqrt() { predicted } else { 0.0 };
        }
        let ratio = fall / predicted;
        // Not `ratio <= 1e-4`: NaN is refused, too.
        let taken = ratio > 1e-4;
        self.damping = match ratio > 0.25 {
            true => (0.2 * self.damping).max(LEAST),
            false if taken => self.damping,
            false => (10.0 * self.damping).clamp(1e-2, MOST),
        };
        let exhausted = !taken && (predicted <= rounding || self.damping >= MOST);
        let here = if taken { there } else { here };
        if taken {
            x.assign(&trial)?;
        }
        Ok(Stepped { here, taken, exhausted, evaluations: 1, products })
    }
}
