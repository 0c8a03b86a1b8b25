//! What can go wrong, with the values that show it.

use crate::fault::MeshFault;
use std::fmt;
use std::path::PathBuf;

/// A simulation that was set up wrongly or left the range in which it means something.
///
/// `Debug` prints the message too. In a function or closure that returns [`diffkern::Result`], `?` turns it into a
/// [`diffkern::Error`], where errors of several crates meet; [`diffkern::Error::downcast_ref`] gives it back.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value that no simulation can use.
    #[error("{what} is {value}, expected {expected}")]
    Invalid {
        /// Which value.
        what: String,
        /// What it is.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// An element turned inside out.
    #[error(
        "{what} {index} is inverted after step {step}: det F = {det}, expected > 0; \
         use a smaller time step, a finer grid or a stiffer material"
    )]
    Inverted {
        /// What it is: a particle, a tetrahedron.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Number of steps taken.
        step: usize,
        /// Determinant of its deformation gradient.
        det: f64,
    },
    /// A particle crosses more than a cell in one step.
    #[error(
        "particle {particle} moves {cells} cells in one step after step {step}: its speed is {speed} m/s, the limit at \
         this grid {limit} m/s; use a smaller time step"
    )]
    TooFast {
        /// Index of the particle.
        particle: usize,
        /// Number of steps taken.
        step: usize,
        /// Cells crossed in one step.
        cells: f64,
        /// Its speed \[m/s\].
        speed: f64,
        /// Speed of one cell a step \[m/s\].
        limit: f64,
    },
    /// A particle is no longer on the grid.
    #[error(
        "particle {particle} left the grid after step {step}: its {axis} is {value}, the grid carries {low} to {high}; \
         enlarge the grid (`BlockSpec::reach`) or put a half-space there"
    )]
    Outside {
        /// Index of the particle.
        particle: usize,
        /// Number of steps taken.
        step: usize,
        /// Name of the axis.
        axis: char,
        /// Its coordinate \[m\].
        value: f64,
        /// Smallest coordinate that the grid carries \[m\].
        low: f64,
        /// Largest coordinate that the grid carries \[m\].
        high: f64,
    },
    /// Particles that fly apart reach more of the grid than there is to be memory for.
    #[error(
        "the particles have scattered over {nodes} nodes of the grid after step {step}, the limit is {limit}; use a \
         stiffer material or a slower start, or raise `Model::with_node_limit`"
    )]
    Scattered {
        /// Number of steps taken.
        step: usize,
        /// Nodes that the next step needs.
        nodes: usize,
        /// Most nodes allowed.
        limit: usize,
    },
    /// A value that is not a number, or infinite.
    #[error("{field} of {what} {index} is {value} after step {step}; use a smaller time step or check the parameters")]
    NotFinite {
        /// Which field of the state.
        field: &'static str,
        /// Of what it is: a particle, a vertex.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Number of steps taken.
        step: usize,
        /// The value.
        value: f64,
    },
    /// Triangles that enclose no body.
    #[error(transparent)]
    Mesh(#[from] MeshFault),
    /// A file of a surface that cannot be used.
    #[error("{}: {problem}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, and where.
        problem: String,
    },
    /// A failure of the runtime below.
    #[error(transparent)]
    Runtime(diffkern::Error),
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Gives back an error of this crate that has passed through `diffkern`.
impl From<diffkern::Error> for Error {
    fn from(error: diffkern::Error) -> Error {
        error.downcast_ref().cloned().unwrap_or(Error::Runtime(error))
    }
}

impl From<Error> for diffkern::Error {
    fn from(error: Error) -> diffkern::Error {
        match error {
            Error::Runtime(error) => error,
            error => diffkern::Error::other(error),
        }
    }
}

impl Error {
    pub(crate) fn invalid(what: impl Into<String>, value: impl ToString, expected: impl Into<String>) -> Error {
        Error::Invalid { what: what.into(), value: value.to_string(), expected: expected.into() }
    }

    /// Whether the motion is to blame: an element turned inside out, or something ran away, scattered, left the grid or is not finite.
    /// Other parameters, or shorter steps, may be simulated.
    pub fn is_of_the_motion(&self) -> bool {
        use Error::{Inverted, NotFinite, Outside, Scattered, TooFast};
        matches!(self, Inverted { .. } | NotFinite { .. } | Outside { .. } | Scattered { .. } | TooFast { .. })
    }
}

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// `value` if it is finite and positive.
pub(crate) fn positive(what: &str, value: f64) -> Result<f64> {
    match value.is_finite() && value > 0.0 {
        true => Ok(value),
        false => Err(Error::invalid(what, value, "a positive number")),
    }
}

/// `value` if it is finite and not negative.
pub(crate) fn non_negative(what: &str, value: f64) -> Result<f64> {
    match value.is_finite() && value >= 0.0 {
        true => Ok(value),
        false => Err(Error::invalid(what, value, "a number of at least 0")),
    }
}
