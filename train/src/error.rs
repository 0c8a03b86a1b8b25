//! The errors of a training job, each one line that says where, what and what was expected.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Where in a file a mistake is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Line and column, counted from one, where the file has lines.
    pub line: Option<(usize, usize)>,
    /// Path of the field, such as `camera.width`.
    pub field: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.line {
            write!(f, ":{line}:{column}")?;
        }
        if let Some(field) = &self.field {
            write!(f, ": {field}")?;
        }
        Ok(())
    }
}

/// What can go wrong in a job.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that was read does not hold what it should.
    #[error("{}{place}: {problem}", .file.display())]
    Input {
        /// The file.
        file: PathBuf,
        /// Where in it.
        place: Place,
        /// Value seen and value expected.
        problem: String,
    },
    /// An option of the command line or of an experiment is wrong.
    #[error("{name}: {problem}")]
    Argument {
        /// The option, such as `--start`.
        name: String,
        /// Value seen and value expected.
        problem: String,
    },
    /// A file or folder could not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write {
        /// What was being written.
        path: PathBuf,
        /// The reason of the operating system.
        source: io::Error,
    },
    /// The computation failed, for instance because no stable step exists.
    #[error("{0}")]
    Compute(String),
    /// The runtime refused a launch or an array.
    #[error(transparent)]
    Runtime(#[from] diffkern::Error),
    /// The simulator refused a scene or a step.
    #[error(transparent)]
    Simulator(#[from] diffkern_sim::Error),
    /// The renderer refused a mesh or an image.
    #[error(transparent)]
    Renderer(#[from] diffkern_render::Error),
}

impl Error {
    /// A wrong file, as a whole.
    pub fn file(file: &Path, problem: impl Into<String>) -> Self {
        Self::Input { file: file.into(), place: Place::default(), problem: problem.into() }
    }

    /// A wrong field of a file.
    pub fn field(file: &Path, field: impl Into<String>, problem: impl Into<String>) -> Self {
        let place = Place { line: None, field: Some(field.into()) };
        Self::Input { file: file.into(), place, problem: problem.into() }
    }

    /// A wrong option.
    pub fn argument(name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Argument { name: name.into(), problem: problem.into() }
    }

    /// A failed write to `path`.
    pub fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }

    /// Exit code of the binary: 2 for what the user can mend (input, options, output folder), 1 for
    /// a computation that failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input { .. } | Self::Argument { .. } | Self::Write { .. } => 2,
            Self::Compute(_) | Self::Runtime(_) | Self::Simulator(_) | Self::Renderer(_) => 1,
        }
    }
}
