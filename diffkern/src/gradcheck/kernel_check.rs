//! The gradient of one kernel: its tangent against finite differences, its adjoint against its tangent.

use super::GradcheckReport;
use super::differences::{Estimate, Ladder};
use super::point::{Contents, Point};
use super::random::Random;
use crate::backend::native::Native;
use crate::device::Device;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::kernel::{KernelDef, ScalarTy};
use crate::launch::Arg;

const DIRECTIONS: u64 = 3;
const DIFFERENCES: f64 = 1e-6;
const DOT_PRODUCT: f64 = 1e-10;

/// Checks a kernel at a point: `<u, J v> = <J^T u, v>` to 1e-10, and `J v` against finite differences to 1e-6, for
/// random `u` and `v` over all real arrays, the previous contents of the written ones included.
///
/// # Errors
/// When one is missed; when the point is at a kink; when the arrays are not `f64` on the CPU.
pub fn kernel(
    def: &'static KernelDef,
    native: Native,
    domain: impl Into<Domain>,
    args: &[Arg<'_>],
) -> Result<GradcheckReport> {
    let on_cpu = |arg: &Arg<'_>| !matches!(arg, Arg::Array(array) if array.device() != &Device::cpu());
    if native.scalar != ScalarTy::F64 || !args.iter().all(on_cpu) {
        return Err(Error::Gradient(format!(
            "kernel `{}`: finite differences need f64 arrays on `Device::cpu()`",
            def.name
        )));
    }
    let check = Check(Point::new(def, native, domain.into(), args, &Device::cpu())?);
    let mut report = GradcheckReport::default();
    for seed in 0..DIRECTIONS {
        let mut random = Random::new(seed);
        let direction = check.0.direction(&mut random);
        let tangent = check.0.tangent(&direction)?;
        let difference_error = check.differences(seed, &direction, &tangent)?;
        let dot_product_error = check.dot_product(seed, &mut random, &direction, &tangent)?;
        report.directions += 1;
        report.difference_error = report.difference_error.max(difference_error);
        report.dot_product_error = report.dot_product_error.max(dot_product_error);
    }
    Ok(report)
}

struct Check<'a>(Point<'a>);

impl Check<'_> {
    /// Contents of the written arrays after a launch from `point + h direction`.
    fn run(&self, direction: &[Vec<f64>], h: f64) -> Result<Contents> {
        let moved = |(x, d): (&Vec<f64>, &Vec<f64>)| x.iter().zip(d).map(|(x, d)| x + h * d).collect();
        self.0.values(&self.0.at.iter().zip(direction).map(moved).collect::<Contents>())
    }

    fn differences(&self, seed: u64, direction: &[Vec<f64>], tangent: &[Vec<f64>]) -> Result<f64> {
        let steps = Ladder::steps(1e-3, 8);
        let at = self.run(direction, 0.0)?;
        let plus = steps.iter().map(|&h| self.run(direction, h)).collect::<Result<Vec<_>>>()?;
        let minus = steps.iter().map(|&h| self.run(direction, -h)).collect::<Result<Vec<_>>>()?;
        let mut worst: f64 = 0.0;
        for (k, param) in self.0.names(true).into_iter().enumerate() {
            let pick = |runs: &[Vec<Vec<f64>>], i: usize| runs.iter().map(|run| run[k][i]).collect::<Vec<f64>>();
            let size = tangent[k].iter().fold(0.0f64, |m, t| m.max(t.abs()));
            for (i, &analytic) in tangent[k].iter().enumerate() {
                let (plus, minus) = (pick(&plus, i), pick(&minus, i));
                let (noise, bound) = (f64::EPSILON, DIFFERENCES);
                let ladder = Ladder { steps: steps.clone(), at: at[k][i], plus, minus, noise, bound };
                let Estimate { derivative, step, kink } = ladder.estimate();
                let place = || format!("kernel `{}`, seed {seed}, parameter `{param}`, component {i}", self.0.def.name);
                if let Some((left, right)) = kink {
                    return Err(Error::Gradient(format!(
                        "{}: a kink, one-sided derivatives {left} and {right}; check at another point",
                        place()
                    )));
                }
                let floor = size.max(derivative.abs()).max(1e-9 * at[k][i].abs());
                let error = if analytic == derivative { 0.0 } else { (analytic - derivative).abs() / floor };
                if error.is_nan() || error > DIFFERENCES {
                    return Err(Error::Gradient(format!(
                        "{}: analytic {analytic}, numeric {derivative}, step {step:e}: relative error {error:.2e}, \
                         allowed {DIFFERENCES:e}",
                        place()
                    )));
                }
                worst = worst.max(error);
            }
        }
        Ok(worst)
    }

    fn dot_product(&self, seed: u64, random: &mut Random, direction: &[Vec<f64>], tangent: &[Vec<f64>]) -> Result<f64> {
        let seeds: Vec<Vec<f64>> = tangent.iter().map(|t| t.iter().map(|_| random.component()).collect()).collect();
        let adjoint = self.0.adjoint(&seeds)?;
        let terms = |a: &[Vec<f64>], b: &[Vec<f64>]| -> Vec<f64> {
            a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| a * b).collect()
        };
        let (forward, reverse) = (terms(&seeds, tangent), terms(&adjoint, direction));
        let (a, b): (f64, f64) = (forward.iter().sum(), reverse.iter().sum());
        // Where the terms cancel, rounding is relative to them, not to their sum.
        let size = forward.iter().chain(&reverse).map(|t| t * t).sum::<f64>().sqrt();
        let error = if a == b { 0.0 } else { (a - b).abs() / size };
        match error <= DOT_PRODUCT {
            true => Ok(error),
            false => Err(Error::Gradient(format!(
                "kernel `{}`, seed {seed}: <u, J v> = {a}, <J^T u, v> = {b}: relative error {error:.2e}, allowed \
                 {DOT_PRODUCT:e}; its adjoint and its tangent disagree",
                self.0.def.name
            ))),
        }
    }
}
