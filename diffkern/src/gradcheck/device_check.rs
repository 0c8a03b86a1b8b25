//! One kernel on two devices: the same values, gradient and tangent.

use super::point::Point;
use super::random::Random;
use crate::backend::native::Kind;
use crate::device::Device;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::kernel::{Arg, KernelDef, Native};

/// Relative to the CPU's component. Each of the two rounds every operation to 6e-8, a GPU's functions may err by a few
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

/// Compares a kernel on `device` with the same on the CPU, in the scalar of `native`: what it writes, its tangent along
/// a random direction, its gradient for random seeds. `exact` is the same kernel in f64. Arrays may be of another real
/// scalar, and are rounded. Returns the largest difference, relative to a component or to a hundredth of its array's
/// largest.
///
/// # Errors
/// When a difference is over 1e-4 and not the rounding of f32 that the CPU shows, too, or an integer differs at all: the
/// message has both values.
pub fn on_device(
    device: &Device,
    def: &'static KernelDef,
    (native, exact): (Native, Native),
    domain: impl Into<Domain>,
    args: &[Arg<'_>],
) -> Result<f64> {
    let domain = domain.into();
    compare(def, (native, device, device.name()), (native, exact), domain, args)
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
    let (domain, cpu) = (domain.into(), Device::cpu());
    packs.iter().flatten().try_fold(0.0, |worst: f64, &(name, native)| {
        Ok(worst.max(compare(def, (native, &cpu, name), natives, domain, args)?))
    })
}

fn compare(
    def: &'static KernelDef,
    (other, device, name): (Native, &Device, &str),
    (native, exact): (Native, Native),
    domain: Domain,
    args: &[Arg<'_>],
) -> Result<f64> {
    let cpu = Point::new(def, native, domain, args, &Device::cpu())?;
    let other = Point::new(def, other, domain, args, device)?;
    let exact = Point::new(def, exact, domain, args, &Device::cpu())?.rounded();
    let wrong = |what: &str, param: &str, k: usize, a: &dyn std::fmt::Display, b: &dyn std::fmt::Display| {
        Error::Gradient(format!("kernel `{}`, {what} `{param}`, component {k}: {a} on {name}, {b} on cpu", def.name))
    };
    for ((param, found), (_, expected)) in other.integers()?.into_iter().zip(cpu.integers()?) {
        if let Some(k) = found.iter().zip(&expected).position(|(a, b)| a != b) {
            return Err(wrong("value of", param, k, &found[k], &expected[k]));
        }
    }

    let mut random = Random::new(1);
    let direction = cpu.direction(&mut random);
    let values = cpu.values(&cpu.at)?;
    let seeds: Vec<Vec<f64>> = values.iter().map(|v| v.iter().map(|_| random.component()).collect()).collect();
    let (all, written) = (cpu.names(false), cpu.names(true));
    let rows = [
        ("value of", &written, [other.values(&cpu.at)?, values, exact.values(&exact.at)?]),
        ("tangent of", &written, [other.tangent(&direction)?, cpu.tangent(&direction)?, exact.tangent(&direction)?]),
        ("gradient of", &all, [other.adjoint(&seeds)?, cpu.adjoint(&seeds)?, exact.adjoint(&seeds)?]),
    ];
    let mut worst: f64 = 0.0;
    for (what, names, [found, expected, exact]) in rows {
        for (((param, found), expected), exact) in names.iter().zip(found).zip(expected).zip(exact) {
            let size = largest(expected.iter().copied());
            let lost = largest(expected.iter().zip(&exact).map(|(a, b)| a - b));
            let rounding = (ROUNDING * lost).min(MOST_ROUNDING * size);
            for (k, (&a, &b)) in found.iter().zip(&expected).enumerate() {
                let floor = b.abs().max(CANCELLED * size);
                let difference = if a == b { 0.0 } else { (a - b).abs() };
                // Not for what is not a number.
                let fine = difference <= (TOLERANCE * floor).max(rounding);
                if !fine {
                    return Err(wrong(what, param, k, &a, &b));
                }
                worst = worst.max(if difference == 0.0 { 0.0 } else { difference / floor });
            }
        }
    }
    Ok(worst)
}

fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |most, x| x.abs().max(most))
}
