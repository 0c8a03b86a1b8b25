//! A folder that one process writes to: locked, shown to be writable, and freed of what a killed process left half
//! written.

use crate::error::{Error, Result};
use crate::files;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Locked by the process that writes to the folder, with its number in it. The system frees the lock however the process
/// ends, so a file that a killed process leaves blocks no later one.
const LOCK: &str = ".lock";
/// Tries at a lock whose holder removes its file as it ends.
const TRIES: usize = 100;
/// More than any single file that a job writes.
const PROBE: usize = 1 << 20;
const PROBE_NAME: &str = ".probe";
/// Folders below a job's that it writes files to.
const BELOW: [&str; 5] = ["frames", "frames/silhouette", "frames/shaded", "silhouette", "shaded"];

/// A folder that no other process writes to until this is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    folder: PathBuf,
    lock: File,
    /// The outermost folder that was made for it.
    made: Option<PathBuf>,
}

impl Claim {
    /// Makes `folder`, locks it, and shows that it takes a file of a mebibyte, so that a job does not find out after its
    /// work. Removes what killed jobs left half written of the files that `ours` knows by name. What was made is removed
    /// again when something fails.
    ///
    /// # Errors
    /// When the folder cannot be made or written, or when another process writes to it.
    pub(crate) fn take(folder: &Path, ours: impl Fn(&str) -> bool) -> Result<Self> {
        let made = first_missing(folder);
        let locked = make(folder).map_err(|e| unfit(folder, &e)).and_then(|()| lock(folder));
        let lock = locked.inspect_err(|_| remove_empty(folder, made.as_deref()))?;
        // From here on, dropping it cleans up.
        let claim = Self { folder: folder.into(), lock, made };
        claim.clean(ours);
        claim.probe().map_err(|e| unfit(folder, &e))?;
        Ok(claim)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn probe(&self) -> io::Result<()> {
        let probe = files::temporary(&self.folder.join(PROBE_NAME));
        let tried = File::create_new(&probe)
            .and_then(|mut file| file.write_all(&vec![0; PROBE]).and_then(|()| file.sync_data()));
        let removed = fs::remove_file(&probe);
        tried.and(removed)
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
        remove_empty(&self.folder, self.made.as_deref());
    }
}

fn is_frame(name: &str) -> bool {
    let number = name.strip_prefix("frame_").and_then(|rest| rest.strip_suffix(".png"));
    number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
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

fn unfit(folder: &Path, e: &io::Error) -> Error {
    let expected = format!("{e}, expected a folder that takes a file of {} MiB", PROBE >> 20);
    Error::write(folder, io::Error::new(e.kind(), expected))
}

/// Makes a folder, and brings the names of new ones to the disk.
fn make(folder: &Path) -> io::Result<()> {
    let made = first_missing(folder);
    fs::create_dir_all(folder)?;
    let Some(top) = made else { return Ok(()) };
    let new = folder.ancestors().take_while(|path| path.starts_with(&top));
    new.filter_map(Path::parent).try_for_each(files::sync_folder)
}

/// The outermost folder on the way to `folder` that does not exist yet.
fn first_missing(folder: &Path) -> Option<PathBuf> {
    let missing = |p: &&Path| !p.as_os_str().is_empty() && !p.exists();
    folder.ancestors().take_while(missing).last().map(Path::to_owned)
}

/// Removes the empty folders from `folder` up to `top`.
fn remove_empty(folder: &Path, top: Option<&Path>) {
    let Some(top) = top else { return };
    for made in folder.ancestors().take_while(|p| p.starts_with(top)) {
        if fs::remove_dir(made).is_err() && made.exists() {
            return;
        }
    }
}
