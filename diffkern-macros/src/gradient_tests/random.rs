//! Random kernels: what the transformations make of them against an evaluator of the source over dual numbers, and the
//! adjoint against the tangent. Random tokens: the macro answers with code or an error, never with a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use diffkern_fuzz::ast::{ARRAYS, Kernel, PLAIN, Ty as FuzzTy};
use diffkern_fuzz::case::{Case as Point, DOMAIN, case};
use diffkern_fuzz::eval::eval;
use diffkern_fuzz::generate::{Features, kernel as generate};
use diffkern_fuzz::judge::{Found, is_tame, judge};
use diffkern_fuzz::print;
use diffkern_fuzz::random::Random;
use diffkern_fuzz::shrink::{candidates, size};
use proc_macro2::{Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use super::support::{Case, Input, int, library, real};
use crate::expand::expand;
use crate::interp::{Array, Library, Val};
use crate::ir::FuncKind;

/// What the kernels may contain.
const FEATURES: Features = Features { updates: true, structs: false };

/// Kernels to check.
const KERNELS: u64 = 10_000;

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
fn quietly<R>(search: impl FnOnce() -> R) -> R {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let found = search();
    std::panic::set_hook(hook);
    found
}

/// Checks kernels of every fourth seed until `KERNELS / 4` could be checked; the wilder rest is passed over.
fn search(first: u64) -> Result<(), String> {
    let functions = library(&print::LIBRARY);
    let mut checked = 0;
    for seed in (first..2 * KERNELS).step_by(4) {
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
        if checked == KERNELS / 4 {
            return Ok(());
        }
    }
    Err(format!("only {checked} of {} kernels could be checked", KERNELS / 2))
}

#[test]
fn ten_thousand_random_kernels_have_right_values_tangents_and_adjoints() -> Result<(), String> {
    let parts = quietly(|| {
        let threads: Vec<_> = (0..4).map(|first| std::thread::spawn(move || search(first))).collect();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    parts.into_iter().try_for_each(|part| part.map_err(|_| "a search died")?)
}

/// Tokens with one of them changed, or as they were if there are none.
fn mutate(tokens: TokenStream, rng: &mut Random) -> TokenStream {
    let mut trees: Vec<TokenTree> = tokens.into_iter().collect();
    if trees.is_empty() {
        return TokenStream::new();
    }
    let k = rng.below(trees.len());
    if let TokenTree::Group(group) = &trees[k]
        && rng.chance(85)
    {
        let (delimiter, inner) = (group.delimiter(), mutate(group.stream(), rng));
        trees[k] = Group::new(delimiter, inner).into();
        return trees.into_iter().collect();
    }
    const WORDS: [&str; 24] = [
        "x",
        "y",
        "v1",
        "F",
        "if",
        "for",
        "let",
        "mut",
        "else",
        "return",
        "while",
        "loop",
        "break",
        "usize",
        "Vec3",
        "Mat2",
        "ABSOLUTE_POS",
        "detach",
        "select",
        "Array",
        "fn",
        "self",
        "_",
        "Quat",
    ];
    const SIGNS: [char; 16] = ['+', '-', '*', '/', '%', '=', '<', '>', '&', '|', '!', '.', ',', ';', ':', '#'];
    let other: TokenTree = match rng.below(4) {
        0 => Ident::new(rng.word(&WORDS), Span::call_site()).into(),
        1 => Punct::new(*rng.pick(&SIGNS), if rng.chance(50) { Spacing::Joint } else { Spacing::Alone }).into(),
        2 => Literal::u64_unsuffixed(rng.below(1 << 40) as u64).into(),
        _ => trees[rng.below(trees.len())].clone(),
    };
    let same_sort = match &trees[k] {
        TokenTree::Literal(_) => Some(Literal::u32_suffixed(rng.below(70) as u32).into()),
        TokenTree::Punct(p) if rng.chance(50) => Some(Punct::new(*rng.pick(&['+', '-', '*', '/']), p.spacing()).into()),
        TokenTree::Ident(_) => {
            let names: Vec<_> = trees.iter().filter(|t| matches!(t, TokenTree::Ident(_))).collect();
            Some((*rng.pick(&names)).clone())
        }
        _ => None,
    };
    if let Some(tree) = same_sort.filter(|_| rng.chance(50)) {
        trees[k] = tree;
        return trees.into_iter().collect();
    }
    match rng.below(4) {
        0 => drop(trees.remove(k)),
        1 => trees.insert(k, other),
        2 => trees[k] = other,
        _ => {
            let with = rng.below(trees.len());
            trees.swap(k, with);
        }
    }
    trees.into_iter().collect()
}

#[test]
fn random_tokens_never_make_the_macro_panic() -> Result<(), String> {
    let (found, accepted) = quietly(token_search);
    match found {
        Some((seed, item)) => Err(format!("seed {seed}: the macro panics on {item}")),
        None if accepted < 200 => Err(format!("only {accepted} items were accepted: the search sees errors only")),
        None => Ok(()),
    }
}

/// The first item on which the macro panicked, if any, and how many it accepted.
fn token_search() -> (Option<(u64, String)>, u32) {
    let mut accepted = 0;
    for seed in 0..6_000 {
        let mut rng = Random::new(seed);
        let source = match rng.below(5) {
            0 => (*rng.pick(&print::LIBRARY)).to_owned(),
            _ => print::kernel(&generate(seed, FEATURES), "k"),
        };
        let mut tokens: TokenStream = source.parse().expect("the source is tokens");
        for _ in 0..1 + rng.below(2) {
            tokens = mutate(tokens, &mut rng);
        }
        let kind = if rng.chance(70) { FuncKind::Kernel } else { FuncKind::DiffFn };
        let args =
            if rng.chance(90) { TokenStream::new() } else { mutate("vjp = f, x".parse().expect("tokens"), &mut rng) };
        let text = tokens.to_string();
        match catch_unwind(AssertUnwindSafe(|| expand(args, tokens, kind).to_string())) {
            Ok(code) => accepted += u32::from(!code.contains("compile_error")),
            Err(_) => return (Some((seed, text)), accepted),
        }
    }
    (None, accepted)
}
