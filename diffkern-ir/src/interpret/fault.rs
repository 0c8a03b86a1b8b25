//! Why a function stops.

use std::fmt;

use crate::Node;

/// Why a function cannot run on, and at which of its statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An array has no such element.
    Outside {
        /// Its number in the memory.
        array: usize,
        /// The index that it was asked for.
        index: usize,
        /// How many elements it has.
        len: usize,
        /// The statement.
        node: Node,
    },
    /// A `while` wants more turns than its bound.
    Bound {
        /// The bound.
        bound: u32,
        /// The statement.
        node: Node,
    },
    /// A local array has no such element.
    Local {
        /// The index that it was asked for.
        index: u32,
        /// How many elements it has.
        len: u32,
        /// The statement.
        node: Node,
    },
    /// Its arguments are not those of its parameters, or its text is not valid.
    Unfit(String),
}

impl From<String> for Fault {
    fn from(why: String) -> Fault {
        Fault::Unfit(why)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Outside { index, len, .. } => write!(f, "there is no element {index} of {len}"),
            Fault::Bound { bound, .. } => write!(f, "a `while` takes more than {bound} turns"),
            Fault::Local { index, len, .. } => write!(f, "a local array of {len} has no element {index}"),
            Fault::Unfit(why) => f.write_str(why),
        }
    }
}
