//! Flips a sign or drops a factor in each row of the table of derivatives in turn, and demands that the tests notice.
//!
//! ```console
//! cargo run -p diffkern-fuzz --bin mutate_rules
//! ```
//!
//! Works on a copy of the workspace, whose target folder is kept between runs.

mod mutants;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Parser;

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

/// What the tests say of the workspace in `folder`.
enum Verdict {
    Passed,
    Noticed,
    DoesNotCompile,
}

fn test(folder: &Path) -> Result<Verdict> {
    let cargo = |more: &[&str]| {
        let mut command = Command::new("cargo");
        command.args(["test", "--quiet", "-p", "diffkern-macros", "--lib"]).args(more).current_dir(folder);
        command.env("CARGO_TARGET_DIR", folder.join("target")).env("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
        command.output().context("cargo does not start")
    };
    if !cargo(&["--no-run"])?.status.success() {
        return Ok(Verdict::DoesNotCompile);
    }
    let run = cargo(&["--", "gradient_tests::rules", "gradient_tests::kinks", "gradient_tests::control"])?;
    Ok(if run.status.success() { Verdict::Passed } else { Verdict::Noticed })
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
    match test(&folder)? {
        Verdict::Passed => {}
        _ => bail!("the tests do not pass without a mutation"),
    }
    let (mut noticed, mut invalid, mut survivors) = (0, 0, Vec::new());
    for mutant in &mutants {
        std::fs::write(folder.join(TABLE), &mutant.source)?;
        let outcome = match test(&folder)? {
            Verdict::Noticed => {
                noticed += 1;
                "noticed"
            }
            Verdict::DoesNotCompile => {
                invalid += 1;
                "does not compile"
            }
            Verdict::Passed => {
                survivors.push(&mutant.what);
                "SURVIVES"
            }
        };
        println!("{outcome:16} {}", mutant.what);
    }
    std::fs::write(folder.join(TABLE), &source)?;
    println!("{noticed} noticed, {invalid} do not compile, {} survive", survivors.len());
    if !survivors.is_empty() {
        bail!("the tests do not notice: {survivors:#?}");
    }
    Ok(())
}
