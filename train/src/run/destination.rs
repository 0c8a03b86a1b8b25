//! Folders that jobs, studies, tables, pictures and sets of instances are written to.

use crate::error::{Error, Result};
use crate::files;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// More than any single file that a job writes.
const PROBE: usize = 1 << 20;
/// The file by which a folder is tried.
pub(crate) const PROBE_NAME: &str = ".probe";

/// A folder to write to. It is not locked, as others may write files of other names to it. What was made of it and is empty when this is dropped, as no work
/// came to its end, is removed again.
#[derive(Debug)]
pub struct Destination {
    folder: PathBuf,
    /// The outermost folder that was made for it.
    made: Option<PathBuf>,
}

impl Destination {
    /// Makes it where it is missing, and shows that it takes a file of a mebibyte, so that a job does not find out after its work.
    ///
    /// # Errors
    /// When it cannot be made or written.
    pub fn make(folder: &Path) -> Result<Self> {
        let destination = Self::create(folder)?;
        destination.probe()?;
        Ok(destination)
    }

    /// Makes it where it is missing, and brings the names of new folders to the disk.
    pub(crate) fn create(folder: &Path) -> Result<Self> {
        let destination = Self { folder: folder.into(), made: first_missing(folder) };
        destination.create_all().map_err(|e| unfit(folder, &e))?;
        Ok(destination)
    }

    fn create_all(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let Some(top) = &self.made else { return Ok(()) };
        let new = self.folder.ancestors().take_while(|path| path.starts_with(top));
        new.filter_map(Path::parent).try_for_each(files::sync_folder)
    }

    /// Shows that it takes a file. Another process of the same number may try it at the same time, on another machine.
    ///
    /// # Errors
    /// When it does not.
    pub(crate) fn probe(&self) -> Result<()> {
        let probe = files::temporary(&self.folder.join(PROBE_NAME));
        let tried = match File::create_new(&probe) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made.and_then(|mut file| file.write_all(&vec![0; PROBE]).and_then(|()| file.sync_data())),
        };
        let removed = match fs::remove_file(&probe) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        };
        tried.and(removed).map_err(|e| unfit(&self.folder, &e))
    }
}

impl Drop for Destination {
    fn drop(&mut self) {
        let Some(top) = &self.made else { return };
        for made in self.folder.ancestors().take_while(|path| path.starts_with(top)) {
            if fs::remove_dir(made).is_err() && made.exists() {
                return;
            }
        }
    }
}

/// The error of a folder that cannot be written to.
pub(crate) fn unfit(folder: &Path, e: &io::Error) -> Error {
    let expected = format!("{e}, expected a folder that takes a file of {} MiB", PROBE >> 20);
    Error::write(folder, io::Error::new(e.kind(), expected))
}

/// The outermost folder on the way to `folder` that does not exist yet.
fn first_missing(folder: &Path) -> Option<PathBuf> {
    let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    folder.ancestors().take_while(missing).last().map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_before_any_work_and_goes_where_it_stays_empty() -> io::Result<()> {
        let root = std::env::temp_dir().join(format!("diffkern-destination-{}", std::process::id()));
        fs::create_dir_all(&root)?;
        let folder = root.join("a/b");
        let made = Destination::make(&folder).map_err(io::Error::other)?;
        assert!(folder.is_dir() && fs::read_dir(&folder)?.next().is_none());
        drop(made);
        assert!(root.is_dir() && !root.join("a").exists());

        let made = Destination::make(&folder).map_err(io::Error::other)?;
        fs::write(folder.join("table.md"), "kept")?;
        drop(made);
        assert!(folder.join("table.md").is_file());

        for file in [folder.join("table.md"), folder.join("table.md/out")] {
            let said = Destination::make(&file).map_err(|error| (error.exit_code(), error.to_string()));
            let told = |(code, s): &(u8, String)| {
                *code == 2 && s.contains("cannot write") && s.contains("expected a folder that takes a file of 1 MiB")
            };
            assert!(said.as_ref().is_err_and(told), "{said:?}");
        }
        assert_eq!(fs::read_to_string(folder.join("table.md"))?, "kept");
        fs::remove_dir_all(&root)
    }
}
