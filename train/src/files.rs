//! Writing without leaving half a file: to a temporary name, then renamed.

use crate::error::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// More than any single file that a job writes.
const PROBE: usize = 1 << 20;

/// Writes `bytes` to `path`, whole or not at all. Makes its folder if that is missing.
///
/// # Errors
/// When the folder or the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|e| Error::write(folder, e))?;
    }
    let temporary = sibling(path, "part");
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_data()))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|e| {
        // The file may not even exist; the first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        Error::write(path, e)
    })
}

/// Appends one line to `path`, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn append_line(path: &Path, line: &str) -> Result<()> {
    let append = || -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        let whole = format!("{line}\n");
        file.write_all(whole.as_bytes()).inspect_err(|_| {
            let _ = file.set_len(length);
        })
    };
    append().map_err(|e| Error::write(path, e))
}

/// Makes `folder` and shows that it takes a file of a mebibyte, so that a job does not find
/// out after its work. What it made is removed again when that fails.
///
/// # Errors
/// When the folder cannot be made or written.
pub fn prepare_folder(folder: &Path) -> Result<()> {
    let missing = first_missing(folder);
    let probe = folder.join(format!(".probe-{}", std::process::id()));
    let tried = fs::create_dir_all(folder)
        .and_then(|()| File::create(&probe))
        .and_then(|mut file| file.write_all(&vec![0; PROBE]).and_then(|()| file.sync_data()));
    let removed = fs::remove_file(&probe);
    tried.and(removed).map_err(|e| {
        if let Some(made) = missing {
            remove_empty(folder, &made);
        }
        let expected = format!("{e}, expected a folder that takes a file of {} MiB", PROBE >> 20);
        Error::write(folder, io::Error::new(e.kind(), expected))
    })
}

fn sibling(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.{suffix}", std::process::id()));
    path.with_file_name(name)
}

/// The outermost folder on the way to `folder` that does not exist yet.
fn first_missing(folder: &Path) -> Option<PathBuf> {
    let missing = |p: &&Path| !p.as_os_str().is_empty() && !p.exists();
    folder.ancestors().take_while(missing).last().map(Path::to_owned)
}

/// Removes the empty folders from `folder` up to `top`.
fn remove_empty(folder: &Path, top: &Path) {
    for made in folder.ancestors().take_while(|p| p.starts_with(top)) {
        if fs::remove_dir(made).is_err() && made.exists() {
            return;
        }
    }
}
