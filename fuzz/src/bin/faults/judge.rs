//! How a failure was taken.

use std::fs;
use std::path::Path;

use anyhow::Result;
use diffkern_fuzz::program::{Done, Program};
use diffkern_fuzz::sample;

use crate::jobs::Job;

/// Columns of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taken {
    /// A sentence and an exit code; given again, the command leaves the same bits.
    Clearly,
    /// The results are those of a run in which nothing fails.
    Unharmed,
    /// A panic, an abort, or a process that does not end.
    Panic,
    /// Anything else.
    Wrong,
}

/// Judges how a job ended of which something failed, then gives it again.
pub fn judge(job: &Job, program: &Program, done: &Done, fault: &str) -> Result<(Taken, String)> {
    if done.hangs || !matches!(done.code, Some(0..=2)) || done.errors.contains("panicked at") {
        return Ok((Taken::Panic, format!("ends with {:?}: {}", done.code, done.errors)));
    }
    if done.code == Some(0) {
        return Ok(match job.wrong()? {
            Some(name) => (Taken::Wrong, format!("ends well, but {name} differs")),
            None => (Taken::Unharmed, String::new()),
        });
    }
    let message = done.errors.lines().find_map(|line| line.strip_prefix("error: "));
    // Where the error stream fails nothing can be said.
    let Some(message) = message.or_else(|| fault.contains(".stderr").then_some("")) else {
        return Ok((Taken::Wrong, format!("ends with {:?} and no error: {}", done.code, done.errors)));
    };
    if let Some(name) = unnamed(job.folder(), fault, message) {
        return Ok((Taken::Wrong, format!("does not name {name}: {message}")));
    }
    if let Some(name) = torn(job.folder())? {
        return Ok((Taken::Wrong, format!("leaves {name}, which is not whole: {message}")));
    }
    if let Some(name) = job.lost()? {
        return Ok((Taken::Wrong, format!("loses {name} of a former job: {message}")));
    }
    Ok(match job.again(program)? {
        Err(why) => (Taken::Wrong, format!("{message}, then {why}")),
        Ok(()) => (Taken::Clearly, message.to_owned()),
    })
}

/// The file at fault, when no part of its path is in the message.
fn unnamed(folder: &Path, fault: &str, message: &str) -> Option<String> {
    let open = fault.split(['<', '>']).find(|part| part.starts_with('/')).unwrap_or_default();
    // What is read or written is in quotes, too.
    let holds_path = !["read", "write", "pread", "pwrite"].iter().any(|call| fault.contains(&format!("{call}(")));
    let quoted = fault.split('"').nth(1).filter(|_| holds_path).unwrap_or_default();
    let path = Path::new(open).join(quoted);
    let inside = path.strip_prefix(folder).unwrap_or(&path);
    let parts: Vec<&str> = inside.iter().filter_map(|part| part.to_str()).collect();
    let named = parts.iter().any(|part| message.contains(part.split('.').next().unwrap_or(part)));
    let stream = open.ends_with(".stdout") || open.ends_with(".stderr");
    (!named && !stream && !parts.is_empty()).then(|| inside.display().to_string())
}

/// A file with results that is not whole.
pub fn torn(folder: &Path) -> Result<Option<String>> {
    if !folder.join("out").exists() {
        return Ok(None);
    }
    let whole = |name: &str, bytes: &[u8]| match name.rsplit('.').next() {
        Some("json") => serde_json::from_slice::<serde_json::Value>(bytes).is_ok(),
        Some("png") => bytes.ends_with(b"IEND\xaeB`\x82"),
        Some("gif") => bytes.ends_with(b"\x3b"),
        Some("ron") => bytes.ends_with(b"\n"),
        // The last line of a log may be torn; temporary files and locks are cleaned by the next job.
        _ => true,
    };
    let files = sample::files(folder, "out")?;
    Ok(files.iter().find(|(name, bytes)| !whole(name, bytes)).map(|(name, _)| name.clone()))
}

/// Temporary files that a process left behind.
pub fn left_behind(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("out")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".part") || name.contains("lock") || name.contains("probe")).collect()
}
