//! Everything that can go wrong, with the values that show the mistake.

mod finite;
mod foreign;

use std::fmt;

pub use finite::{NotFinite, Origin};
pub use foreign::Foreign;

use crate::ids::Label;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. The message names the values and the way out.
///
/// `Debug` prints the message too: that is what `main` and `unwrap` print of an error. Code that has to tell errors apart
/// matches on the variants.
///
/// It is the type in which errors of several crates meet: those of `diffkern-sim` and `diffkern-render` become one by `?`, in
/// `main` and inside [`Tape::record`](crate::Tape::record), [`rollout`](crate::rollout) and [`jvp`](crate::jvp), and
/// so does any other by [`Error::other`]. [`Error::downcast_ref`] gives them back.
///
/// ```
/// use diffkern::prelude::*;
///
/// fn temperature(text: &str) -> Result<f32> {
///     text.parse().map_err(|error| Error::other(format!("temperature `{text}`: {error}")))
/// }
///
/// let error = temperature("warm").unwrap_err();
/// assert_eq!(format!("{error:?}"), "temperature `warm`: invalid float literal");
/// ```
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument of a launch does not fit the kernel.
    #[error("kernel `{kernel}`, parameter `{param}`: {reason}")]
    Argument {
        /// Name of the kernel.
        kernel: &'static str,
        /// Name of the parameter.
        param: &'static str,
        /// What was given, what was expected.
        reason: String,
    },
    /// A launch as a whole is wrong, for example its number of arguments.
    #[error("kernel `{kernel}`: {reason}")]
    Launch {
        /// Name of the kernel.
        kernel: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// An index was out of range; the access was clamped (read) or dropped (write).
    #[error(
        "kernel `{kernel}` ({file}:{line}): index {index} of `{param}` is out of range, its length is {len}; \
         check the index in the kernel or the length of the array"
    )]
    Index {
        /// Name of the kernel.
        kernel: &'static str,
        /// Name of the parameter.
        param: &'static str,
        /// Source file.
        file: &'static str,
        /// Source line of the access.
        line: u32,
        /// The index.
        index: u32,
        /// Length of the array.
        len: u32,
    },
    /// A `while` wanted more turns than its bound; it ended there.
    #[error(
        "kernel `{kernel}` ({file}:{line}): a `while` wants more than the {bound} turns of its `#[bound({bound})]`; raise \
         the bound, or look why the condition stays true"
    )]
    Bound {
        /// Name of the kernel.
        kernel: &'static str,
        /// Source file.
        file: &'static str,
        /// Source line of the loop.
        line: u32,
        /// Most turns.
        bound: u32,
    },
    /// Two lengths that must be equal differ.
    #[error("{what}: {found} elements where {expected} are needed")]
    Length {
        /// Which operation.
        what: &'static str,
        /// Given.
        found: usize,
        /// Needed.
        expected: usize,
    },
    /// A type of element differs from the one needed.
    #[error("{what}: elements are {found}, needed are {expected}")]
    Type {
        /// Which operation.
        what: &'static str,
        /// Given.
        found: String,
        /// Needed.
        expected: String,
    },
    /// Arrays of two devices meet.
    #[error("{what}: arrays on `{a}` and on `{b}`; copy one with `to_vec` and `Device::array`")]
    DeviceMismatch {
        /// Which operation.
        what: &'static str,
        /// One device.
        a: String,
        /// The other.
        b: String,
    },
    /// A device does not exist here, or cannot do what is asked.
    #[error("device `{device}`: {reason}")]
    Device {
        /// Name of the device.
        device: String,
        /// Why not.
        reason: String,
    },
    /// Not enough memory, or over a limit.
    #[error("device `{device}`: cannot allocate {bytes} bytes: {reason}")]
    Memory {
        /// Name of the device.
        device: String,
        /// Size asked for.
        bytes: usize,
        /// Why not.
        reason: String,
    },
    /// An array has no gradient.
    #[error("{array} has no gradient: {reason}")]
    NoGradient {
        /// The array.
        array: Label,
        /// Why not, and what to do.
        reason: &'static str,
    },
    /// The tape cannot do this.
    #[error("tape: {0}")]
    Tape(String),
    /// A value that the tape still needs would be overwritten (`Overwrite::Error`).
    #[error(
        "{what} would overwrite {array}, whose present value it or an earlier launch of this tape needs for its \
         gradient; write to another array, or record with `Overwrite::Keep`"
    )]
    Overwrite {
        /// The operation.
        what: String,
        /// The array.
        array: Label,
    },
    /// A rollout's step or schedule is not what it must be.
    #[error("rollout, step {step}: {reason}")]
    Rollout {
        /// Number of the step, from 0.
        step: usize,
        /// What is wrong, and the way out.
        reason: String,
    },
    /// A rollout's schedule cannot be had.
    #[error("rollout schedule: {0}")]
    Schedule(String),
    /// A state could not be kept in a file, or read back.
    #[error("file {}: {reason}; give a folder on another disk, or more memory and no folder", path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// What went wrong.
        reason: String,
    },
    /// A value or an adjoint is NaN or infinite ([`Recording::check_finite`](crate::Recording::check_finite)).
    #[error("{0}")]
    NotFinite(Box<NotFinite>),
    /// An iteration ended before its residual was small enough.
    #[error(
        "{what}: residual {residual:e} after {iterations} iterations, allowed {tolerance:e}; allow more iterations, or \
         a larger residual"
    )]
    NotConverged {
        /// Which iteration.
        what: &'static str,
        /// Iterations done.
        iterations: usize,
        /// Its relative residual.
        residual: f64,
        /// Largest allowed.
        tolerance: f64,
    },
    /// The flag of an [`interrupt::scope`](crate::interrupt::scope) was set.
    #[error("interrupted")]
    Interrupted,
    /// Forward mode cannot do this.
    #[error("jvp: {0}")]
    Jvp(String),
    /// A gradient differs from what finite differences say.
    #[error("gradient check: {0}")]
    Gradient(String),
    /// Any other wrong value.
    #[error("{0}")]
    Invalid(String),
    /// An error of another crate, or of the program itself.
    #[error(transparent)]
    Other(Foreign),
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// An error of another type, or a sentence, to be returned where an [`Error`] is expected.
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
        Error::Other(Foreign(error.into().into()))
    }

    /// The error that went into [`Error::other`], if it was of this type.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match self {
            Error::Other(Foreign(error)) => error.downcast_ref(),
            _ => None,
        }
    }

    /// The error with the step of a rollout that it happened in, where it says so.
    pub(crate) fn in_step(mut self, step: usize) -> Error {
        if let Error::NotFinite(found) = &mut self {
            found.steps.insert(0, step);
        }
        self
    }
}
