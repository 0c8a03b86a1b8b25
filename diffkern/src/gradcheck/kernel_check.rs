//! The gradient of one kernel: its tangent against finite differences, its adjoint against its tangent.

use std::rc::Rc;

use super::GradReport;
use super::differences::{Estimate, Ladder};
use super::random::Random;
use crate::array::AnyArray;
use crate::device::Device;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::forward::jvp;
use crate::kernel::{Arg, KernelDef, Native, ScalarTy};
use crate::launch::launch;
use crate::tape::{Bars, Frame, Kept, Ledger, Overwrite, Recorder, Shape, context};

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
) -> Result<GradReport> {
    let check = Check::new(def, native, domain.into(), args)?;
    let mut report = GradReport::default();
    for seed in 0..DIRECTIONS {
        let mut random = Random::new(seed);
        let direction: Vec<Vec<f64>> = check.point.iter().map(|x| along(x, &mut random)).collect();
        let tangent = check.tangent(&direction)?;
        let difference_error = check.differences(seed, &direction, &tangent)?;
        let dot_product_error = check.dot_product(seed, &mut random, &direction, &tangent)?;
        report.directions += 1;
        report.difference_error = report.difference_error.max(difference_error);
        report.dot_product_error = report.dot_product_error.max(dot_product_error);
    }
    Ok(report)
}

/// A direction of the size of the array's largest component, or 1.
fn along(x: &[f64], random: &mut Random) -> Vec<f64> {
    let size = x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let size = if size > 0.0 { size } else { 1.0 };
    x.iter().map(|_| size * random.component()).collect()
}

struct Check<'a> {
    def: &'static KernelDef,
    native: Native,
    domain: Domain,
    args: &'a [Arg<'a>],
    /// Slot of each real array, and whether it is written.
    real: Vec<(usize, bool)>,
    /// Contents of the real arrays.
    point: Vec<Vec<f64>>,
}

impl<'a> Check<'a> {
    fn new(def: &'static KernelDef, native: Native, domain: Domain, args: &'a [Arg<'a>]) -> Result<Check<'a>> {
        let cpu = |array: &AnyArray| array.device() == &Device::cpu();
        let all_on_cpu = args.iter().all(|arg| !matches!(arg, Arg::Array(array) if !cpu(array)));
        if native.scalar != ScalarTy::F64 || !all_on_cpu {
            return Err(Error::Gradient(format!(
                "kernel `{}`: finite differences need f64 arrays on `Device::cpu()`",
                def.name
            )));
        }
        let (mut real, mut point) = (Vec::new(), Vec::new());
        for (slot, (arg, param)) in args.iter().zip(def.primal.params).enumerate() {
            if let Arg::Array(array) = arg
                && array.is_real()
            {
                real.push((slot, crate::launch::access(param).writes()));
                point.push(contents(array)?);
            }
        }
        Ok(Check { def, native, domain, args, real, point })
    }

    /// Arrays of their own with the given contents of the real ones, for one launch.
    fn arrays(&self, contents: &[Vec<f64>]) -> Result<Vec<Option<AnyArray>>> {
        let mut arrays: Vec<Option<AnyArray>> = self
            .args
            .iter()
            .map(|arg| match arg {
                Arg::Array(array) => copy(array).map(Some),
                _ => Ok(None),
            })
            .collect::<Result<_>>()?;
        for ((slot, _), contents) in self.real.iter().zip(contents) {
            if let Some(array) = &mut arrays[*slot] {
                array.upload(crate::device::bytes_of(contents))?;
            }
        }
        Ok(arrays)
    }

    fn launch(&self, arrays: &[Option<AnyArray>]) -> Result<()> {
        let args: Vec<Arg<'_>> =
            self.args.iter().zip(arrays).map(|(arg, array)| array.as_ref().map_or(*arg, Arg::Array)).collect();
        launch(self.def, self.native, self.domain, &args)
    }

    /// The real arrays among those of a launch, in order.
    fn real_of<'b>(&'b self, arrays: &'b [Option<AnyArray>]) -> impl Iterator<Item = (&'b AnyArray, bool)> {
        self.real.iter().filter_map(|&(slot, written)| Some((arrays[slot].as_ref()?, written)))
    }

    /// Contents of the written arrays after a launch from `point + h direction`.
    fn run(&self, direction: &[Vec<f64>], h: f64) -> Result<Vec<Vec<f64>>> {
        let moved: Vec<Vec<f64>> =
            self.point.iter().zip(direction).map(|(x, d)| x.iter().zip(d).map(|(x, d)| x + h * d).collect()).collect();
        let arrays = self.arrays(&moved)?;
        self.launch(&arrays)?;
        self.real_of(&arrays).filter(|(_, written)| *written).map(|(array, _)| contents(array)).collect()
    }

    /// `J v`, for the written arrays.
    fn tangent(&self, direction: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        let (arrays, dots) = (self.arrays(&self.point)?, self.arrays(direction)?);
        let seeds: Vec<(&AnyArray, &AnyArray)> =
            self.real_of(&arrays).map(|(a, _)| a).zip(self.real_of(&dots).map(|(d, _)| d)).collect();
        let ((), tangents) = jvp(&[&seeds], || self.launch(&arrays))?;
        self.real_of(&arrays)
            .filter(|(_, written)| *written)
            .map(|(array, _)| contents(&tangents.get_any(0, array)?))
            .collect()
    }

    /// `J^T u`, for all real arrays.
    fn adjoint(&self, seeds: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        let arrays = self.arrays(&self.point)?;
        let ledger = Rc::new(Ledger::default());
        let mut recorder = Recorder::new(ledger.clone(), Overwrite::Keep);
        self.real_of(&arrays).for_each(|(array, _)| recorder.add_external(array.id()));
        let (result, frame) =
            context::within(Frame { recorder: Some(recorder), monitor: None }, || self.launch(&arrays));
        result?;
        let nodes = frame.recorder.map(|recorder| recorder.into_parts().0).unwrap_or_default();
        let mut bars = Bars::new(&ledger);
        let written = self.real_of(&arrays).filter(|(_, written)| *written).map(|(array, _)| array);
        for (array, seed) in written.zip(seeds) {
            let bar = array.device().array(seed)?.any().buffer();
            bars.add_part(&Shape::of(array), &bar, 0)?;
        }
        nodes.iter().rev().try_for_each(|node| node.backward(&mut bars))?;
        self.real_of(&arrays)
            .map(|(array, _)| match bars.take(array.id()).as_ref().map(Kept::buffer) {
                Some(bar) => {
                    let over =
                        AnyArray::over(array.device(), array.scalar(), array.elem(), array.base_len(), bar.clone());
                    contents(&over)
                }
                None => Ok(vec![0.0; array.len() * array.elem().components()]),
            })
            .collect()
    }

    fn written_names(&self) -> Vec<&'static str> {
        let written = self.real.iter().filter(|(_, written)| *written);
        written.map(|&(slot, _)| self.def.primal.params[slot].name).collect()
    }

