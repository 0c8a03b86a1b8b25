//! Runs a case: f64 against the formula, tangents and finite differences; f32 against f64; every device against the CPU.

#[path = "second.rs"]
mod second;

use diffkern::gradcheck::{Along, along, devices};
use diffkern::jvp;
use diffkern::prelude::*;

use crate::case::{Case, Draw, Handle, Point, Prepare, Run};

const SEEDS: u64 = 3;
/// Of the formula, in f64.
const BY_HAND: f64 = 1e-12;
const TANGENT: f64 = 1e-10;
const DIFFERENCES: f64 = 1e-6;
/// Of f32 against f64, and of a device against the CPU.
const SINGLE: f64 = 1e-4;
/// Where a component is this much smaller than the largest of its array, it is what is left of terms that cancel.
const CANCELLED: f64 = 1e-2;

/// Runs all cases of a family and fails with every finding.
pub fn check(cases: &[Case]) {
    let findings = findings(cases);
    assert!(findings.is_empty(), "{} of {} cases:\n{}", findings.len(), cases.len(), findings.join("\n"));
}

/// The first finding of each case that has one.
pub fn findings(cases: &[Case]) -> Vec<String> {
    let gpus = devices().unwrap();
    let mut findings = Vec::new();
    for case in cases {
        for seed in 1..=SEEDS {
            let trial = Trial::new(case, seed);
            if let Err(finding) = trial.all(&gpus) {
                findings.push(format!("case {}, seed {seed}: {finding}", case.name));
                break;
            }
        }
    }
    findings
}

#[derive(Clone)]
struct Trial<'a> {
    case: &'a Case,
    params: Vec<Vec<f64>>,
    seed: u64,
}

/// Values of the outputs and the gradient by every parameter.
struct Outcome {
    values: Vec<f64>,
    gradient: Vec<Vec<f64>>,
}

type Finding<T> = std::result::Result<T, String>;

fn text(error: Error) -> String {
    format!("error: {error}")
}

/// Numbers in (0, 1) that repeat for a seed.
fn stream(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f64 / (1u64 << 24) as f64
    }
}

impl<'a> Trial<'a> {
    fn new(case: &'a Case, seed: u64) -> Trial<'a> {
        let mut next = stream(seed);
        let mut number = |lo: f64, hi: f64| f64::from((lo + (hi - lo) * next()) as f32);
        let mut draw = |draw: &Draw| match draw {
            Draw::Between(n, lo, hi) => (0..*n).map(|_| number(*lo, *hi)).collect(),
            Draw::Signed(n, lo, hi) => {
                (0..*n).map(|_| if number(0.0, 1.0) < 0.5 { -number(*lo, *hi) } else { number(*lo, *hi) }).collect()
            }
            Draw::Fixed(numbers) => numbers.iter().map(|&x| f64::from(x as f32)).collect(),
        };
        let params = case.params.iter().map(|(_, how)| draw(how)).collect();
        Trial { case, params, seed }
    }

    /// Of either sign, between a half and 3/2, the same for every run.
    fn weights(&self, n: usize) -> Vec<f64> {
        let mut next = stream(self.seed + 1000);
        (0..n).map(|k| f64::from((if k % 3 == 2 { -0.5 - next() } else { 0.5 + next() }) as f32)).collect()
    }

    fn all(&self, gpus: &[Device]) -> Finding<()> {
        let cpu = Device::cpu();
        let exact = self.outcome(&cpu, self.case.double).map_err(text)?;
        self.against_formula(&exact)?;
        if self.case.point != Point::Edge {
            self.against_tangent(&exact)?;
            self.against_differences(&exact)?;
        }
        if cfg!(feature = "second-order") && self.case.point == Point::Smooth && self.case.hessian {
            self.against_second_differences()?;
        }
        let single = self.outcome(&cpu, self.case.single).map_err(text)?;
        self.agree("f32", &single, "f64", &exact)?;
        for gpu in gpus {
            match (self.outcome(gpu, self.case.single), self.case.refused_on_gpu) {
                (Ok(found), None) => self.agree(gpu.name(), &found, "cpu", &single)?,
                (Err(error), Some(why)) if error.to_string().contains(why) => {}
                (Err(error), _) => return Err(format!("{}: {}", gpu.name(), text(error))),
                (Ok(_), Some(why)) => return Err(format!("{} should have refused: {why}", gpu.name())),
            }
        }
        Ok(())
    }

    fn outcome(&self, dev: &Device, prepare: Prepare) -> Result<Outcome> {
        let run = Run::new(dev, &self.params);
        let program = prepare(&run)?;
        let tape = Tape::record(&program)?;
        let values = scalars(&run.outputs.borrow())?;
        let seeds = self.seeds(&run.outputs.borrow())?;
        tape.backward_from(&pairs(&seeds))?;
        let gradient = run.inputs.borrow().iter().map(|input| (input.gradient)()).collect::<Result<_>>()?;
        Ok(Outcome { values, gradient })
    }

    /// The outputs with their weights.
    fn seeds(&self, outputs: &[Handle]) -> Result<Vec<(AnyArray, AnyArray)>> {
        let weights = self.weights(scalars(outputs)?.len());
        let mut at = 0;
        let weighted = |output: &Handle| {
            let n = (output.scalars)()?.len();
            at += n;
            Ok((output.array.clone(), (output.like)(&weights[at - n..at])?))
        };
        outputs.iter().map(weighted).collect()
    }

    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.case.params.iter().map(|(name, _)| *name)
    }

