//! Calls of device functions.

use super::{Func, Id, Slot, Ty};

/// A device function as a caller sees it: its name, and what the call says of its signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Callee {
    pub path: syn::Path,
    pub call: CallTypes,
}

impl Callee {
    /// The type and the method, where this is the method of a law: of a type parameter of `func`, or of a type, whose name
    /// has a large letter.
    pub fn method_of(&self, func: &Func) -> Option<(syn::Path, syn::Ident)> {
        let mut owner = self.path.clone();
        let method = owner.segments.pop()?.into_value().ident;
        owner.segments.pop_punct();
        let last = owner.segments.last()?.ident.to_string();
        (last.starts_with(char::is_uppercase) || func.laws.contains(&last)).then_some((owner, method))
    }
}

impl Func {
    /// Whether it is of laws, or calls one's methods.
    pub fn has_laws(&self) -> bool {
        !self.laws.is_empty() || self.callees.iter().any(|callee| callee.method_of(self).is_some())
    }
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
