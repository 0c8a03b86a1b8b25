//! Why an evaluation gave nothing.

use crate::error::Error;
use diffkern_sim::Error as Sim;

/// Result of an evaluation.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// Why an evaluation gave nothing.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The observer asked for an end.
    Stopped,
    /// This material cannot be simulated at this resolution: an element turns inside out, or runs away. Another can.
    Unstable(Error),
    /// Nothing to be done about.
    Fatal(Error),
}

impl From<Sim> for Failure {
    fn from(error: Sim) -> Self {
        Error::from(error).into()
    }
}

impl From<diffkern::Error> for Failure {
    fn from(error: diffkern::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<diffkern_render::Error> for Failure {
    fn from(error: diffkern_render::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<diffkern_optim::Error> for Failure {
    fn from(error: diffkern_optim::Error) -> Self {
        Self::Fatal(error.into())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted => Self::Stopped,
            error if error.is_of_the_motion() => Self::Unstable(error),
            error => Self::Fatal(error),
        }
    }
}

/// The value, none if the material cannot be simulated.
pub(crate) fn simulable<T>(outcome: Outcome<T>) -> Outcome<Option<T>> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(Failure::Unstable(_)) => Ok(None),
        Err(failure) => Err(failure),
    }
}
