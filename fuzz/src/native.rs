//! Compiles kernels for the CPU as a crate that depends on diffkern, and runs them.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use diffkern_fuzz::ast::{ARRAYS, Kernel};
use diffkern_fuzz::judge::Found;
use diffkern_fuzz::print;

/// A kernel, and the seed of the case to run it on.
pub type Numbered<'a> = (u64, &'a Kernel);

/// What became of one kernel.
pub enum Run {
    /// It does not compile; what the compiler says.
    Refused(String),
    /// The launch, the tape or forward mode returned an error.
    Failed(String),
    /// It ran.
    Done(Found),
}

/// Where the crate is written, and how it is built.
pub struct Native {
    folder: PathBuf,
    target: PathBuf,
}

impl Native {
    /// A crate in `folder`, built in the target folder of the workspace.
    ///
    /// # Errors
    /// When files cannot be written.
    pub fn new(folder: PathBuf) -> Result<Native> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the package lies in a workspace")?;
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        std::fs::create_dir_all(folder.join("src"))?;
        // Each batch is compiled once and run for milliseconds.
        let manifest = format!(
            "[package]\nname = \"fuzz-batch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             diffkern = {{ path = {:?} }}\ndiffkern-fuzz = {{ path = {:?}, default-features = false }}\n\n[profile.dev]\nopt-level = 3\n\
             debug = \"line-tables-only\"\n\n[profile.dev.package.fuzz-batch]\nopt-level = 0\n\n\
             [profile.dev.build-override]\nopt-level = 1\n",
            root.join("diffkern"),
            root.join("fuzz"),
        );
        std::fs::write(folder.join("Cargo.toml"), manifest)?;
        for file in ["Cargo.lock", "rust-toolchain.toml"] {
            std::fs::copy(root.join(file), folder.join(file)).with_context(|| format!("copying {file}"))?;
        }
        std::fs::write(folder.join("src/main.rs"), include_str!("../harness/main.rs"))?;
        Ok(Native { folder, target })
    }

    /// Compiles and runs kernels; the results are in their order.
    ///
    /// # Errors
    /// When the program dies.
    pub fn run(&self, kernels: &[Numbered<'_>]) -> Result<Vec<Run>> {
        std::fs::write(self.folder.join("src/kernels.rs"), source(kernels))?;
        let build = Command::new("cargo")
            .args(["build", "--quiet", "--message-format", "short"])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", self.target.join("fuzz"))
            .output()
            .context("cargo does not start")?;
        if !build.status.success() {
            if let [_] = kernels {
                return Ok(vec![Run::Refused(String::from_utf8_lossy(&build.stderr).into_owned())]);
            }
            // One that does not compile spoils the batch.
            let (left, right) = kernels.split_at(kernels.len() / 2);
            let mut runs = self.run(left)?;
            runs.extend(self.run(right)?);
            return Ok(runs);
        }
        let out = Command::new(self.target.join("fuzz/debug/fuzz-batch")).stderr(Stdio::inherit()).output()?;
        if !out.status.success() {
            bail!("the batch in {} ends with {}", self.folder.display(), out.status);
        }
        Ok(read(&String::from_utf8(out.stdout)?, kernels.len()))
    }
}

fn source(kernels: &[Numbered<'_>]) -> String {
    let mut out = String::from("use super::{Arrays, Launch};\nuse diffkern::prelude::*;\n\n");
    for text in print::STRUCTS {
        let _ = writeln!(out, "#[diff_struct]\npub {}\n", text.replace("{ ", "{ pub ").replace(", ", ", pub "));
    }
    for function in print::LIBRARY.into_iter().chain(print::OF_STRUCTS) {
        let _ = writeln!(out, "#[diff_fn]\n{function}\n");
    }
    let [declared, types @ ..] = print::RESPONSE;
    let _ = writeln!(out, "#[diff_trait]\n{declared}\npub struct Soft;\npub struct Stiff;\n");
    for implemented in types {
        let _ = writeln!(out, "#[diff_impl]\n{implemented}\n");
    }
    let mut table = String::from("pub const ALL: &[(usize, u64, Launch)] = &[\n");
    for (number, (seed, kernel)) in kernels.iter().enumerate() {
        let _ = writeln!(out, "#[diff_kernel]\n{}", print::kernel(kernel, &format!("k{number}")));
        let arguments: Vec<_> = kernel.arrays().iter().map(|(name, ..)| format!("&a.{name}")).collect();
        let arguments = arguments.join(", ");
        let of = kernel.response.map(|of| format!("::<f64, {of:?}>")).unwrap_or_default();
        let _ = writeln!(table, "({number}, {seed}, |d, a, s, n| k{number}{of}(d, {arguments}, s, n)),");
    }
    out + &table + "];\n"
}

/// The lines that the harness prints.
fn read(text: &str, count: usize) -> Vec<Run> {
    let mut runs: HashMap<usize, Run> = HashMap::new();
    let mut current = 0;
    for line in text.lines() {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let what = words.next().unwrap_or_default();
        if what == "kernel" {
            current = words.next().and_then(|word| word.parse().ok()).unwrap_or(usize::MAX);
            let empty = vec![Vec::new(); ARRAYS.len()];
            let found = Found { values: empty.clone(), tangents: empty.clone(), gradients: empty };
            runs.insert(current, Run::Done(found));
            continue;
        }
        if what == "error" {
            runs.insert(current, Run::Failed(line.trim_start_matches("error ").to_owned()));
            continue;
        }
        let Some(Run::Done(found)) = runs.get_mut(&current) else { continue };
        let list = match what {
            "value" => &mut found.values,
            "tangent" => &mut found.tangents,
            "gradient" => &mut found.gradients,
            _ => continue,
        };
        if let Some(place) = words.next().and_then(|word| word.parse().ok()).and_then(|k: usize| list.get_mut(k)) {
            *place = words.filter_map(|word| u64::from_str_radix(word, 16).ok()).map(f64::from_bits).collect();
        }
    }
    (0..count).map(|k| runs.remove(&k).unwrap_or(Run::Failed("nothing was printed".to_owned()))).collect()
}
