//! Hessian-vector products of a case: against differences of its gradient, which the formula has confirmed.

use diffkern::gradcheck::{Along, along};
use diffkern::prelude::*;

use super::{CANCELLED, DIFFERENCES, Finding, Trial, near, pairs, stream, text};
use crate::case::Run;

impl Trial<'_> {
    /// `<u, H v>` against the change of `<u, gradient>` along `v`.
    pub(super) fn against_second_differences(&self) -> Finding<()> {
        let mut next = stream(self.seed + 3000);
        let mut draw =
            || -> Vec<Vec<f64>> { self.params.iter().map(|p| p.iter().map(|_| next() - 0.5).collect()).collect() };
        let (u, v) = (draw(), draw());
        let terms =
            |of: &[Vec<f64>]| -> Vec<f64> { of.iter().flatten().zip(u.iter().flatten()).map(|(x, u)| x * u).collect() };
        let product = terms(&self.product(&v).map_err(text)?);
        let analytic = product.iter().sum::<f64>();
        let slope = |t: f64| -> Result<Vec<f64>> {
            let moved = |(p, v): (&Vec<f64>, &Vec<f64>)| p.iter().zip(v).map(|(p, v)| p + t * v).collect();
            let params = self.params.iter().zip(&v).map(moved).collect();
            let there = Trial { params, ..self.clone() };
            Ok(terms(&there.outcome(&Device::cpu(), self.case.double)?.gradient))
        };
        let size = |terms: &[f64]| terms.iter().map(|t| t.abs()).sum::<f64>();
        let here = slope(0.0).map_err(text)?;
        let noise = 16.0 * f64::EPSILON * size(&here) / here.iter().sum::<f64>().abs().max(f64::MIN_POSITIVE);
        let along_v = |t: f64| slope(t).map(|terms| terms.iter().sum());
        match along(along_v, analytic, (1e-2, 9), noise, DIFFERENCES).map_err(text)? {
            Along::Smooth { derivative, .. } => {
                // Of a gradient that is constant the differences are rounding.
                let size = analytic.abs().max(CANCELLED * (size(&product) + size(&here)));
                match near(analytic, derivative, DIFFERENCES, size) {
                    true => Ok(()),
                    false => Err(format!("<u, H v> = {analytic}, numeric {derivative}")),
                }
            }
            Along::Kink { left, right } => {
                Err(format!("<u, H v> = {analytic}, a kink of the gradient: one-sided {left} and {right}"))
            }
        }
    }

    /// `H v`, by parameter.
    fn product(&self, v: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        let run = Run::new(&Device::cpu(), &self.params);
        let program = (self.case.double)(&run)?;
        let tape = Tape::record(&program)?;
        let seeds = self.seeds(&run.outputs.borrow())?;
        let inputs = run.inputs.borrow();
        let directions = inputs.iter().zip(v).map(|(input, v)| Ok((input.array.clone(), (input.like)(v)?)));
        let directions = directions.collect::<Result<Vec<_>>>()?;
        let products = tape.hvp_from(&pairs(&seeds), &[&pairs(&directions)])?;
        inputs.iter().map(|input| (input.read)(products.get_any(0, &input.array)?)).collect()
    }
}
