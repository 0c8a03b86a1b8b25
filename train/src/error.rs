//! The errors of a training job, each one line that says where, what and what was expected.

use crate::text;
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
            write!(f, ": {}", text::shown(field))?;
        }
        Ok(())
    }
}

/// What can go wrong in a job.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that was read does not hold what it should.
    #[error("{}{place}: {}", text::path(.file), text::line(.problem))]
    Input {
        /// The file.
        file: PathBuf,
        /// Where in it.
        place: Place,
        /// Value seen and value expected.
        problem: String,
    },
    /// An option of the command line or of an experiment is wrong.
    #[error("{}: {}", text::shown(.name), text::line(.problem))]
    Argument {
        /// The option, such as `--start`.
        name: String,
        /// Value seen and value expected.
        problem: String,
    },
    /// A file or folder could not be written.
    #[error("cannot write {}: {source}", text::path(.path))]
    Write {
        /// What was being written.
        path: PathBuf,
        /// The reason of the operating system.
        source: io::Error,
    },
    /// A scene that passes every check cannot be simulated or drawn all the same; [`Error::in_file`] names its file.
    #[error("{field}: {problem}")]
    Scene {
        /// The field at fault.
        field: String,
        /// Value seen and value expected.
        problem: String,
    },
    /// A motion does not come to its end: something runs away or turns inside out. [`Error::in_file`] names the file of its scene.
    #[error("{field}: {problem}")]
    Motion {
        /// The field that it is about.
        field: String,
        /// What happened to which body after which step, and what to change.
        problem: String,
    },
    /// The job was asked to stop.
    #[error("stopped")]
    Interrupted,
    /// The computation failed.
    #[error("{0}")]
    Compute(String),
    /// A rule of steps refused its input.
    #[error(transparent)]
    Rule(diffkern_optim::Error),
    /// The runtime refused a launch or an array.
    #[error(transparent)]
    Runtime(diffkern::Error),
    /// The simulator refused a scene or a step.
    #[error(transparent)]
    Simulator(diffkern_sim::Error),
    /// The renderer refused a mesh or an image.
    #[error(transparent)]
    Renderer(diffkern_render::Error),
}

/// As what it is: an error of the simulator, the renderer or a rule of steps may have come through the runtime, or the other way round.
impl From<diffkern::Error> for Error {
    fn from(error: diffkern::Error) -> Self {
        if error == diffkern::Error::Interrupted {
            return Self::Interrupted;
        }
        match (error.downcast_ref(), error.downcast_ref(), error.downcast_ref()) {
            (Some(error), _, _) => Self::Simulator(diffkern_sim::Error::clone(error)),
            (_, Some(error), _) => Self::Renderer(diffkern_render::Error::clone(error)),
            (_, _, Some(error)) => Self::Rule(diffkern_optim::Error::clone(error)),
            _ => Self::Runtime(error),
        }
    }
}

impl From<diffkern_sim::Error> for Error {
    fn from(error: diffkern_sim::Error) -> Self {
        diffkern::Error::from(error).into()
    }
}

impl From<diffkern_render::Error> for Error {
    fn from(error: diffkern_render::Error) -> Self {
        diffkern::Error::from(error).into()
    }
}

impl From<diffkern_optim::Error> for Error {
    fn from(error: diffkern_optim::Error) -> Self {
        diffkern::Error::from(error).into()
    }
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

    /// Whether a motion went wrong on the way, see [`diffkern_sim::Error::is_of_the_motion`].
    pub(crate) fn is_of_the_motion(&self) -> bool {
        matches!(self, Self::Motion { .. }) || matches!(self, Self::Simulator(reason) if reason.is_of_the_motion())
    }

    /// A scene that cannot be simulated or drawn.
    pub(crate) fn scene(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Scene { field: field.into(), problem: problem.into() }
    }

    /// A motion that does not come to its end.
    pub(crate) fn motion(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Motion { field: field.into(), problem: problem.into() }
    }

    /// The error with something more to say of an input.
    #[must_use]
    pub(crate) fn and(mut self, more: &str) -> Self {
        if let Self::Input { problem, .. } = &mut self {
            problem.push_str("; ");
            problem.push_str(more);
        }
        self
    }

    /// The error with the file of the scene, where the scene is to blame. What simulator and renderer say about a motion
    /// speaks of settings that a scene does not have; here it becomes fields that it has.
    #[must_use]
    pub fn in_file(self, file: &Path) -> Self {
        match self {
            Self::Scene { field, problem } | Self::Motion { field, problem } => Self::field(file, field, problem),
            Self::Simulator(error) => {
                let (field, advice) = advice(&error);
                Self::field(file, field, format!("{}; {advice}", what(&error)))
            }
            Self::Renderer(error @ diffkern_render::Error::Vertex { .. }) => {
                let advice = "expected camera.near and camera.far around all that the block does";
                Self::field(file, "camera", format!("{error}; {advice}"))
            }
            Self::Renderer(error) if is_of_the_view(&error) => Self::file(file, error.to_string()),
            other => other,
        }
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
            Self::Scene { .. } => 2,
            Self::Interrupted => 130,
            Self::Compute(_) | Self::Rule(_) | Self::Runtime(_) | Self::Simulator(_) | Self::Renderer(_) => 1,
            Self::Motion { .. } => 1,
        }
    }
}

/// Whether a renderer's error is about how a scene is seen, not about the device.
fn is_of_the_view(error: &diffkern_render::Error) -> bool {
    use diffkern_render::Error::{Camera, Light, Mesh};
    matches!(error, Camera { .. } | Light { .. } | Mesh(_))
}

/// What a simulator's error says, without its advice.
pub(crate) fn what(error: &diffkern_sim::Error) -> String {
    let text = error.to_string();
    text.split("; ").next().unwrap_or(&text).to_owned()
}

/// The field of a scene that a simulator's error is about, and what to do.
pub(crate) fn advice(error: &diffkern_sim::Error) -> (&'static str, &'static str) {
    use diffkern_sim::Error::{Inverted, NotFinite, Outside, Scattered, TooFast};
    match error {
        Outside { .. } => (
            "bodies",
            "expected smaller velocities, stiffer values (material, unknowns, --set), more cells (--cells) or fewer frames: the \
             region is what the flight of the bodies was thought to take",
        ),
        Scattered { .. } => (
            "material",
            "expected stiffer values (material, unknowns, --set), smaller velocities, or more memory (--max-memory)",
        ),
        Inverted { .. } | TooFast { .. } | NotFinite { .. } => {
            ("material", "expected stiffer values (material, unknowns, --set), or smaller velocities and gravity")
        }
        _ => ("bodies", "expected some that can be simulated"),
    }
}
