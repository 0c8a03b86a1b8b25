//! Flips a sign or drops a factor in each row of the table of derivatives in turn, and demands that the tests notice.
//!
//! ```console
//! cargo run -p diffkern-fuzz --bin mutate_rules
//! ```
//!
//! Works on a copy of the workspace, whose target folder is kept between runs. The tests of the rows run first; only what
//! they let pass meets the other gradient tests of the interpreter. Random kernels take no part, they take too long; nor do
//! golden files, they notice any change. A run that was cut off goes on where it stopped.

mod equivalent;
mod mutants;
mod results;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Parser;

use crate::mutants::Mutant;
use crate::results::{Outcome, Results};

const TABLE: &str = "diffkern-macros/src/rules.rs";

/// Mutates the rows of the table of derivatives, one at a time, and runs the tests of the rules on each.
#[derive(Parser)]
struct Args {
    /// Only mutants whose description contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// List the mutants and run nothing.
    #[arg(long)]
    list: bool,
    /// Forget what earlier runs found.
    #[arg(long)]
    afresh: bool,
}

/// The tracked files of the workspace, copied.
fn copy_workspace(root: &Path, to: &Path) -> Result<()> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().context("git ls-files")?;
    for name in listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = std::str::from_utf8(name)?;
        let (from, to) = (root.join(name), to.join(name));
        if !from.is_file() {
            continue;
        }
        let text = std::fs::read(&from)?;
        // Unchanged files keep their age, so that they are not built again.
        if std::fs::read(&to).is_ok_and(|old| old == text) {
            continue;
        }
        std::fs::create_dir_all(to.parent().context("a file has a folder")?)?;
        std::fs::write(&to, text).with_context(|| format!("writing {}", to.display()))?;
    }
    Ok(())
}

/// The tests of the rows: a second, unoptimised.
const ROWS: &[&str] = &["gradient_tests::rules", "gradient_tests::kinks"];

/// All gradient tests but the random kernels.
const ALL: &[&str] = &["gradient_tests", "--skip", "gradient_tests::random"];

fn cargo_test(folder: &Path, more: &[&str]) -> Result<bool> {
    let mut command = Command::new("cargo");
    command.args(["test", "--quiet", "-p", "diffkern-macros", "--lib"]).args(more).current_dir(folder);
    command.env("CARGO_TARGET_DIR", folder.join("target")).env("CARGO_PROFILE_DEV_DEBUG", "false");
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_INCREMENTAL", "1");
    Ok(command.output().context("cargo does not start")?.status.success())
}

/// What the tests say of the workspace in `folder`.
fn test(folder: &Path) -> Result<Outcome> {
    let passes = |tests: &[&str]| cargo_test(folder, &[&["--"], tests].concat());
    Ok(if !cargo_test(folder, &["--no-run"])? {
        Outcome::DoesNotCompile
    } else if !passes(ROWS)? {
        Outcome::Noticed
    } else if !passes(ALL)? {
        Outcome::NoticedLate
    } else {
        Outcome::Survives
    })
}

/// Runs what is not known yet; the outcome of each mutant.
fn run(mutants: &[Mutant], folder: &Path, results: &mut Results) -> Result<Vec<Outcome>> {
    let mut outcomes = Vec::new();
    for mutant in mutants {
        let outcome = match results.get(&mutant.what) {
            Some(known) => known,
            None => {
                std::fs::write(folder.join(TABLE), &mutant.source)?;
                let outcome = test(folder)?;
                results.add(&mutant.what, outcome)?;
                outcome
            }
        };
        println!("{:16} {}", outcome.name(), mutant.what);
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

fn main() -> Result<()> {
    let args = Args::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the package lies in a workspace")?;
    let source = std::fs::read_to_string(root.join(TABLE)).with_context(|| format!("reading {TABLE}"))?;
    let mut mutants = mutants::of(&source)?;
    mutants.retain(|mutant| mutant.what.contains(&args.only));
    if args.list {
        mutants.iter().for_each(|mutant| println!("{}", mutant.what));
        println!("{} mutants", mutants.len());
        return Ok(());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let folder = target.join("mutants");
    copy_workspace(root, &folder)?;
    let file = folder.join("results.txt");
    if args.afresh && file.exists() {
        std::fs::remove_file(&file).with_context(|| format!("removing {}", file.display()))?;
    }
    if test(&folder)? != Outcome::Survives {
        bail!("the tests do not pass without a mutation");
    }
    let outcomes = run(&mutants, &folder, &mut Results::open(&file, &format!("{:016x}", hash(&source))))?;
    std::fs::write(folder.join(TABLE), &source)?;

    let mut unexplained = Vec::new();
    for (mutant, _) in mutants.iter().zip(&outcomes).filter(|(_, outcome)| **outcome == Outcome::Survives) {
        match equivalent::reason(&mutant.what) {
            Some(why) => println!("equivalent: {}\n    {why}", mutant.what),
            None => unexplained.push(&mutant.what),
        }
    }
    let count = |of: Outcome| outcomes.iter().filter(|outcome| **outcome == of).count();
    println!(
        "{} mutants: {} noticed by the tests of the rows, {} by the other gradient tests, {} do not compile, {} survive, {} \
         of them without a reason",
        mutants.len(),
        count(Outcome::Noticed),
        count(Outcome::NoticedLate),
        count(Outcome::DoesNotCompile),
        count(Outcome::Survives),
        unexplained.len()
    );
    if !unexplained.is_empty() {
        bail!("the tests do not notice: {unexplained:#?}");
    }
    Ok(())
}

/// Tells one table from another (FNV-1a).
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
