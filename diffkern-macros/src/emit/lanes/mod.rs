//! IR to Rust over packs of lanes: the body runs for several consecutive positions at once.
//!
//! ```text
//! x_next[i] = x[i] + v[i] * dt    let [v5_0] = a0.load_at(m, v3, 7); .. a2.set_at(m, p, v3, [v8_0], 7);
//! if x > 0 { .. }                 let t = S::and(m, v9_0); if S::any(t) { let m = t; .. }
//! loss[0] += e                    a3.add_all(m, v4, [v7_0], 9);
//! ```
//!
//! `m` is the mask of the lanes that take part. What does not vary among lanes stays scalar ([`crate::uniform`]). A construct
//! that is not known here gives no body of lanes: the kernel runs in scalar, and reports name the [`lack`].

mod control;
mod function;
mod kernel;
mod lack;
mod ops;
mod statements;
mod values;

pub use function::{Owner, constant, declared, functions};
#[cfg(test)]
pub use kernel::any;
pub use kernel::kernel;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};

use diffkern_ir::{Func, Id, Slot, StackKind};
use proc_macro2::TokenStream;

use self::lack::Lack;
use self::values::Values;
use super::growing::{growing, growing_or_logs};
use super::native;
use crate::source::Source;

/// One function being written.
struct Lanes<'a> {
    func: &'a Func,
    source: &'a Source,
    scalar: native::Emit<'a>,
    values: Values<'a>,
    /// Stacks by what they are for, see [`growing`] and [`StackKind`].
    growing: HashSet<u32>,
    arrays: BTreeSet<u32>,
    logs: BTreeSet<u32>,
    /// How many branches and loops are around.
    depth: Cell<usize>,
    /// How many of them mask lanes off.
    masks: Cell<usize>,
    /// Additions that every pack makes once, by array.
    fixed: RefCell<HashMap<Slot, usize>>,
    /// The first construct found that has no lanes.
    lack: RefCell<Option<Lack>>,
}

impl<'a> Lanes<'a> {
    fn new(func: &'a Func, source: &'a Source, parameters: &[Id]) -> Self {
        Lanes {
            func,
            source,
            scalar: native::Emit { func, source, growing: growing_or_logs(func) },
            growing: growing(func),
            arrays: func.stacks_of(StackKind::Array),
            logs: func.stacks_of(StackKind::Log),
            values: Values::new(func, parameters),
            depth: Cell::new(0),
            masks: Cell::new(0),
            fixed: RefCell::default(),
            lack: RefCell::default(),
        }
    }

    fn parts(&self, id: Id, out: &mut TokenStream) -> Vec<TokenStream> {
        self.values.parts(id, out)
    }

    fn varies(&self, id: Id) -> bool {
        self.values.varies(id)
    }
}
