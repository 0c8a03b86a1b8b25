//! How an array is called in reports and errors.

use std::fmt;
use std::sync::Arc;

/// Identity of an array, with its name where it has one: "array 7", or "`stiffness` (array 7)".
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Label {
    id: u64,
    name: Option<Arc<str>>,
}

impl Label {
    pub(crate) fn new(id: u64, name: Option<Arc<str>>) -> Label {
        Label { id, name }
    }

    /// Identity of the array.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// What [`Array::named`](crate::Array::named) has called it.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "`{name}` (array {})", self.id),
            None => write!(f, "array {}", self.id),
        }
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
