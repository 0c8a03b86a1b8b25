//! The binary `diffkern` as a process, with limits on its memory and its time.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Bytes of data that a process may have; a request for more fails.
const MEMORY: usize = 1 << 30;
/// How long a process may go on after it was asked to stop, on a machine that others use, too.
const GRACE: Duration = Duration::from_secs(5);

/// The binary `diffkern`.
#[derive(Clone)]
pub struct Program {
    path: PathBuf,
    /// Programs that start it, such as a tracer, with their options.
    pub under: Vec<String>,
    /// Variables of its environment.
    pub variables: Vec<(String, String)>,
}

/// How a process ended.
#[derive(Debug)]
pub struct Done {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Whether it took too long, and did not end when it was asked to.
    pub hangs: bool,
    /// Its error stream.
    pub errors: String,
    /// Its output.
    pub output: String,
}

impl Program {
    /// The program at `path`, or one that is built in the profile of this one, with a feature in a target folder of its own.
    ///
    /// # Errors
    /// When it does not build.
    pub fn find(path: Option<PathBuf>, feature: Option<&str>) -> Result<Program> {
        let ready = |path| Program { path, under: Vec::new(), variables: Vec::new() };
        if let Some(path) = path {
            return Ok(ready(std::path::absolute(path)?));
        }
        let here = std::env::current_exe()?;
        let profile = here.parent().context("a program lies in a folder")?;
        let target = profile.parent().context("a profile's folder lies in one of targets")?;
        let target = feature.map_or(target.to_owned(), |feature| target.join(feature));
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["build", "--quiet", "--locked", "-p", "train", "--target-dir"]).arg(&target);
        if let Some(feature) = feature {
            cargo.args(["--features", feature]);
        }
        let name = profile.file_name().context("a profile has a name")?;
        if name == "release" {
            cargo.arg("--release");
        }
        if !cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().context("cargo does not start")?.success() {
            bail!("the program does not build");
        }
        Ok(ready(target.join(name).join("diffkern")))
    }

    /// Starts it in `folder`, its streams in the files `.stdout` and `.stderr` there.
    ///
    /// # Errors
    /// When it does not start.
    pub fn start<S: AsRef<OsStr>>(&self, folder: &Path, arguments: &[S]) -> Result<Child> {
        let mut command = Command::new("prlimit");
        command.arg(format!("--data={MEMORY}")).args(["--core=0", "--fsize=1073741824", "--"]);
        command.args(&self.under).arg(&self.path).args(arguments);
        command.envs(self.variables.iter().cloned()).current_dir(folder).stdin(Stdio::null());
        command.stdout(File::create(folder.join(".stdout"))?).stderr(File::create(folder.join(".stderr"))?);
        command.spawn().context("prlimit (of util-linux) does not start")
    }

    /// Runs it in `folder`; after `limit` it is asked to stop, which is as Ctrl-C to it.
    ///
    /// # Errors
    /// When it does not start.
    pub fn run<S: AsRef<OsStr>>(&self, folder: &Path, arguments: &[S], limit: Duration) -> Result<Done> {
        let mut child = self.start(folder, arguments)?;
        let mut status = wait(&mut child, limit)?;
        if status.is_none() {
            // Not by the signal of Ctrl-C, which a shell has jobs in the background ignore.
            Command::new("kill").args(["-TERM", &child.id().to_string()]).status()?;
            status = wait(&mut child, GRACE)?;
        }
        let hangs = status.is_none();
        if hangs {
            child.kill()?;
            child.wait()?;
        }
        let text = |name: &str| -> Result<String> {
            let bytes = fs::read(folder.join(name))?;
            fs::remove_file(folder.join(name))?;
            Ok(String::from_utf8(bytes).unwrap_or_else(|_| "\u{7} not UTF-8".into()))
        };
        let code = status.and_then(|status| status.code());
        Ok(Done { code, hangs, errors: text(".stderr")?, output: text(".stdout")? })
    }
}

/// Waits for the end, `limit` at most.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        let status = child.try_wait()?;
        if status.is_some() || begun.elapsed() > limit {
            return Ok(status);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(8));
    }
}
