//! One kernel on two devices: the same values, gradient and tangent.

use std::fmt::Display;

use super::point::{Contents, Point};
use super::random::Random;
use crate::backend::native::Kind;
use crate::backend::native::Native;
use crate::device::Device;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::kernel::{KernelDef, ScalarTy};
use crate::launch::Arg;

/// Relative to the CPU's component, in f32. Each of the two rounds every operation to 6e-8, a GPU's functions may err by a few
/// times that, and sums are added up in another order: 1e-4 leaves room for some hundred operations in a row, and a
/// wrong term, even a small one, is above it.
const TOLERANCE: f64 = 1e-4;

/// Where a component is this much smaller than the largest of its array, it is what is left of terms that cancel, so
/// its rounding is that of the terms.
const CANCELLED: f64 = 1e-2;

/// The terms may be larger than all components. What f32 loses then shows on the CPU, against f64; another device
/// rounds elsewhere, by as much, and may be off by so many times that.
const ROUNDING: f64 = 4.0;

/// But not by more than this part of the array's largest component, whatever the CPU does.
const MOST_ROUNDING: f64 = 1e-3;

/// The rounding of an f64 as a part of that of an f32. What is allowed in f32 is allowed in f64 times this.
const DOUBLE: f64 = f64::EPSILON / f32::EPSILON as f64;

/// Devices besides the CPU to run checks on: all that this build and machine have, and those that the environment
/// variable `DIFFKERN_TEST_DEVICES` names (`wgpu,cuda`).
///
/// # Errors
/// When a device named by the variable is not there.
pub fn devices() -> Result<Vec<Device>> {
    let mut names: Vec<String> = Device::available().into_iter().map(|(name, _)| name).collect();
    names.extend(std::env::var("DIFFKERN_TEST_DEVICES").iter().flat_map(|all| all.split(',').map(str::to_owned)));
    names.retain(|name| name != "cpu" && !name.is_empty());
    names.sort();
    names.dedup();
    names.iter().map(|name| Device::by_name(name)).collect()
}

