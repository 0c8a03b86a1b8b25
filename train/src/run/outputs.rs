//! What a job writes into its folder, and how a new one takes the place of a former one.
//!
//! The former one is set aside whole, and goes only when the new one has something to show. Each move is one renaming, and
//! the states between them tell apart, so that [`Outputs::recover`] brings a folder in order in which the process was
//! killed: either job is there whole.

use crate::error::{Error, Result};
use crate::files;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files and folders of a kind of job.
pub(crate) struct Outputs {
    /// All of them.
    pub(crate) names: &'static [&'static str],
    /// The one that comes first, and alone is nothing to keep.
    pub(crate) first: &'static str,
    /// The one that a job writes when it has something to show.
    pub(crate) proof: &'static str,
    /// Where a former job's are set aside.
    pub(crate) aside: &'static str,
}

impl Outputs {
    /// Whether a file of this name is one of these.
    pub(crate) fn know(&self, name: &str) -> bool {
        self.names.contains(&name) || name == self.aside
    }

    /// One of them that is in `folder`, if there is anything to keep.
    pub(crate) fn find(&self, folder: &Path) -> Result<Option<&'static str>> {
        Ok(self.all_in(folder)?.into_iter().find(|name| *name != self.first))
    }

    /// Whether a former job is set aside in `folder`.
    pub(crate) fn has_former(&self, folder: &Path) -> Result<bool> {
        Ok(files::is_there(&folder.join(self.aside))? || files::is_there(&self.moving(folder))?)
    }

    /// Whether the job in `folder` has something to show.
    pub(crate) fn is_proven(&self, folder: &Path) -> Result<bool> {
        files::is_there(&folder.join(self.proof))
    }

    fn all_in(&self, folder: &Path) -> Result<Vec<&'static str>> {
        let mut there = Vec::new();
        for name in self.names {
            if files::is_there(&folder.join(name))? {
                there.push(*name);
            }
        }
        Ok(there)
    }

    /// Sets the job in `folder` aside, if there is anything to keep.
    pub(crate) fn set_aside(&self, folder: &Path) -> Result<()> {
        if self.find(folder)?.is_none() {
            return Ok(());
        }
        let names = self.all_in(folder)?;
        let moving = self.moving(folder);
        fs::create_dir(&moving).map_err(|e| Error::write(&moving, e))?;
        let moved = names.iter().try_for_each(|name| rename(&folder.join(name), &moving.join(name)));
        moved.and_then(|()| rename(&moving, &folder.join(self.aside))).and_then(|()| sync(folder)).inspect_err(|_| {
            // The first error is the one to tell; the next job tries again.
            let _ = self.recover(folder);
        })
    }

    /// Removes the job that was set aside, if there is one.
    pub(crate) fn discard_former(&self, folder: &Path) -> Result<()> {
        let aside = folder.join(self.aside);
        if !files::is_there(&aside)? {
            return Ok(());
        }
        // Never half a job under the name of a whole one.
        let going = files::temporary(&aside);
        rename(&aside, &going)?;
        sync(folder)?;
        files::remove(&going)
    }

    /// Removes the job in `folder`, and brings back the one that was set aside. Returns whether there was one.
    pub(crate) fn roll_back(&self, folder: &Path) -> Result<bool> {
        let aside = folder.join(self.aside);
        let former = files::is_there(&aside)?;
        self.names.iter().try_for_each(|name| files::remove(&folder.join(name)))?;
        if !former {
            return Ok(false);
        }
        rename(&aside, &self.moving(folder))?;
        self.bring_back(folder)?;
        Ok(true)
    }

    /// Ends what a killed process had begun: a former job goes where the new one has something to show, and comes back
    /// where it has not. Returns whether one came back.
    pub(crate) fn recover(&self, folder: &Path) -> Result<bool> {
        if files::is_there(&self.moving(folder))? {
            self.bring_back(folder)?;
            return Ok(true);
        }
        if !files::is_there(&folder.join(self.aside))? {
            return Ok(false);
        }
        if self.is_proven(folder)? {
            return self.discard_former(folder).map(|()| false);
        }
        self.roll_back(folder)
    }

    /// Between the two places: none of the new job is in `folder` while this exists.
    fn moving(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.moving", self.aside))
    }

    fn bring_back(&self, folder: &Path) -> Result<()> {
        let moving = self.moving(folder);
        for name in self.all_in(&moving)? {
            if files::is_there(&folder.join(name))? {
                let problem = format!("{name} is in here and beside it, expected it in one of the two");
                return Err(Error::file(&moving, problem));
            }
            rename(&moving.join(name), &folder.join(name))?;
        }
        fs::remove_dir(&moving).map_err(|e| Error::write(&moving, e))?;
        sync(folder)
    }
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|e| {
        let problem = format!("cannot be moved from {}: {e}", from.display());
        Error::write(to, io::Error::new(e.kind(), problem))
    })
}

