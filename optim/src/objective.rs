//! What is minimised: a value, its gradient, and perhaps products with a Hessian, at any point.

use crate::error::{Error, Result};
use crate::vector::Vector;

/// A function to be minimised. A closure that gives value and gradient is one:
///
/// ```
/// use diffkern_optim::{Evaluation, Objective};
///
/// let mut bowl = |x: &Vec<f64>| Ok((x[0] * x[0], vec![2.0 * x[0]]));
/// assert_eq!(bowl.evaluate(&vec![3.0])?.value(), 9.0);
/// # Ok::<(), diffkern_optim::Error>(())
/// ```
///
/// [`with_products`] makes one of two closures; [`Taped`](crate::Taped) and [`TapedResiduals`](crate::TapedResiduals) of a
/// program of launches.
pub trait Objective<V> {
    /// What is known at a point.
    type At: Evaluation<V>;

    /// Evaluates at `x`. Where there is no value, it may be given as infinite or NaN: rules with a line search, a trust region or
    /// damping then try a shorter step. An error ends the search.
    ///
    /// # Errors
    /// Those of the program.
    fn evaluate(&mut self, x: &V) -> Result<Self::At>;
}

/// What is known at a point. Its gradient is in arrays of its own: later evaluations leave it alone.
pub trait Evaluation<V> {
    /// The value.
    fn value(&self) -> f64;

    /// Its gradient, one array for each of the parameters.
    fn gradient(&self) -> &V;

    /// The Hessian at this point times `v`; of least squares, the Gauss-Newton matrix `J^T J` times `v`.
    ///
    /// # Errors
    /// When there are none ([`Error::NoProducts`]), or those of the program.
    fn product(&self, v: &V) -> Result<V> {
        let _ = v;
        Err(Error::NoProducts)
    }
}

impl<V> Evaluation<V> for (f64, V) {
    fn value(&self) -> f64 {
        self.0
    }

    fn gradient(&self) -> &V {
        &self.1
    }
}

impl<V, F: FnMut(&V) -> Result<(f64, V)>> Objective<V> for F {
    type At = (f64, V);

    fn evaluate(&mut self, x: &V) -> Result<(f64, V)> {
        self(x)
    }
}

/// An objective of two closures: `evaluate(x)` gives value and gradient, `product(x, v)` the Hessian at `x` times `v`.
///
/// ```
/// use diffkern_optim::{Evaluation, Objective, with_products};
///
/// let cubes = |x: &Vec<f64>| Ok((x[0].powi(3), vec![3.0 * x[0] * x[0]]));
/// let mut objective = with_products(cubes, |x: &Vec<f64>, v: &Vec<f64>| Ok(vec![6.0 * x[0] * v[0]]));
/// assert_eq!(objective.evaluate(&vec![2.0])?.product(&vec![10.0])?, [120.0]);
/// # Ok::<(), diffkern_optim::Error>(())
/// ```
pub fn with_products<V, E, P>(evaluate: E, product: P) -> WithProducts<E, P>
where
    E: FnMut(&V) -> Result<(f64, V)>,
    P: Fn(&V, &V) -> Result<V> + Clone,
{
    WithProducts { evaluate, product }
}

/// See [`with_products`].
#[derive(Clone, Debug)]
pub struct WithProducts<E, P> {
    evaluate: E,
    product: P,
}

/// What [`WithProducts`] knows at a point.
#[derive(Clone, Debug)]
pub struct AtPoint<V, P> {
    x: V,
    value: f64,
    gradient: V,
    product: P,
}

impl<V, E, P> Objective<V> for WithProducts<E, P>
where
    V: Vector,
    E: FnMut(&V) -> Result<(f64, V)>,
    P: Fn(&V, &V) -> Result<V> + Clone,
{
    type At = AtPoint<V, P>;

    fn evaluate(&mut self, x: &V) -> Result<Self::At> {
        let (value, gradient) = (self.evaluate)(x)?;
        // Arrays of parameters change in place.
        Ok(AtPoint { x: x.scaled(1.0)?, value, gradient, product: self.product.clone() })
    }
}

impl<V, P: Fn(&V, &V) -> Result<V>> Evaluation<V> for AtPoint<V, P> {
    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> &V {
        &self.gradient
    }

    fn product(&self, v: &V) -> Result<V> {
        (self.product)(&self.x, v)
    }
}
