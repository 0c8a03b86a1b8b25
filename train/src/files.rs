//! Writing without leaving half a file: to another name, to the disk, then renamed. A link at the place of a file is
//! replaced; what it points to is left alone.

use crate::error::{Error, Result};
use serde::Serialize;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// How the names end under which files are written.
const PART: &str = ".part";

/// Writes `bytes` to `path`, whole or not at all. Makes its folder if that is missing.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |temporary| {
        let written = File::create_new(temporary).and_then(|mut file| file.write_all(bytes));
        written.map_err(|e| Error::write(path, e))
    })
}

/// Writes a value as JSON, for people to read.
///
/// # Errors
/// When it cannot be written.
pub fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(|e| {
        let name = path.file_name().unwrap_or_default().display();
        Error::Compute(format!("{name} cannot be written as JSON: {e}"))
    })?;
    write(path, (text + "\n").as_bytes())
}

/// Has `fill` write a file under another name, which then gets the name `path`, whole or not at all. Makes its folder if
/// that is missing.
///
/// # Errors
/// Those of `fill`, and when the folder or the file cannot be written.
pub fn write_with(path: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
    }
    let temporary = temporary(path);
    // Of a process with the same number that was killed.
    remove(&temporary)?;
    fill(&temporary).and_then(|()| put(&temporary, path)).inspect_err(|_| {
        // The file may not even exist; the first error is the one to tell.
        let _ = remove(&temporary);
    })
}

/// The name under which this process writes `path`.
pub fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}{PART}", std::process::id()));
    path.with_file_name(name)
}

/// The name of the file that was to come of one named `name`; none if that is no temporary name.
pub fn meant_for(name: &str) -> Option<&str> {
    let (meant, process) = name.strip_suffix(PART)?.rsplit_once('.')?;
    (!meant.is_empty() && process.parse::<u32>().is_ok()).then_some(meant)
}

/// Gives a written file its name, so that both outlive a loss of power.
///
/// # Errors
/// When it cannot be brought to the disk or renamed.
pub fn put(temporary: &Path, path: &Path) -> Result<()> {
    let file = OpenOptions::new().write(true).open(temporary);
    let put = file.and_then(|file| file.sync_all()).and_then(|()| fs::rename(temporary, path));
    put.and_then(|()| sync_folder(path.parent().unwrap_or(Path::new("")))).map_err(|e| Error::write(path, e))
}

/// Appends one line to `path`, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn append_line(path: &Path, line: &str) -> Result<()> {
    if is_link(path)? {
        remove(path)?;
    }
    let append = || -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        let whole = format!("{line}\n");
        let written = file.write_all(whole.as_bytes()).and_then(|()| file.sync_data());
        written.inspect_err(|_| {
            let _ = file.set_len(length);
        })
    };
    append().map_err(|e| Error::write(path, e))
}

/// Removes a file, a link or a folder with all that is in it; nothing to do where nothing is.
///
/// # Errors
/// When it is there and cannot be removed.
pub fn remove(path: &Path) -> Result<()> {
    let removed = match entry(path)? {
        None => Ok(()),
        Some(entry) if entry.is_dir() => fs::remove_dir_all(path),
        Some(_) => fs::remove_file(path),
    };
    removed.map_err(|e| Error::write(path, e))
}

/// Whether there is a file, a folder or a link at `path`, even one that points nowhere.
///
/// # Errors
/// When the system does not tell: not to know is not to have.
pub fn is_there(path: &Path) -> Result<bool> {
    entry(path).map(|entry| entry.is_some())
}

pub(crate) fn is_link(path: &Path) -> Result<bool> {
    entry(path).map(|entry| entry.is_some_and(|entry| entry.is_symlink()))
}

fn entry(path: &Path) -> Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(entry) => Ok(Some(entry)),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(Error::file(path, format!("cannot be asked for: {e}"))),
    }
}

/// Brings the names in a folder to the disk, where the system can.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let here = Path::new(".");
    File::open(if folder.as_os_str().is_empty() { here } else { folder })?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_names_are_told_from_others() {
        let name = temporary(Path::new("a/result.json"));
        let name = name.file_name().unwrap().to_str().unwrap();
        assert_eq!(meant_for(name), Some("result.json"));
        for other in ["result.json", "film.part", "film.mkv.part", ".7.part", "a.-7.part", "a.7.part.gz"] {
            assert_eq!(meant_for(other), None, "{other}");
        }
    }
}
