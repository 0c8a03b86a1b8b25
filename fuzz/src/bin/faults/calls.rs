//! File calls that fail, by `strace`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};
use diffkern_fuzz::program::Program;

use crate::jobs::Job;

/// Calls that name a file or take an open one; those that a system lacks are passed over.
const CALLS: [&str; 38] = [
    "open",
    "openat",
    "creat",
    "read",
    "pread64",
    "readv",
    "write",
    "pwrite64",
    "writev",
    "lseek",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "ftruncate",
    "truncate",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "stat",
    "lstat",
    "fstat",
    "newfstatat",
    "statx",
    "getdents64",
    "link",
    "linkat",
    "symlink",
    "readlink",
    "flock",
    "copy_file_range",
    "access",
    "faccessat2",
    "getcwd",
];

/// A call of a run in which nothing fails.
pub struct Call {
    name: String,
    /// Which of the calls of this name by its thread, from one.
    number: usize,
    /// The call as it was traced.
    pub text: String,
}

/// Whether calls can be traced here.
pub fn can_trace() -> bool {
    Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status().is_ok_and(|status| status.success())
}

/// The calls of a job that name files in its folder, or its streams.
pub fn of(job: &Job, program: &Program, log: &Path) -> Result<Vec<Call>> {
    let done = job.run(&traced(program, log, &[]))?;
    if done.code != Some(0) {
        bail!("under strace it ends with {:?}: {}", done.code, done.errors);
    }
    let here = job.folder().display().to_string();
    let mut seen = BTreeMap::<(String, String), usize>::new();
    let mut calls = Vec::new();
    for line in fs::read_to_string(log)?.lines() {
        let Some((thread, text)) = line.split_once(' ') else { continue };
        let text = text.trim_start();
        let Some((name, arguments)) = text.split_once('(').filter(|_| !text.starts_with("<...")) else { continue };
        let number = seen.entry((thread.to_owned(), name.to_owned())).or_default();
        *number += 1;
        if arguments.contains(&here) || names_relative(arguments) {
            calls.push(Call { name: name.to_owned(), number: *number, text: text.to_owned() });
        }
    }
    Ok(calls)
}

/// Whether a path in the arguments is relative: to the job's folder, in which the program runs. The contents of what is read or
/// written are in quotes, too, but after the path of an open file.
fn names_relative(arguments: &str) -> bool {
    let path = arguments.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    path.is_some_and(|(path, _)| !path.is_empty() && !path.starts_with('/'))
}

/// The program, of which this call fails.
pub fn failing(program: &Program, call: &Call, log: &Path) -> Program {
    let writes = ["write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "mkdir", "mkdirat", "creat"];
    let fills = writes.contains(&call.name.as_str()) || call.text.contains("O_CREAT");
    let error = if fills { "ENOSPC" } else { "EIO" };
    let inject = format!("inject={}:error={error}:when={}", call.name, call.number);
    traced(program, log, &["-e", &inject])
}

/// Whether a call has failed as it should; threads may have taken others' turns.
pub fn has_failed(log: &Path) -> Result<Option<String>> {
    let text = fs::read_to_string(log)?;
    Ok(text.lines().find(|line| line.contains("(INJECTED)")).map(str::to_owned))
}

fn traced(program: &Program, log: &Path, more: &[&str]) -> Program {
    let calls = CALLS.map(|call| format!("?{call}")).join(",");
    let mut under =
        ["strace", "-f", "-y", "-qq", "--seccomp-bpf", "-e", "signal=none", "-o"].map(str::to_owned).to_vec();
    under.extend([log.display().to_string(), "-e".into(), format!("trace={calls}")]);
    under.extend(more.iter().map(|&word| word.to_owned()));
    let mut traced = program.clone();
    traced.under = under;
    traced
}
