//! Searches random kernels for one whose values, tangents or gradients are wrong on the CPU.
//!
//! ```console
//! cargo run --release -p diffkern-fuzz -- --kernels 10000 --seed 0
//! ```

mod native;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Parser;
use diffkern_fuzz::ast::Kernel;
use diffkern_fuzz::case::case;
use diffkern_fuzz::eval::eval;
use diffkern_fuzz::generate::{Features, kernel};
use diffkern_fuzz::judge::{is_tame, judge};
use diffkern_fuzz::shrink::{candidates, size};
use diffkern_fuzz::{print, random};

use native::{Native, Run};

/// Random kernels, compiled for the CPU and compared with an evaluator of their source over dual numbers; the adjoint by
/// the dot-product identity.
#[derive(Parser)]
struct Args {
    /// How many kernels.
    #[arg(long, default_value_t = 1000)]
    kernels: u64,
    /// The first seed; the others follow.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Kernels that are compiled together.
    #[arg(long, default_value_t = 100)]
    batch: u64,
    /// Variables and arrays of structs, too. The kernels of a seed differ from those without.
    #[arg(long)]
    structs: bool,
    /// Kernels over a type, whose methods they call. The kernels of a seed differ from those without.
    #[arg(long)]
    traits: bool,
    /// Where the crate of a batch is written.
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// What is wrong with a kernel, if something is; `Ok(false)`: nothing can be said.
fn verdict(kernel: &Kernel, seed: u64, run: &Run) -> Result<bool, String> {
    let at = case(seed);
    match run {
        Run::Refused(why) => Err(format!("refused: {why}")),
        Run::Failed(why) => Err(format!("failed: {why}")),
        Run::Done(found) => match eval(kernel, &at).filter(is_tame) {
            Some(expected) => judge(&expected, &at, found).map(|()| true),
            None => Ok(false),
        },
    }
}

/// The smallest kernel found that fails in the same way: candidates are compiled together.
fn shrink(native: &Native, seed: u64, mut kernel: Kernel, mut why: String) -> Result<(Kernel, String)> {
    let kind = |why: &str| why.split([' ', ':']).next().unwrap_or_default().to_owned();
    'smaller: loop {
        for some in candidates(&kernel).chunks(60) {
            let numbered: Vec<_> = some.iter().map(|k| (seed, k)).collect();
            for (candidate, run) in some.iter().zip(native.run(&numbered)?) {
                if let Err(reason) = verdict(candidate, seed, &run)
                    && kind(&reason) == kind(&why)
                {
                    (kernel, why) = (candidate.clone(), reason);
                    continue 'smaller;
                }
            }
        }
        return Ok((kernel, why));
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    // Numbers of their own, so that two searches at a time do not share a folder.
    let own = random::Random::new(u64::from(std::process::id())).below(1 << 30);
    let folder = args.folder.unwrap_or_else(|| std::env::temp_dir().join(format!("diffkern-fuzz-{own}")));
    let native = Native::new(folder)?;
    let (mut checked, mut first) = (0, args.seed);
    while first < args.seed + args.kernels {
        let last = (first + args.batch).min(args.seed + args.kernels);
        let features = Features { updates: true, structs: args.structs, traits: args.traits };
        let kernels: Vec<_> = (first..last).map(|seed| (seed, kernel(seed, features))).collect();
        let numbered: Vec<_> = kernels.iter().map(|(seed, kernel)| (*seed, kernel)).collect();
        for ((seed, kernel), run) in kernels.iter().zip(native.run(&numbered)?) {
            match verdict(kernel, *seed, &run) {
                Ok(tame) => checked += u64::from(tame),
                Err(why) => {
                    println!("seed {seed} is wrong, making it smaller: {why}");
                    let from = size(kernel);
                    let (small, why) = shrink(&native, *seed, kernel.clone(), why)?;
                    bail!(
                        "seed {seed}, from {from} statements to {}: {why}\n{}",
                        size(&small),
                        print::kernel(&small, "k")
                    );
                }
            }
        }
        println!("seeds {first}..{last}: {checked} kernels right so far");
        first = last;
    }
    println!("{checked} of {} kernels checked, no mismatch; the others are too large or too near a root", args.kernels);
    Ok(())
}
