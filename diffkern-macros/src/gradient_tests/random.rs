//! Random kernels: what the transformations make of them against an evaluator of the source over dual numbers, and the
//! adjoint against the tangent.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use diffkern_ir::interpret::{Array, Library, Val};

use super::support::{Case, Input, int, library, real};
use diffkern_fuzz::ast::{ARRAYS, Kernel, PLAIN, Ty as FuzzTy};
use diffkern_fuzz::case::{Case as Point, DOMAIN, case};
use diffkern_fuzz::eval::eval;
use diffkern_fuzz::generate::{Features, kernel as generate};
use diffkern_fuzz::judge::{Found, is_tame, judge};
use diffkern_fuzz::print;
use diffkern_fuzz::shrink::{candidates, size};

/// What the kernels may contain.
pub(super) const FEATURES: Features = Features { updates: true, structs: false, traits: false };

/// Kernels to check, times [`campaign`].
const KERNELS: u64 = 2_000;

/// How many times as much is searched as by default: the variable `DIFFKERN_CAMPAIGN`.
pub(super) fn campaign() -> u64 {
    std::env::var("DIFFKERN_CAMPAIGN").ok().and_then(|times| times.parse().ok()).unwrap_or(1)
}

fn join(scalars: &[f64], ty: FuzzTy) -> Array {
    match ty {
        FuzzTy::U32 => scalars.iter().map(|x| Val::Int(*x as i64)).collect(),
        ty => scalars.chunks(ty.components()).map(|parts| Val::Real(parts.to_vec())).collect(),
    }
}

fn flat(array: &Array) -> Vec<f64> {
    array.iter().flat_map(|x| x.reals().to_vec()).collect()
}

/// Values, tangents and the dot-product identity of one kernel; whether it was tame enough to say.
fn check(kernel: &Kernel, point: &Point, functions: &Library) -> Result<bool, String> {
    let Some(mut expected) = eval(kernel, point).filter(is_tame) else { return Ok(false) };
    // The rest are arrays of structs, which these kernels do not have.
    expected.truncate(PLAIN);
    let source = print::kernel(kernel, "k");
    let mut args: Vec<Input> = ARRAYS
        .iter()
        .take(PLAIN)
        .zip(&point.values)
        .map(|((_, ty, _), values)| Input::Array(join(values, *ty)))
        .collect();
    args.extend([real(point.scalar), int(i64::from(point.count))]);
    let case = Case::new(&source, DOMAIN, args, functions.clone());
    let is_real = |(k, _): &(usize, &Vec<f64>)| ARRAYS[*k].1.is_real();
    let extra = |of: &[Vec<f64>]| -> Vec<Array> {
        of.iter().take(PLAIN).enumerate().filter(is_real).map(|(k, x)| join(x, ARRAYS[k].1)).collect()
    };
    // What the case gives for the real arrays, as one list for all.
    let spread = |of: Vec<Array>| -> Vec<Vec<f64>> {
        let mut of = of.iter().map(flat);
        ARRAYS.iter().map(|(_, ty, _)| if ty.is_real() { of.next().unwrap_or_default() } else { Vec::new() }).collect()
    };
    let found = Found {
        values: spread(case.values()),
        tangents: spread(case.push_forward(&extra(&point.dots))),
        gradients: spread(case.gradient(&extra(&point.bars))),
    };
    case.agrees_along(&[extra(&point.dots), extra(&point.bars), extra(&point.values)])?;
    judge(&expected, point, &found).map(|()| true)
}

/// As [`check`]; a panic is a failure too.
fn attempt(kernel: &Kernel, point: &Point, functions: &Library) -> Result<bool, String> {
    let text = |panic: Box<dyn std::any::Any + Send>| match panic.downcast::<String>() {
        Ok(text) => format!("panic: {text}"),
        Err(other) => format!("panic: {}", other.downcast_ref::<&str>().unwrap_or(&"of unknown kind")),
    };
    catch_unwind(AssertUnwindSafe(|| check(kernel, point, functions))).unwrap_or_else(|panic| Err(text(panic)))
}

/// The smallest kernel found that still fails, and how.
fn shrink(mut kernel: Kernel, point: &Point, functions: &Library, mut why: String) -> (Kernel, String) {
    // A smaller kernel must not fail merely because it is none.
    let is_kernel = |why: &str| !why.contains("has no mistakes") && !why.contains("is not bound");
    'smaller: loop {
        for candidate in candidates(&kernel) {
            if let Err(reason) = attempt(&candidate, point, functions)
                && is_kernel(&reason) == is_kernel(&why)
            {
                (kernel, why) = (candidate, reason);
                continue 'smaller;
            }
        }
        return (kernel, why);
    }
}

/// Runs a search whose findings may be panics, without a message for each. One at a time: the hook is the process's.
pub(super) fn quietly<R>(search: impl FnOnce() -> R) -> R {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let found = search();
    std::panic::set_hook(hook);
    found
}

/// Checks kernels of every fourth seed until a fourth of `kernels` could be checked; the wilder rest is passed over.
fn search(first: u64, kernels: u64) -> Result<(), String> {
    let functions = library(&print::LIBRARY);
    let mut checked = 0;
    for seed in (first..2 * kernels).step_by(4) {
        let (kernel, point) = (generate(seed, FEATURES), case(seed));
        match attempt(&kernel, &point, &functions) {
            Ok(tame) => checked += u64::from(tame),
            Err(why) => {
                let from = size(&kernel);
                let (small, why) = shrink(kernel, &point, &functions, why);
                let source = print::kernel(&small, "k");
                return Err(format!("seed {seed}, from {from} statements to {}: {why}\n{source}", size(&small)));
            }
        }
        if checked == kernels / 4 {
            return Ok(());
        }
    }
    Err(format!("only {checked} of {} kernels could be checked", kernels / 4))
}

#[test]
fn random_kernels_have_right_values_tangents_and_adjoints() -> Result<(), String> {
    let kernels = KERNELS * campaign();
    let parts = quietly(|| {
        let threads: Vec<_> = (0..4).map(|first| std::thread::spawn(move || search(first, kernels))).collect();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    parts.into_iter().try_for_each(|part| part.map_err(|_| "a search died")?)
}
