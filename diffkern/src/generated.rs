//! The way by which a kernel finds the device functions it calls, and what else generated code names.

use std::collections::HashMap;

use diffkern_ir::Id;

use crate::kernel::{FnDef, Program};

/// A `#[diff_fn]`, found by its path.
pub trait DiffFn: Sized {
    /// What has its forms as methods.
    const THIS: Self;

    /// How many device functions it runs.
    const RECURSION_IS_REFUSED: usize;

    /// Its programs.
    fn def() -> &'static FnDef;
    /// What keeps its primal from being called by bodies of lanes.
    const PRIMAL_LACKS: Option<&'static str>;
    /// The same of its replay.
    const REPLAY_LACKS: Option<&'static str>;
    /// The same of its vjp.
    const VJP_LACKS: Option<&'static str>;
    /// The same of its jvp.
    const JVP_LACKS: Option<&'static str>;
    /// Whether tangents go on with other values than those of the function: a replay or a tangent written by hand, of it or
    /// of what it calls, gives them.
    const BY_HAND: bool;
}

/// The first that there is.
pub const fn first_lack(lacks: &[Option<&'static str>]) -> Option<&'static str> {
    let mut k = 0;
    while k < lacks.len() {
        if lacks[k].is_some() {
            return lacks[k];
        }
        k += 1;
    }
    None
}

/// Whether all of them are there, or none.
pub const fn alike(lacks: &[Option<&'static str>]) -> bool {
    let mut k = 1;
    while k < lacks.len() {
        if lacks[k].is_some() != lacks[0].is_some() {
            return false;
        }
        k += 1;
    }
    true
}

/// What a device function takes and gives: by this a call finds the function, so that a call that says otherwise is one
/// error, on the name of the function, for all forms of the caller.
#[diagnostic::on_unimplemented(
    message = "the device function `{Self}` does not take these arguments, or gives something else",
    label = "called with `{A}`, for a result of `{R}`",
    note = "`Real` is the kernel's real type, usually `F`; `usize` is a `u32` here, and a struct is its fields one by one"
)]
pub trait Takes<A, R> {
    /// The function.
    type Function;
    /// What has its forms as methods.
    const FUNCTION: Self::Function;
}

/// The real type of whoever calls.
pub enum Real {}

/// An array of `T`.
pub struct ArrayOf<T>(std::marker::PhantomData<T>);

/// The text of a program with the names of its values, which `names` gives as `3 sum 7 sum_bar`.
pub fn with_names(program: &Program, names: &str) -> String {
    let mut words = names.split(' ');
    let mut by_id = HashMap::new();
    while let (Some(id), Some(name)) = (words.next(), words.next()) {
        by_id.extend(id.parse().map(|id| (Id(id), name)));
    }
    diffkern_ir::with_names(program.text, |id| by_id.get(&id).copied())
}
