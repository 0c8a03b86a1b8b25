//! Objectives from programs of launches, by a tape for each point.

use diffkern::{Array, Float, Metric, Tape, reduce};

use crate::error::{Result, same_length};
use crate::objective::{Evaluation, Objective};
use crate::vector::Arrays;

/// The loss of a program: it takes the parameters and gives an array of one. It is recorded anew at each point, over copies
/// of the parameters, so what it branches on may change, and gradients of the arrays themselves stay as they are. Products
/// are those of [`Tape::hvp`] and need the feature `second-order`.
///
/// The value is the one thing that is read to the host. The gradient is exact where that of the tape is; a parameter that
/// the loss does not depend on has the gradient 0.
///
/// ```
/// use diffkern::prelude::*;
/// use diffkern::reduce;
/// use diffkern_optim::{Evaluation, Objective, Taped};
///
/// let x = vec![Device::cpu().array(&[1.0, 2.0])?];
/// let here = Taped::new(|x: &[Array<f64>]| reduce::squared_norm(&x[0])).evaluate(&x)?;
/// assert_eq!((here.value(), here.gradient()[0].to_vec()?), (5.0, vec![2.0, 4.0]));
/// # Ok::<(), diffkern_optim::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Taped<P> {
    program: P,
}

impl<P> Taped<P> {
    /// Of this program.
    pub fn new(program: P) -> Taped<P> {
        Taped { program }
    }
}

/// Half the sum of squares of the residuals of a program, which takes the parameters and gives the residuals `r`. The value
/// is `|r|^2 / 2`, the gradient `J^T r`, and products are those with the Gauss-Newton matrix `J^T J`
/// ([`Tape::gauss_newton`]): they need no second derivatives, and are the Hessian where the residuals vanish.
#[derive(Clone, Debug)]
pub struct TapedResiduals<P> {
    program: P,
}

impl<P> TapedResiduals<P> {
    /// Of this program.
    pub fn new(program: P) -> TapedResiduals<P> {
        TapedResiduals { program }
    }
}

/// A point of a [`Taped`] or [`TapedResiduals`], with its tape.
#[derive(Debug)]
pub struct Recorded<F> {
    tape: Tape,
    /// The copies of the parameters.
    x: Arrays<F>,
    output: Array<F>,
    least_squares: bool,
    value: f64,
    gradient: Arrays<F>,
}

type Program<'a, F> = &'a mut dyn FnMut(&[Array<F>]) -> diffkern::Result<Array<F>>;

fn record<F: Float>(x: &Arrays<F>, program: Program<'_, F>) -> Result<(Tape, Arrays<F>, Array<F>)> {
    let x = x.iter().map(|x| Ok(x.detached()?.requires_grad())).collect::<Result<Arrays<F>>>()?;
    let (tape, output) = Tape::record_value(|| program(&x))?;
    Ok((tape, x, output))
}

/// The gradients that the last backward pass has left at the parameters.
fn gradient<F: Float>(x: &Arrays<F>) -> Result<Arrays<F>> {
    let of = |x: &Array<F>| match x.grad() {
        Err(diffkern::Error::NoGradient { .. }) => x.device().zeros(x.len()),
        gradient => gradient,
    };
    x.iter().map(|x| Ok(of(x)?)).collect()
}

impl<F: Float, P: FnMut(&[Array<F>]) -> diffkern::Result<Array<F>>> Objective<Arrays<F>> for Taped<P> {
    type At = Recorded<F>;

    fn evaluate(&mut self, x: &Arrays<F>) -> Result<Recorded<F>> {
        let (tape, x, output) = record(x, &mut self.program)?;
        same_length("values of the loss", output.len(), 1)?;
        tape.backward(&output)?;
        let (value, gradient) = (output.to_vec()?[0].to_f64(), gradient(&x)?);
        Ok(Recorded { tape, x, output, least_squares: false, value, gradient })
    }
}

impl<F: Float, P: FnMut(&[Array<F>]) -> diffkern::Result<Array<F>>> Objective<Arrays<F>> for TapedResiduals<P> {
    type At = Recorded<F>;

    fn evaluate(&mut self, x: &Arrays<F>) -> Result<Recorded<F>> {
        let (tape, x, output) = record(x, &mut self.program)?;
        let seed = output.detached()?;
        tape.backward_from(&[(output.as_any(), seed.as_any())])?;
        let value = 0.5 * reduce::squared_norm(&output)?.to_vec()?[0].to_f64();
        let gradient = gradient(&x)?;
        Ok(Recorded { tape, x, output, least_squares: true, value, gradient })
    }
}

impl<F: Float> Evaluation<Arrays<F>> for Recorded<F> {
    fn value(&self) -> f64 {
        self.value
    }

    fn gradient(&self) -> &Arrays<F> {
        &self.gradient
    }

    fn product(&self, v: &Arrays<F>) -> Result<Arrays<F>> {
        same_length("arrays of a direction", v.len(), self.x.len())?;
        // What the output does not depend on, the tape may not know.
        let reached = |x: &Array<F>| x.grad().is_ok();
        let moved = self.x.iter().zip(v).filter(|(x, _)| reached(x));
        let direction: Vec<_> = moved.map(|(x, v)| (x.as_any(), v.as_any())).collect();
        let products = match self.least_squares {
            true => self.tape.gauss_newton(&[self.output.as_any()], Metric::Identity, &[&direction])?,
            false => self.tape.hvp(&self.output, &[&direction])?,
        };
        let part = |x: &Array<F>| if reached(x) { products.get(0, x) } else { x.device().zeros(x.len()) };
        self.x.iter().map(|x| Ok(part(x)?)).collect()
    }
}