    fn differences(&self, seed: u64, direction: &[Vec<f64>], tangent: &[Vec<f64>]) -> Result<f64> {
        let steps = Ladder::steps(1e-3, 8);
        let at = self.run(direction, 0.0)?;
        let plus = steps.iter().map(|&h| self.run(direction, h)).collect::<Result<Vec<_>>>()?;
        let minus = steps.iter().map(|&h| self.run(direction, -h)).collect::<Result<Vec<_>>>()?;
        let mut worst: f64 = 0.0;
        for (k, param) in self.written_names().into_iter().enumerate() {
            let pick = |runs: &[Vec<Vec<f64>>], i: usize| runs.iter().map(|run| run[k][i]).collect::<Vec<f64>>();
            let size = tangent[k].iter().fold(0.0f64, |m, t| m.max(t.abs()));
            for (i, &analytic) in tangent[k].iter().enumerate() {
                let (plus, minus) = (pick(&plus, i), pick(&minus, i));
                let ladder = Ladder { steps: steps.clone(), at: at[k][i], plus, minus };
                let Estimate { derivative, step, kink } = ladder.estimate();
                let place = || format!("kernel `{}`, seed {seed}, parameter `{param}`, component {i}", self.def.name);
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
        let adjoint = self.adjoint(&seeds)?;
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
                self.def.name
            ))),
        }
    }
}

/// The scalars of a real `f64` array.
fn contents(array: &AnyArray) -> Result<Vec<f64>> {
    let mut scalars = vec![0.0f64; array.len() * array.elem().components()];
    let (at, _) = array.byte_range();
    let mut bytes = vec![0u8; size_of_val(scalars.as_slice())];
    array.device().download(&array.buffer(), at, &mut bytes)?;
    let (words, _) = bytes.as_chunks::<8>();
    scalars.iter_mut().zip(words).for_each(|(x, word)| *x = f64::from_ne_bytes(*word));
    Ok(scalars)
}

/// A whole array with the elements of `array`.
fn copy(array: &AnyArray) -> Result<AnyArray> {
    let (at, bytes) = array.byte_range();
    let buffer = array.device().alloc(bytes)?;
    array.device().copy(&array.buffer(), at, &buffer, 0, bytes)?;
    Ok(AnyArray::over(array.device(), array.scalar(), array.elem(), array.len() as u32, buffer))
}
