//! Functions and their parameters.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Block, Id, Node, Slot, StackKind, StmtKind, Ty};

/// How a function touches an array parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Only read.
    Read,
    /// Only assigned.
    Store,
    /// Only added to.
    Add,
    /// Read, then set to zero: the adjoint of a store.
    Take,
    /// Several of these, all at one index that no other thread touches: an array that is read and overwritten, its
    /// adjoint and its tangent.
    Update,
    /// Atomic additions to integers, which give what was there before.
    Fetch,
    /// Not touched; its length may be asked for.
    Unused,
}

impl Access {
    /// Every way.
    pub const ALL: [Access; 7] =
        [Access::Read, Access::Store, Access::Add, Access::Take, Access::Update, Access::Fetch, Access::Unused];

    /// Whether elements change.
    pub const fn writes(self) -> bool {
        match self {
            Access::Store | Access::Add | Access::Take | Access::Update | Access::Fetch => true,
            Access::Read | Access::Unused => false,
        }
    }

    /// What a function does that does both.
    pub fn and(self, other: Access) -> Access {
        match (self, other) {
            (Access::Unused, other) => other,
            (one, other) if one == other => one,
            (one, Access::Unused) => one,
            _ => Access::Update,
        }
    }

    /// Its name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Store => "store",
            Access::Add => "add",
            Access::Take => "take",
            Access::Update => "update",
            Access::Fetch => "fetch",
            Access::Unused => "unused",
        }
    }
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name in the source.
    pub name: String,
    /// What it is.
    pub kind: ParamKind,
}

/// What a parameter is.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    /// An array.
    Array {
        /// Type of an element.
        elem: Ty,
        /// How the function touches it.
        access: Access,
        /// Every access in the function has the index `ABSOLUTE_POS`, so no two threads touch one element.
        owned: bool,
    },
    /// A scalar by value.
    Scalar {
        /// Its value in the body.
        id: Id,
        /// Fixed when the kernel is built.
        comptime: bool,
    },
}

/// What a function is: a kernel has no results, a device function has no positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FuncKind {
    /// Runs once for each index of a domain.
    Kernel,
    /// Called by kernels and by other device functions.
    DiffFn,
}

/// A device function as its caller sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Callee {
    /// Its name, the last of its path.
    pub name: String,
    /// Where the source names it.
    pub node: Node,
    /// What the call says of its signature.
    pub call: CallTypes,
}

/// What a function takes and gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTypes {
    /// Its arguments.
    pub args: Vec<ArgTy>,
    /// Its results.
    pub results: Vec<Ty>,
}

/// Type of an argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgTy {
    /// A value.
    Value(Ty),
    /// An array of these.
    Array(Ty),
}

/// A kernel or a device function.
#[derive(Clone, Debug, PartialEq)]
pub struct Func {
    /// Name in the source.
    pub name: String,
    /// Kernel or device function.
    pub kind: FuncKind,
    /// Parameters, by slot.
    pub params: Vec<Param>,
    /// `body.yields` are the results of a device function, empty for a kernel.
    pub body: Block,
    /// Type of each value, by id.
    pub types: Vec<Ty>,
    /// Number of stacks in use, see [`StmtKind::StackNew`].
    pub stacks: u32,
    /// The device functions called, by [`StmtKind::Call::callee`]. Of a function that was read from text they are not known.
    pub callees: Vec<Callee>,
    /// What the source calls some of the values, and what derivatives of these are called after them. Nothing but shown
    /// text depends on it.
    pub names: BTreeMap<Id, String>,
}

impl Func {
    /// A function without parameters that does nothing.
    pub fn new(name: impl Into<String>, kind: FuncKind) -> Func {
        Func {
            name: name.into(),
            kind,
            params: Vec::new(),
            body: Block::default(),
            types: Vec::new(),
            stacks: 0,
            callees: Vec::new(),
            names: BTreeMap::new(),
        }
    }

    /// A new value of this type, still to be defined.
    pub fn fresh(&mut self, ty: Ty) -> Id {
        self.types.push(ty);
        Id(self.types.len() as u32 - 1)
    }

    /// Type of a value of the function.
    pub fn ty(&self, id: Id) -> Ty {
        self.types[id.0 as usize]
    }

    /// Calls `id`, which has no name yet, as `of`, with this at the end.
    pub fn name_after(&mut self, id: Id, of: Id, end: &str) {
        if let Some(name) = self.names.get(&of).map(|name| format!("{name}{end}")) {
            self.names.entry(id).or_insert(name);
        }
    }

    /// What it takes and gives, itself.
    pub fn call_types(&self) -> CallTypes {
        let arg = |param: &Param| match param.kind {
            ParamKind::Array { elem, .. } => ArgTy::Array(elem),
            ParamKind::Scalar { id, .. } => ArgTy::Value(self.ty(id)),
        };
        CallTypes {
            args: self.params.iter().map(arg).collect(),
            results: self.body.yields.iter().map(|&id| self.ty(id)).collect(),
        }
    }

    /// Type of the elements of an array parameter.
    pub fn element(&self, slot: Slot) -> Option<Ty> {
        match self.params.get(slot)?.kind {
            ParamKind::Array { elem, .. } => Some(elem),
            ParamKind::Scalar { .. } => None,
        }
    }

    /// Whether each array is touched at `ABSOLUTE_POS` alone, if at all.
    pub fn only_own_positions(&self) -> bool {
        self.params.iter().all(|p| match p.kind {
            ParamKind::Array { access, owned, .. } => owned || access == Access::Unused,
            ParamKind::Scalar { .. } => true,
        })
    }

    /// The stacks in use and the types of their slots, in the order in which they are made first.
    pub fn stack_types(&self) -> Vec<(u32, Ty)> {
        let mut found: Vec<(u32, Ty)> = Vec::new();
        self.body.each(&mut |stmt| {
            if let StmtKind::StackNew { stack, ty, .. } = stmt.kind
                && !found.iter().any(|(s, _)| *s == stack)
            {
                found.push((stack, ty));
            }
        });
        found
    }

    /// The stacks that are used so.
    pub fn stacks_of(&self, kind: StackKind) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        self.body.each(&mut |stmt| match stmt.kind {
            StmtKind::StackNew { stack, kind: found_kind, .. } if found_kind == kind => {
                found.insert(stack);
            }
            _ => {}
        });
        found
    }
}