    fn against_formula(&self, found: &Outcome) -> Finding<()> {
        let weights = self.weights(found.values.len());
        let (loss, gradient) = (self.case.by_hand)(&self.params, &weights);
        let terms: Vec<f64> = found.values.iter().zip(&weights).map(|(y, w)| y * w).collect();
        let (value, size) = (terms.iter().sum::<f64>(), terms.iter().map(|t| t.abs()).sum::<f64>());
        if !near(value, loss, BY_HAND, size) {
            return Err(format!("loss: {value}, by hand {loss}"));
        }
        if gradient.len() != self.params.len() {
            return Err(format!("the formula has {} gradients", gradient.len()));
        }
        for ((name, found), by_hand) in self.names().zip(&found.gradient).zip(&gradient) {
            if found.len() != by_hand.len() {
                return Err(format!("parameter {name}: the formula has {} components", by_hand.len()));
            }
            let size = largest(by_hand);
            for (k, (&a, &b)) in found.iter().zip(by_hand).enumerate() {
                if !near(a, b, BY_HAND, size) {
                    return Err(format!("parameter {name}, component {k}: analytic {a}, by hand {b}"));
                }
            }
        }
        Ok(())
    }

    /// `<w, J v> = <J^T w, v>` over the whole program.
    fn against_tangent(&self, exact: &Outcome) -> Finding<()> {
        let mut next = stream(self.seed + 2000);
        let run = Run::new(&Device::cpu(), &self.params);
        let program = (self.case.double)(&run).map_err(text)?;
        let mut directions = Vec::new();
        let mut terms = Vec::new();
        for (input, gradient) in run.inputs.borrow().iter().zip(&exact.gradient) {
            let direction: Vec<f64> = gradient.iter().map(|_| next() - 0.5).collect();
            terms.extend(gradient.iter().zip(&direction).map(|(g, d)| g * d));
            directions.push((input.array.clone(), (input.like)(&direction).map_err(text)?));
        }
        let ((), tangents) = jvp(&[&pairs(&directions)], &program).map_err(text)?;
        let mut forward = Vec::new();
        for output in run.outputs.borrow().iter() {
            let tangent = tangents.get_any(0, &output.array).map_err(text)?;
            forward.extend((output.read)(tangent).map_err(text)?);
        }
        let weights = self.weights(forward.len());
        let forward: Vec<f64> = forward.iter().zip(&weights).map(|(t, w)| t * w).collect();
        let size = forward.iter().chain(&terms).map(|t| t.abs()).sum::<f64>();
        let (a, b) = (forward.iter().sum(), terms.iter().sum());
        match near(a, b, TANGENT, size) {
            true => Ok(()),
            false => Err(format!("<w, J v> = {a} by tangents, <J^T w, v> = {b} by adjoints")),
        }
    }

