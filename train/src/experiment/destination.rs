//! Folders that studies, tables, pictures and sets of instances are written to.

use crate::error::{Error, Result};
use crate::files;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// More than most files that are written.
const PROBE: usize = 1 << 20;

/// A folder to write to: made, and shown to take a file of a mebibyte, so that no work is done in vain. It is not locked, as others may write files of other names to it. What was
/// made of it and is empty when this is dropped, as no work came to its end, is removed again.
#[derive(Debug)]
pub struct Destination {
    folder: PathBuf,
    /// The outermost folder that was made for it.
    made: Option<PathBuf>,
}

impl Destination {
    /// Makes it where it is missing.
    ///
    /// # Errors
    /// When it cannot be made or written.
    pub fn make(folder: &Path) -> Result<Self> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let made = folder.ancestors().take_while(missing).last().map(Path::to_owned);
        // From here on, dropping it cleans up.
        let destination = Self { folder: folder.into(), made };
        destination.probe().map_err(|e| {
            let expected = format!("{e}, expected a folder that takes a file of {} MiB", PROBE >> 20);
            Error::write(folder, io::Error::new(e.kind(), expected))
        })?;
        Ok(destination)
    }

    fn probe(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let probe = files::temporary(&self.folder.join(".probe"));
        let tried =
            File::create(&probe).and_then(|mut file| file.write_all(&vec![0; PROBE]).and_then(|()| file.sync_data()));
        let removed = fs::remove_file(&probe);
        tried.and(removed)
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
