//! From the file of a scene to a checked [`Scene`].

use super::document::{Document, Up};
use super::folder::{Access, Files, scene_file};
use super::import::{Fields, Imported, import, mesh_name};
use super::tree::{Fault, Node, Syntax, json, place, typed};
use super::version::{self, Version};
use super::{Scene, check, convert};
use crate::error::{Error, Place, Result};
use crate::{input, mesh};
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// What to know of a file in other axes than those of results.
const Y_UP: &str = "axes.up: paths of vectors on the command line and in results are in axes with z up: y of the file is their z, z is their -y";

impl Scene {
    /// Reads and checks the scene in a folder: `scene.json` or `scene.ron`, of version 1 or from before there were versions. The
    /// files that it names lie in the folder.
    ///
    /// # Errors
    /// Names the file, the place and what was expected there.
    pub fn read(folder: &Path) -> Result<Self> {
        Self::read_with(folder, Access::Inside)
    }

    /// As [`Scene::read`], with files from where `access` allows.
    ///
    /// # Errors
    /// As [`Scene::read`].
    pub fn read_with(folder: &Path, access: Access) -> Result<Self> {
        let source = Source::open(folder, access)?;
        let loaded = source.load()?;
        let mut scene = source.checked(&loaded.document, &loaded.fields)?;
        let turned = (loaded.document.axes.up == Up::Y).then(|| source.noted(Y_UP, &loaded.fields));
        let ignored = turned.into_iter().chain(loaded.ignored.iter().map(|field| source.ignored(field)));
        scene.warnings = ignored.chain(scene.warnings.iter().map(|text| source.noted(text, &loaded.fields))).collect();
        Ok(scene)
    }

    /// A document in place of that in a folder, whose file is named where something is wrong.
    ///
    /// # Errors
    /// As [`Scene::read`].
    pub(crate) fn of_document(document: &Document, folder: &Path, access: Access) -> Result<Self> {
        Source::open(folder, access)?.checked(document, &Fields::default())
    }

    /// The path of the scene's file in an existing folder.
    ///
    /// # Errors
    /// When the folder does not exist, or has two.
    pub fn file(folder: &Path) -> Result<PathBuf> {
        scene_file(folder)
    }
}

impl Document {
    /// Reads the scene in a folder without the checks of its values, and says how the texts of a file without a version were
    /// taken, and which fields were not.
    ///
    /// # Errors
    /// As [`Scene::read`].
    pub fn read(folder: &Path, access: Access) -> Result<(Self, Vec<String>)> {
        let source = Source::open(folder, access)?;
        let loaded = source.load()?;
        let named = |text: &String| format!("{}: {text}", crate::text::path(&source.file));
        let notes = loaded.taken.iter().map(named).chain(loaded.ignored.iter().map(|field| source.ignored(field)));
        let notes = notes.collect();
        Ok((loaded.document, notes))
    }

    /// The names of the files of meshes that the scene in a folder names, those that nothing is made of included.
    ///
    /// # Errors
    /// As [`Scene::read`].
    pub(crate) fn mesh_files(&self, folder: &Path, access: Access) -> Result<Vec<String>> {
        let mut names: Vec<String> = self.meshes().map(str::to_owned).collect();
        let source = Source::open(folder, access)?;
        let node = Syntax::of(&source.file).parse(&source.file, &source.text)?;
        let plain = |fault| source.wrong(fault, &Fields::default());
        if version::of(&node).map_err(plain)? == Version::None {
            let named = mesh_name(&node).map_err(plain)?.map(str::to_owned);
            names.extend(named.filter(|name| !self.meshes().any(|known| known == name)));
        }
        Ok(names)
    }

    /// The document as JSON.
    ///
    /// # Errors
    /// When it holds a number that JSON does not have.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        text.map(|text| text + "\n").map_err(|e| Error::Compute(format!("the scene cannot be written: {e}")))
    }
}

/// The text of a scene's file.
struct Source {
    folder: PathBuf,
    file: PathBuf,
    text: String,
    access: Access,
}

impl Source {
    fn open(folder: &Path, access: Access) -> Result<Self> {
        let file = scene_file(folder)?;
        let text = input::text(&file, input::SCENE)?;
        Ok(Self { folder: folder.into(), file, text, access })
    }

    fn load(&self) -> Result<Imported> {
        let node = Syntax::of(&self.file).parse(&self.file, &self.text)?;
        let plain = |fault| self.wrong(fault, &Fields::default());
        match version::of(&node).map_err(plain)? {
            Version::None => {
                self.mesh(&node)?;
                import(&node).map_err(plain)
            }
            Version::Number(version) => {
                let node = version::migrated(node, version).map_err(plain)?;
                let document = typed(&node).map_err(plain)?;
                Ok(Imported { document, fields: Fields::default(), taken: Vec::new(), ignored: Vec::new() })
            }
        }
    }

    /// The scene of a document, with what was measured.
    fn checked(&self, document: &Document, fields: &Fields) -> Result<Scene> {
        let files = Files { folder: &self.folder, access: self.access };
        let checked = || {
            check::named(document)?;
            check::scene(&convert::to_si(document)?, fields, &files)
        };
        let mut scene = checked().map_err(|fault| self.wrong(fault, fields))?;
        let frames = scene.num_frames;
        for track in &mut scene.tracks {
            track.units = convert::Conversion::of(document);
            let file = files.path(&track.file).map_err(|problem| Error::file(&self.file, problem))?;
            track.read(&file, frames)?;
        }
        Ok(scene)
    }

    /// A mesh is checked whatever the kind of the scene, so that a broken one is named.
    fn mesh(&self, node: &Node) -> Result<()> {
        let none = Fields::default();
        let Some(name) = mesh_name(node).map_err(|fault| self.wrong(fault, &none))? else {
            return Ok(());
        };
        let files = Files { folder: &self.folder, access: self.access };
        let path = files.path(name).map_err(|problem| self.wrong(Fault::new("object.mesh", problem), &none))?;
        mesh::check_obj(&path)
    }

    /// What is wrong, with the names and places of the file.
    fn wrong(&self, fault: Fault, fields: &Fields) -> Error {
        let field = fields.told(&fault.path);
        let line = place(&self.text, &field);
        let field = Some(field).filter(|field| !field.is_empty());
        Error::Input { file: self.file.clone(), place: Place { line, field }, problem: fault.problem }
    }

    /// A warning that begins with a path.
    fn noted(&self, text: &str, fields: &Fields) -> String {
        let (path, rest) = text.split_once(": ").unwrap_or((text, ""));
        format!("{}: {}: {rest}", crate::text::path(&self.file), fields.told(path))
    }

    fn ignored(&self, field: &str) -> String {
        format!("{}: {}: not understood, ignored", crate::text::path(&self.file), crate::text::shown(field))
    }
}

/// The text of a record of a run.
pub(crate) fn read_text(file: &Path) -> Result<String> {
    input::text(file, input::RECORD)
}

/// Parses JSON; a mistake is told with line, column and the path of the field.
pub(crate) fn from_json<T: DeserializeOwned>(file: &Path, text: &str) -> Result<T> {
    json(file, text, PhantomData)
}
