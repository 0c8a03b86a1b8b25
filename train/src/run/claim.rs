//! A folder that one process writes to: locked, shown to be writable, and freed of what a killed process left half
//! written.

use super::destination::{Destination, PROBE_NAME, unfit};
use crate::error::{Error, Result};
use crate::files;
use crate::picture::is_frame;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Locked by the process that writes to the folder, with its number in it. The system frees the lock however the process
/// ends, so a file that a killed process leaves blocks no later one.
const LOCK: &str = ".lock";
/// Tries at a lock whose holder removes its file as it ends.
const TRIES: usize = 100;
/// Folders below a job's that it writes files to.
const BELOW: [&str; 5] = ["frames", "frames/silhouette", "frames/shaded", "silhouette", "shaded"];

/// A folder that no other process writes to until this is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    folder: PathBuf,
    lock: File,
    /// Removes what is empty once the lock is gone.
    destination: Destination,
}

impl Claim {
    /// Makes `folder`, locks it, and shows that it takes a file of a mebibyte, so that a job does not find out after its
    /// work. Removes what killed jobs left half written of the files that `ours` knows by name. What was made is removed
    /// again when something fails.
    ///
    /// # Errors
    /// When the folder cannot be made or written, or when another process writes to it.
    pub(crate) fn take(folder: &Path, ours: impl Fn(&str) -> bool) -> Result<Self> {
        let destination = Destination::create(folder)?;
        let lock = lock(folder)?;
        // From here on, dropping it removes the lock.
        let claim = Self { folder: folder.into(), lock, destination };
        claim.clean(ours);
        claim.destination.probe()?;
        Ok(claim)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The lock is held, so that no process is left to finish them.
    fn clean(&self, ours: impl Fn(&str) -> bool) {
        let below = BELOW.map(|name| self.folder.join(name));
        for folder in
            std::iter::once(&self.folder).chain(&below).filter(|folder| matches!(files::is_link(folder), Ok(false)))
        {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let meant = name.to_str().and_then(files::meant_for);
                if meant.is_some_and(|meant| meant == PROBE_NAME || is_frame(meant) || ours(meant)) {
                    // One that stays does no harm.
                    let _ = files::remove(&entry.path());
                }
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let file = self.folder.join(LOCK);
        // It does no harm where it stays; a second try keeps the folder tidy where the system hiccups.
        let _ = (0..2).any(|_| is_still(&file, &self.lock) && fs::remove_file(&file).is_ok());
    }
}

fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(LOCK);
    for _ in 0..TRIES {
        if files::is_link(&path)? {
            files::remove(&path)?;
        }
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(|e| unfit(folder, &e))?;
        match file.try_lock() {
            Ok(()) if is_still(&path, &file) => {
                let written = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
                return written.map(|()| file).map_err(|e| unfit(folder, &e));
            }
            // Its holder ended just now, and removed it.
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(held(folder, &mut file)),
            Err(TryLockError::Error(e)) => {
                let expected = format!("cannot be locked: {e}, expected a folder on a file system with locks");
                return Err(Error::write(folder, io::Error::new(e.kind(), expected)));
            }
        }
    }
    Err(Error::file(folder, "other processes come and go in it, expected a folder of its own for each"))
}

fn held(folder: &Path, lock: &mut File) -> Error {
    let mut number = String::new();
    let read = lock.take(32).read_to_string(&mut number);
    let holder = match (read, number.trim().parse::<u32>()) {
        (Ok(_), Ok(number)) => format!("process {number}"),
        _ => "another process".into(),
    };
    Error::file(folder, format!("{holder} writes to it, expected another folder, or that it has ended"))
}

/// Whether `path` is the file that was opened, and not one of the same name that came after.
#[cfg(unix)]
fn is_still(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let same = |a: fs::Metadata, b: fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    fs::symlink_metadata(path).is_ok_and(|there| file.metadata().is_ok_and(|here| same(here, there)))
}

/// An open file keeps its name.
#[cfg(not(unix))]
fn is_still(path: &Path, _: &File) -> bool {
    path.exists()
}
