use std::fmt;
use std::path::PathBuf;

/// What goes wrong in this crate; every message carries the values that show the mistake.
///
/// `Debug` prints the message too. In a function or closure that returns [`diffkern::Result`], `?` turns it into a
/// [`diffkern::Error`], where errors of several crates meet; [`diffkern::Error::downcast_ref`] gives it back.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A launch or an array failed.
    #[error(transparent)]
    Kernel(diffkern::Error),
    /// A camera that sees nothing.
    #[error("camera {field} is {value}; expected {expected}")]
    Camera {
        /// The field at fault.
        field: &'static str,
        /// Its value.
        value: String,
        /// What would do.
        expected: &'static str,
    },
    /// A light with a value outside its domain.
    #[error("light {field} is {value}; expected {expected}")]
    Light {
        /// The field at fault.
        field: &'static str,
        /// Its value.
        value: String,
        /// What would do.
        expected: &'static str,
    },
    /// Topology that does not fit its vertices.
    #[error("mesh: {0}")]
    Mesh(String),
    /// A vertex that cannot be projected.
    #[error("vertex {vertex} {problem}")]
    Vertex {
        /// Index of the vertex.
        vertex: usize,
        /// What is wrong with its position.
        problem: String,
    },
    /// A parameter of the renderer or of a loss outside its domain.
    #[error("{what} is {value}; expected {expected}")]
    Value {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: String,
        /// What would do.
        expected: String,
    },
    /// An image file that cannot be read, or is not what was expected.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what was expected.
        problem: String,
    },
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Gives back an error of this crate that has passed through `diffkern`.
impl From<diffkern::Error> for Error {
    fn from(error: diffkern::Error) -> Error {
        error.downcast_ref().cloned().unwrap_or(Error::Kernel(error))
    }
}

impl From<Error> for diffkern::Error {
    fn from(error: Error) -> diffkern::Error {
        match error {
            Error::Kernel(error) => error,
            error => diffkern::Error::other(error),
        }
    }
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Refuses two images whose lengths differ.
pub(crate) fn same_length(what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::Value { what, value: format!("{found} pixels"), expected: format!("{expected} pixels") })
}