    fn against_differences(&self, exact: &Outcome) -> Finding<()> {
        let weights = self.weights(exact.values.len());
        let loss = |params: &[Vec<f64>]| -> Result<f64> {
            let run = Run::new(&Device::cpu(), params);
            (self.case.double)(&run)?()?;
            let values = scalars(&run.outputs.borrow())?;
            Ok(values.iter().zip(&weights).map(|(y, w)| y * w).sum())
        };
        let terms = exact.values.iter().zip(&weights).map(|(y, w)| (y * w).abs()).sum::<f64>();
        let at = loss(&self.params).map_err(text)?;
        let noise = f64::EPSILON * terms / at.abs().max(f64::MIN_POSITIVE);
        for (j, name) in self.names().enumerate() {
            let size = largest(&exact.gradient[j]);
            for k in 0..self.params[j].len() {
                let analytic = exact.gradient[j][k];
                let first = 1e-2 * if self.params[j][k] == 0.0 { 1.0 } else { self.params[j][k].abs() };
                let moved = |t: f64| {
                    let mut params = self.params.clone();
                    params[j][k] += t;
                    loss(&params)
                };
                let place = |what: String| Err(format!("parameter {name}, component {k}: analytic {analytic}, {what}"));
                match along(moved, analytic, (first, 9), noise, DIFFERENCES).map_err(text)? {
                    Along::Smooth { derivative, .. } => {
                        let size = analytic.abs().max(CANCELLED * size);
                        if !near(analytic, derivative, DIFFERENCES, size) {
                            return place(format!("numeric {derivative}"));
                        }
                    }
                    Along::Kink { left, right } if self.case.point == Point::Kink => {
                        let slack = 1e-4 * left.abs().max(right.abs());
                        if analytic < left.min(right) - slack || analytic > left.max(right) + slack {
                            return place(format!("one-sided {left} and {right}"));
                        }
                    }
                    Along::Kink { left, right } => return place(format!("a kink: one-sided {left} and {right}")),
                }
            }
        }
        Ok(())
    }

    fn agree(&self, name: &str, found: &Outcome, reference: &str, expected: &Outcome) -> Finding<()> {
        let mut rows = vec![("values", &found.values, &expected.values)];
        let gradients = self.names().zip(found.gradient.iter().zip(&expected.gradient));
        rows.extend(gradients.map(|(name, (a, b))| (name, a, b)));
        for (what, found, expected) in rows {
            if found.len() != expected.len() {
                return Err(format!("{what}: {} scalars on {name}, {} on {reference}", found.len(), expected.len()));
            }
            let size = CANCELLED * largest(expected);
            for (k, (&a, &b)) in found.iter().zip(expected).enumerate() {
                if !near(a, b, SINGLE, b.abs().max(size)) {
                    return Err(format!("{what}, component {k}: {a} on {name}, {b} on {reference}"));
                }
            }
        }
        Ok(())
    }
}

fn pairs(of: &[(AnyArray, AnyArray)]) -> Vec<(&AnyArray, &AnyArray)> {
    of.iter().map(|(a, b)| (a, b)).collect()
}

/// Equal infinities and NaNs are near.
fn near(a: f64, b: f64, tolerance: f64, size: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * size.max(b.abs())
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().filter(|x| x.is_finite()).fold(0.0, |m, x| x.abs().max(m))
}

fn scalars(outputs: &[Handle]) -> Result<Vec<f64>> {
    let mut all = Vec::new();
    for output in outputs {
        all.extend((output.scalars)()?);
    }
    Ok(all)
}
