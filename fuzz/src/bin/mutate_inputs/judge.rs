//! What is wrong with how an input was taken.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use diffkern_fuzz::program::Done;
use train::Error;

use crate::case::{Case, Content, Kind};

/// Longer than any sentence with a path and values that were cut after 200 characters, each of which was escaped.
const LONGEST: usize = 5_000;

/// How an input that did not fail was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taken {
    Accepted,
    Refused,
}

/// Judges what a function of the library gave.
pub fn result(case: &Case, folder: &Path, result: &Result<(), Error>) -> Result<Taken, String> {
    let Err(error) = result else {
        return Ok(Taken::Accepted);
    };
    let message = error.to_string();
    if error.exit_code() != 2 {
        return Err(format!("exit code {}: {message}", error.exit_code()));
    }
    if let Error::Input { place, .. } = error
        && matches!(case.kind, Kind::Scene | Kind::Document)
        && place.line.is_none()
        && place.field.is_none()
        && !is_of_the_whole(case, &message)
    {
        return Err(format!("no field: {message}"));
    }
    sentence(&message)?;
    way_out(error)?;
    named(case, folder, &message).map(|()| Taken::Refused)
}

/// A field that is not known is told with its path and the names that are.
fn way_out(error: &Error) -> Result<(), String> {
    match error {
        Error::Input { place, problem, .. } if problem.starts_with("unknown field") => {
            let told = place.field.is_some() && (problem.to_lowercase().contains("expected"));
            told.then_some(()).ok_or_else(|| format!("no path or names: {error}"))
        }
        _ => Ok(()),
    }
}

/// Judges how a process ended, and what it left in its folder.
pub fn process(case: &Case, folder: &Path, done: &Done) -> Result<Taken, String> {
    let Done { errors, output, .. } = done;
    if done.hangs {
        return Err(format!("hangs: {errors}"));
    }
    for line in errors.lines() {
        // Help is of many lines.
        sentence(line)?;
    }
    if output.chars().any(|c| c.is_control() && c != '\n') {
        return Err(format!("control characters: {output:?}"));
    }
    match done.code {
        // A job that takes long ends when it is asked to.
        Some(0 | 130) => whole(folder).map(|()| Taken::Accepted),
        Some(2) => {
            let message = errors.lines().find_map(|line| line.strip_prefix("error: "));
            let message = message.ok_or_else(|| format!("exit code 2 without an error: {errors}"))?;
            named(case, folder, message)?;
            untouched(case, folder).map(|()| Taken::Refused)
        }
        Some(101) => Err(format!("panic: {errors}")),
        code => Err(format!("ends with {code:?}: {errors}")),
    }
}

/// One line of a bounded length, which a terminal shows as it is.
fn sentence(message: &str) -> Result<(), String> {
    match message.len() {
        _ if message.chars().any(char::is_control) => Err(format!("control characters: {message:?}")),
        length if length > LONGEST => {
            Err(format!("{length} bytes long: {}..", message.chars().take(300).collect::<String>()))
        }
        _ => Ok(()),
    }
}

/// Options that name parameters, as messages begin with them.
const OPTIONS: [&str; 4] = ["set: ", "start: ", "fixed: ", "unknowns: "];

/// A refusal names what was changed, or a file of the input.
fn named(case: &Case, folder: &Path, message: &str) -> Result<(), String> {
    let name = |path: &String| Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or("").to_owned();
    let mut names = case.files.iter().map(|(path, _)| name(path));
    // The binary runs in the folder of the input, and names what a scene names in the scene's.
    let known = message.starts_with("video/")
        || folder.to_str().is_some_and(|folder| message.contains(folder))
        || names.any(|name| message.contains(&name))
        // An option may name a parameter that a changed scene has not, or has of several bodies.
        || (case.kind == Kind::Document && OPTIONS.iter().any(|option| message.starts_with(option)));
    match case.kind {
        Kind::Frame | Kind::Mesh if !case.changed.iter().any(|path| message.contains(&name(path))) => {
            Err(format!("does not name the file: {message}"))
        }
        // The job of a run says where its video is.
        Kind::Run if case.changed.iter().any(|path| path.ends_with("config.ron")) && message.contains(": ") => Ok(()),
        Kind::Scene | Kind::Document | Kind::Run if !known => Err(format!("does not name the file: {message}")),
        // What is wrong may be an option, and its value the name of a file that is not there.
        Kind::Job | Kind::Command if !known && !message.contains(": ") && !message.contains("--help") => {
            Err(format!("names nothing: {message}"))
        }
        Kind::Scene | Kind::Document | Kind::Frame | Kind::Mesh => Ok(()),
        Kind::Job | Kind::Run | Kind::Command => Ok(()),
    }
}

/// Whether the file is no text at all, or another file than the scene is at fault.
fn is_of_the_whole(case: &Case, message: &str) -> bool {
    let no_bytes = case.files.iter().any(|(name, content)| {
        case.changed.contains(name) && !matches!(content, Content::Bytes(bytes) if std::str::from_utf8(bytes).is_ok())
    });
    no_bytes || !message.contains("scene.") || message.contains("bytes") || message.contains("mesh")
}

/// After a refusal the folder holds what it held before.
fn untouched(case: &Case, folder: &Path) -> Result<(), String> {
    for file in files(folder) {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        let traced = case.arguments.iter().any(|word| *word == *name);
        if case.files.iter().all(|(known, _)| *known != name) && !traced {
            return Err(format!("refused, but left {name}"));
        }
    }
    for (name, content) in &case.files {
        if let Content::Bytes(bytes) = content
            && fs::read(folder.join(name)).ok().as_ref() != Some(bytes)
        {
            return Err(format!("refused, but changed {name}"));
        }
    }
    Ok(())
}

/// After a job every file that it wrote is whole, and under its last name.
fn whole(folder: &Path) -> Result<(), String> {
    for file in files(folder) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = if file.is_file() { fs::read(&file).unwrap_or_default() } else { continue };
        let fine = match file.extension().and_then(|e| e.to_str()) {
            _ if !file.starts_with(folder.join("out")) => true,
            Some("json") => serde_json::from_slice::<serde_json::Value>(&bytes).is_ok(),
            Some("png") => bytes.ends_with(b"IEND\xaeB`\x82"),
            Some("gif") => bytes.ends_with(b"\x3b"),
            Some("jsonl" | "ron") => bytes.ends_with(b"\n"),
            // A copy of one that the scene names.
            Some("obj" | "ply" | "stl") => files(folder)
                .iter()
                .any(|other| !other.starts_with(folder.join("out")) && fs::read(other).ok().as_ref() == Some(&bytes)),
            Some("html") => bytes.trim_ascii_end().ends_with(b"</html>"),
            _ if name.contains("tfevents") => ends_with_an_event(&bytes),
            _ => name.contains("lock"),
        };
        if !fine {
            return Err(format!("left {name}, which is not whole"));
        }
    }
    Ok(())
}

/// Whether a file of events is one record after the other: a length, its sum, so many bytes, their sum.
fn ends_with_an_event(mut bytes: &[u8]) -> bool {
    while let Some((length, rest)) = bytes.split_first_chunk::<8>() {
        let record = usize::try_from(u64::from_le_bytes(*length)).ok().and_then(|length| length.checked_add(8));
        match record.and_then(|record| rest.get(record..)) {
            Some(next) => bytes = next,
            None => return false,
        }
    }
    bytes.is_empty()
}

/// All files below `folder`, links as they are.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let nested = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => files(&entry.path()),
        _ => vec![entry.path()],
    });
    nested.flatten().collect()
}