/// Compares a kernel on `device` with the same on the CPU, in f32, and in f64 where the device has it: what it writes,
/// its tangent along a random direction, its gradient for random seeds. `natives` are the kernel in f32 and in f64.
/// Arrays may be of either, and are rounded. Returns the largest difference in f32, relative to a component or to a
/// hundredth of its array's largest.
///
/// # Errors
/// When a difference is over 1e-4, in f64 2e-13, and not the rounding of f32 that the CPU shows, too, scaled for f64; or
/// when an integer differs at all. The message has both values.
pub fn on_device(
    device: &Device,
    def: &'static KernelDef,
    natives: (Native, Native),
    domain: impl Into<Domain>,
    args: &[Arg<'_>],
) -> Result<f64> {
    let reference = Reference::new(def, natives, domain.into(), args)?;
    let (single, double) = natives;
    let worst = reference.agrees(single, device, device.name())?;
    if device.supports_f64() {
        reference.agrees(double, device, &format!("{} in f64", device.name()))?;
    }
    Ok(worst)
}

/// A kernel on packs of one kind, with its name, if this machine has the instructions.
pub type OnPacks = Option<(&'static str, Native)>;

/// See [`OnPacks`].
pub fn on_packs<K: Kind>(native: fn() -> Native) -> OnPacks {
    K::is_here().then(|| (K::NAME, native()))
}

/// Compares the bodies of a kernel on packs of lanes with the scalar one, all on the CPU, as [`on_device`] does; `natives`
/// are in scalar.
///
/// # Errors
/// As [`on_device`].
pub fn on_lanes(
    def: &'static KernelDef,
    natives: (Native, Native),
    packs: &[OnPacks],
    domain: impl Into<Domain>,
    args: &[Arg<'_>],
) -> Result<f64> {
    let reference = Reference::new(def, natives, domain.into(), args)?;
    packs
        .iter()
        .flatten()
        .try_fold(0.0, |worst: f64, &(name, native)| Ok(worst.max(reference.agrees(native, &Device::cpu(), name)?)))
}

/// What a kernel gives at a point.
struct Outcome {
    integers: Vec<(&'static str, Vec<u32>)>,
    values: Contents,
    tangent: Contents,
    gradient: Contents,
}

/// One of the fields of reals.
type Part = fn(&Outcome) -> &Contents;

impl Outcome {
    fn new(point: &Point<'_>, direction: &Contents, seeds: &Contents) -> Result<Self> {
        Ok(Self {
            integers: point.integers()?,
            values: point.values(&point.at)?,
            tangent: point.tangent(direction)?,
            gradient: point.adjoint(seeds)?,
        })
    }
}

/// A kernel at a point on the CPU, to be compared with.
struct Reference<'a> {
    def: &'static KernelDef,
    domain: Domain,
    args: &'a [Arg<'a>],
    /// In f32 and in f64.
    natives: (Native, Native),
    direction: Contents,
    seeds: Contents,
    single: Outcome,
    /// In f64, from arrays that were rounded to f32.
    exact: Outcome,
    /// Names of the real arrays that are written, and of all.
    names: (Vec<&'static str>, Vec<&'static str>),
}

impl<'a> Reference<'a> {
    fn new(def: &'static KernelDef, natives: (Native, Native), domain: Domain, args: &'a [Arg<'a>]) -> Result<Self> {
        let point = Point::new(def, natives.0, domain, args, &Device::cpu())?;
        let mut random = Random::new(1);
        let direction = point.direction(&mut random);
        let like = |v: &Vec<f64>| v.iter().map(|_| random.component()).collect();
        let seeds = point.values(&point.at)?.iter().map(like).collect();
        let exact = Point::new(def, natives.1, domain, args, &Device::cpu())?.rounded();
        let (single, exact) = (Outcome::new(&point, &direction, &seeds)?, Outcome::new(&exact, &direction, &seeds)?);
        let names = (point.names(true), point.names(false));
        Ok(Self { def, domain, args, natives, direction, seeds, single, exact, names })
    }

    /// The largest relative difference of the kernel elsewhere, in the scalar of `native`; or an error.
    fn agrees(&self, native: Native, device: &Device, name: &str) -> Result<f64> {
        let found = Point::new(self.def, native, self.domain, self.args, device)?;
        let found = Outcome::new(&found, &self.direction, &self.seeds)?;
        if native.scalar != ScalarTy::F64 {
            return self.compare(&found, &self.single, 1.0, name);
        }
        let cpu = Point::new(self.def, self.natives.1, self.domain, self.args, &Device::cpu())?;
        self.compare(&found, &Outcome::new(&cpu, &self.direction, &self.seeds)?, DOUBLE, name)
    }

    /// `unit`: the rounding of the scalar, that of f32 being 1.
    fn compare(&self, found: &Outcome, expected: &Outcome, unit: f64, name: &str) -> Result<f64> {
        for ((param, found), (_, expected)) in found.integers.iter().zip(&expected.integers) {
            if let Some(k) = found.iter().zip(expected).position(|(a, b)| a != b) {
                return Err(self.differs(("value of", param, k), &found[k], &expected[k], name));
            }
        }
        let parts: [(&str, &[&str], Part); 3] = [
            ("value of", &self.names.0, |outcome| &outcome.values),
            ("tangent of", &self.names.0, |outcome| &outcome.tangent),
            ("gradient of", &self.names.1, |outcome| &outcome.gradient),
        ];
        let mut worst: f64 = 0.0;
        for (what, names, part) in parts {
            let lost = part(&self.single)
                .iter()
                .zip(part(&self.exact))
                .map(|(a, b)| largest(a.iter().zip(b).map(|(a, b)| a - b)));
            for (((param, found), expected), lost) in names.iter().zip(part(found)).zip(part(expected)).zip(lost) {
                let part = array(found, expected, lost, unit);
                worst = worst.max(part.map_err(|k| self.differs((what, param, k), &found[k], &expected[k], name))?);
            }
        }
        Ok(worst)
    }

    fn differs(
        &self,
        (what, param, k): (&str, &str, usize),
        found: &dyn Display,
        cpu: &dyn Display,
        name: &str,
    ) -> Error {
        Error::Gradient(format!(
            "kernel `{}`, {what} `{param}`, component {k}: {found} on {name}, {cpu} on cpu",
            self.def.name
        ))
    }
}

/// The largest relative difference of an array of which f32 loses `lost` on the CPU; or the component that is wrong.
fn array(found: &[f64], expected: &[f64], lost: f64, unit: f64) -> Result<f64, usize> {
    let size = largest(expected.iter().copied());
    let rounding = (ROUNDING * lost).min(MOST_ROUNDING * size);
    let mut worst: f64 = 0.0;
    for (k, (&a, &b)) in found.iter().zip(expected).enumerate() {
        let floor = b.abs().max(CANCELLED * size);
        let difference = if a == b { 0.0 } else { (a - b).abs() };
        // Not for what is not a number.
        let fine = difference <= unit * (TOLERANCE * floor).max(rounding);
        if !fine {
            return Err(k);
        }
        worst = worst.max(if difference == 0.0 { 0.0 } else { difference / floor });
    }
    Ok(worst)
}

fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |most, x| x.abs().max(most))
}
