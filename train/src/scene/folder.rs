//! The folder of a scene, and the files that the scene names.

use super::tree::Syntax;
use crate::error::{Error, Result};
use crate::text::quoted;
use std::path::{Component, Path, PathBuf};

/// Which files a scene may name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    /// Those in its folder and below.
    #[default]
    Inside,
    /// Any, as the user says so.
    Anywhere,
}

impl Access {
    /// By whether files outside of the folder are allowed.
    pub fn of(allow_outside: bool) -> Self {
        if allow_outside { Self::Anywhere } else { Self::Inside }
    }

    /// Whether the scene in `folder` may name this file.
    pub(crate) fn allows(self, folder: &Path, name: &str) -> bool {
        Files { folder, access: self }.path(name).is_ok()
    }
}

/// The files that the scene in a folder may name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Files<'a> {
    pub(super) folder: &'a Path,
    pub(super) access: Access,
}

impl Files<'_> {
    /// The path of a file that the scene names.
    pub(super) fn path(&self, name: &str) -> std::result::Result<PathBuf, String> {
        let file = self.folder.join(name);
        let Access::Inside = self.access else {
            return Ok(file);
        };
        const EXPECTED: &str = "expected a file in the folder of the scene (or --allow-outside)";
        let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if name.is_empty() || !plain {
            return Err(format!("{} is outside, {EXPECTED}", quoted(name)));
        }
        // A link may lead elsewhere; what is not there is told when it is read.
        let real = |path: &Path| path.canonicalize().ok();
        match (real(self.folder), real(&file)) {
            (Some(folder), Some(real)) if !real.starts_with(&folder) => {
                Err(format!("{} is a link to the outside, {EXPECTED}", quoted(name)))
            }
            _ => Ok(file),
        }
    }
}

/// The path of the scene's file in an existing folder.
pub(super) fn scene_file(folder: &Path) -> Result<PathBuf> {
    if !folder.is_dir() {
        let what = if folder.exists() { "is not a folder" } else { "no such folder" };
        return Err(Error::file(folder, format!("{what}, expected one with scene.json, silhouette and shaded")));
    }
    let [json, ron] = Syntax::ALL.map(|syntax| folder.join(syntax.file()));
    let there = |file: &Path| file.symlink_metadata().is_ok();
    match (there(&json), there(&ron)) {
        (true, true) => Err(Error::file(&ron, "there is scene.json as well, expected one of both")),
        (false, true) => Ok(ron),
        (true | false, false) => Ok(json),
    }
}
