//! Errors of other crates on their way through this one.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// An error of another type, as [`Error::other`](super::Error::other) takes it.
#[derive(Clone)]
pub struct Foreign(pub(super) Arc<dyn StdError + Send + Sync>);

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Foreign {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// Equal if it is one error, or if both say the same.
impl PartialEq for Foreign {
    fn eq(&self, other: &Foreign) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.to_string() == other.0.to_string()
    }
}