fn sync(folder: &Path) -> Result<()> {
    files::sync_folder(folder).map_err(|e| Error::write(folder, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: Outputs =
        Outputs { names: &["config", "proof", "frames"], first: "config", proof: "proof", aside: "former" };

    /// A folder with a whole job, `old`.
    fn old(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("diffkern-outputs-{}-{name}", std::process::id()));
        files::remove(&folder).unwrap();
        fs::create_dir_all(folder.join("frames")).unwrap();
        for file in ["config", "proof", "frames/0", "mine"] {
            fs::write(folder.join(file), "old").unwrap();
        }
        folder
    }

    fn assert_holds(folder: &Path, files: &[(&str, &str)], what: &str) {
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        files.iter().for_each(|(name, text)| assert_eq!(read(name), *text, "{what}: {name}"));
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let strays: Vec<_> = names.filter(|name| name.to_string_lossy().contains("former")).collect();
        assert!(strays.is_empty(), "{what}: {strays:?}");
    }

    const OLD: [(&str, &str); 4] = [("config", "old"), ("proof", "old"), ("frames/0", "old"), ("mine", "old")];
    const NEW: [(&str, &str); 4] = [("config", "new"), ("proof", "new"), ("frames/0", ""), ("mine", "old")];

    /// Every state that a killed process can leave: what stands in the folder is one of the jobs, whole.
    #[test]
    fn a_killed_process_leaves_one_of_the_two_jobs() {
        let folder = old("moving");
        for moved in 0..=3 {
            fs::create_dir(folder.join("former.moving")).unwrap();
            for name in JOB.names.iter().take(moved) {
                fs::rename(folder.join(name), folder.join("former.moving").join(name)).unwrap();
            }
            assert!(JOB.has_former(&folder).unwrap() && JOB.recover(&folder).unwrap());
            assert_holds(&folder, &OLD, &format!("{moved} moved"));
        }
        JOB.set_aside(&folder).unwrap();
        assert!(JOB.find(&folder).unwrap().is_none() && JOB.recover(&folder).unwrap());
        assert_holds(&folder, &OLD, "all set aside");

        JOB.set_aside(&folder).unwrap();
        fs::write(folder.join("config"), "new").unwrap();
        assert!(JOB.recover(&folder).unwrap());
        assert_holds(&folder, &OLD, "begun");

        JOB.set_aside(&folder).unwrap();
        fs::write(folder.join("config"), "new").unwrap();
        fs::write(folder.join("proof"), "new").unwrap();
        assert!(!JOB.recover(&folder).unwrap());
        assert_holds(&folder, &NEW, "proven");
        assert!(!JOB.recover(&folder).unwrap());
        assert_holds(&folder, &NEW, "in order");
        files::remove(&folder).unwrap();
    }

    /// A link is moved and removed itself; what it points to stays.
    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let folder = old("links");
        let precious = folder.join("mine");
        files::remove(&folder.join("proof")).unwrap();
        std::os::unix::fs::symlink(&precious, folder.join("proof")).unwrap();
        JOB.set_aside(&folder).unwrap();
        files::write(&folder.join("proof"), b"new").unwrap();
        JOB.discard_former(&folder).unwrap();
        assert_holds(&folder, &[("proof", "new"), ("mine", "old")], "replaced");
        files::remove(&folder).unwrap();
    }
}
