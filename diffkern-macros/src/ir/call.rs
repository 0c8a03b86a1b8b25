//! Calls of device functions.

use super::{Id, Slot, Ty};

/// A device function as a caller sees it: its name, and what the call says of its signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Callee {
    pub path: syn::Path,
    pub call: CallTypes,
}

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTypes {
    pub args: Vec<ArgTy>,
    pub results: Vec<Ty>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgTy {
    Value(Ty),
    /// An array of these.
    Array(Ty),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallMode {
    Primal,
    /// The primal as adjoints and tangents run it again; it differs where a custom derivative says so.
    Replay,
    Vjp,
    Jvp,
    /// The tangent of the `Vjp`.
    Second,
}

impl CallMode {
    /// Name in the text form, and of the method that is called.
    pub fn name(self) -> &'static str {
        match self {
            CallMode::Primal => "primal",
            CallMode::Replay => "replay",
            CallMode::Vjp => "vjp",
            CallMode::Jvp => "jvp",
            CallMode::Second => "second",
        }
    }

    /// Whether the call adds to bar arrays among its arguments.
    pub fn accumulates(self) -> bool {
        matches!(self, CallMode::Vjp | CallMode::Second)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallArg {
    Value(Id),
    Array(Slot),
}
