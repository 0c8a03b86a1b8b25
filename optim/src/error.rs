//! Everything that can go wrong, with the values that show the mistake.

use std::fmt;

use crate::check::Fault;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong. `Debug` prints the message, too.
///
/// In a function that returns [`diffkern::Result`], `?` turns it into a [`diffkern::Error`];
/// [`diffkern::Error::downcast_ref`] gives it back.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two counts that must be equal differ.
    #[error("{what}: {found} where {expected} are needed")]
    Length {
        /// Which count.
        what: String,
        /// Given.
        found: usize,
        /// Needed.
        expected: usize,
    },
    /// A setting with which no step can be taken.
    #[error("{what} is {value}, expected {expected}")]
    Setting {
        /// Which one.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// A value or a gradient that is NaN or infinite, or whose square is infinite. No parameter has been changed.
    #[error(
        "{what} is {value} at step {step}; take a smaller step or another start, and look for the launch that made it \
         with `Recording::check_finite`"
    )]
    NotFinite {
        /// The value, or the squared norm of the gradient by which array.
        what: String,
        /// What it is.
        value: f64,
        /// Number of steps before.
        step: u64,
    },
    /// The optimizer multiplies with a Hessian, and the objective gives values and gradients alone.
    #[error("the objective has no products with a Hessian; give it some (`with_products`, `Taped`, `TapedResiduals`)")]
    NoProducts,
    /// A state from outside does not fit.
    #[error("state: {0}")]
    State(Fault),
    /// A failure of the runtime below, or of the program that is minimised.
    #[error(transparent)]
    Runtime(diffkern::Error),
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::State(fault)
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

pub(crate) fn same_length(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what: what.to_owned(), found, expected }) }
}

/// A setting that is finite and passes the test.
pub(crate) fn setting(
    what: &'static str,
    value: f64,
    expected: &'static str,
    fits: impl Fn(f64) -> bool,
) -> Result<()> {
    if value.is_finite() && fits(value) { Ok(()) } else { Err(Error::Setting { what, value, expected }) }
}
