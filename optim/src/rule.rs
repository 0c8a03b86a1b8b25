//! The interface of all optimizers, and the loop around them.

use crate::error::{Error, Result};
use crate::objective::{Evaluation, Objective};
use crate::vector::Vector;

/// A rule that chooses steps. It is its own state, and plain data: what was evaluated flows through [`Rule::step`] from one
/// step to the next, so that nothing is evaluated twice.
pub trait Rule<V: Vector> {
    /// One step from `x`, where the objective is `here`: changes `x` in place, or leaves it alone where no step is better.
    ///
    /// # Errors
    /// When a setting is wrong, the value or gradient is not finite, shapes differ, the objective fails, or the rule needs
    /// products that it does not have. Then `x` is as it was, unless the device failed.
    fn step<O: Objective<V>>(&mut self, x: &mut V, here: O::At, objective: &mut O) -> Result<Stepped<O::At>>;
}

/// What a step came to.
#[derive(Clone, Debug)]
pub struct Stepped<A> {
    /// The objective at the parameters as they are now.
    pub here: A,
    /// Whether the parameters have changed.
    pub taken: bool,
    /// Whether no further step will be better: all that is left is rounding.
    pub exhausted: bool,
    /// Evaluations of value and gradient.
    pub evaluations: usize,
    /// Products with the Hessian.
    pub products: usize,
}

/// When [`minimise`] ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// At a gradient of this Euclidean norm, in units of value over parameter.
    pub gradient: f64,
    /// After so many steps, refused ones included.
    pub steps: usize,
}

impl Default for Stop {
    /// At a gradient of 1e-8 or after 1000 steps.
    fn default() -> Stop {
        Stop { gradient: 1e-8, steps: 1000 }
    }
}

/// Why [`minimise`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The gradient is small enough.
    Converged,
    /// No step is better, for rounding.
    Exhausted,
    /// There were as many steps as allowed.
    Steps,
}

/// What [`minimise`] found; the parameters are in place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minimum {
    /// The value there.
    pub value: f64,
    /// Norm of the gradient there.
    pub gradient: f64,
    /// Steps, refused ones included.
    pub steps: usize,
    /// Evaluations of value and gradient.
    pub evaluations: usize,
    /// Products with the Hessian.
    pub products: usize,
    /// Why it ended.
    pub ended: Ended,
}

/// Steps by `rule` from `x` on until `stop`. One read of the gradient's norm per step, on top of what the rule reads.
///
/// ```
/// use diffkern_optim::{Ended, Lbfgs, Stop, minimise};
///
/// let mut x = vec![-1.2, 1.0];
/// let mut rosenbrock = |x: &Vec<f64>| {
///     let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
///     Ok((a * a + 100.0 * b * b, vec![-2.0 * a - 400.0 * x[0] * b, 200.0 * b]))
/// };
/// let found = minimise(&mut Lbfgs::new(10), &mut rosenbrock, &mut x, &Stop::default())?;
/// assert!(found.ended == Ended::Converged && (x[0] - 1.0).abs() < 1e-8);
/// # Ok::<(), diffkern_optim::Error>(())
/// ```
///
/// # Errors
/// Those of [`Rule::step`].
pub fn minimise<V: Vector, O: Objective<V>, R: Rule<V>>(
    rule: &mut R,
    objective: &mut O,
    x: &mut V,
    stop: &Stop,
) -> Result<Minimum> {
    let mut here = objective.evaluate(x)?;
    let (mut steps, mut evaluations, mut products) = (0, 1, 0);
    loop {
        let (value, gradient) = (here.value(), here.gradient().norm()?);
        finite("the value", value, steps)?;
        finite("the norm of the gradient", gradient, steps)?;
        let found = |ended| Minimum { value, gradient, steps, evaluations, products, ended };
        if gradient <= stop.gradient {
            return Ok(found(Ended::Converged));
        }
        if steps == stop.steps {
            return Ok(found(Ended::Steps));
        }
        let stepped = rule.step(x, here, objective)?;
        steps += 1;
        evaluations += stepped.evaluations;
        products += stepped.products;
        here = stepped.here;
        if stepped.exhausted {
            let (value, gradient) = (here.value(), here.gradient().norm()?);
            return Ok(Minimum { value, gradient, steps, evaluations, products, ended: Ended::Exhausted });
        }
    }
}

/// An error unless the number is finite.
pub(crate) fn finite(what: &str, value: f64, step: usize) -> Result<()> {
    match value.is_finite() {
        true => Ok(()),
        false => Err(Error::NotFinite { what: what.to_owned(), value, step: step as u64 }),
    }
}
