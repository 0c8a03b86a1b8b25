//! The typed intermediate representation between the source of a kernel and everything made from it.
//!
//! Structured static single assignment: every value is defined once, a mutable variable of the source has become the
//! results of the `If`s and `For`s that change it. So the adjoint and the tangent are plain functions from IR to IR
//! and compose; see [`crate::adjoint`] and [`crate::tangent`].

mod call;
mod op;

use proc_macro2::Span;

pub use call::{ArgTy, CallArg, CallMode, CallTypes, Callee};
pub use op::{BinaryOp, Builtin, Lit, Op, UnaryOp};

/// Type of a value. Vectors and matrices are of the kernel's real scalar `F`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    Real,
    U32,
    I32,
    Usize,
    Bool,
    /// 2, 3 or 4 components.
    Vec(u8),
    /// Square, row-major: 2 or 3 rows.
    Mat(u8),
    /// w, x, y, z. To everything but the source and Rust it is a vector of 4; its products are made of other operations.
    Quat,
}

impl Ty {
    /// Whether a value of this type can carry a derivative.
    pub fn is_real(self) -> bool {
        self == Ty::Real || self.is_compound()
    }

    /// Whether it is made of several reals.
    pub fn is_compound(self) -> bool {
        matches!(self, Ty::Vec(_) | Ty::Mat(_) | Ty::Quat)
    }

    pub fn is_int(self) -> bool {
        matches!(self, Ty::U32 | Ty::I32 | Ty::Usize)
    }

    /// Number of scalars.
    pub fn components(self) -> usize {
        match self {
            Ty::Vec(n) => n as usize,
            Ty::Mat(n) => n as usize * n as usize,
            Ty::Quat => 4,
            _ => 1,
        }
    }
}

/// A value, defined once in its function. Its type is `Func::types[id]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub u32);

/// Index into [`Func::params`].
pub type Slot = usize;

/// How a function touches an array parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    Store,
    Add,
    /// Read, then set to zero: the adjoint of a store.
    Take,
    /// Several of these, all at one index that no other thread touches: an array that is read and overwritten, its
    /// adjoint and its tangent.
    Update,
    /// Atomic additions that give what was there before.
    Fetch,
    Unused,
}

impl Access {
    /// What a function does that does both.
    pub fn and(self, other: Access) -> Access {
        match (self, other) {
            (Access::Unused, other) => other,
            (one, other) if one == other => one,
            (one, Access::Unused) => one,
            _ => Access::Update,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Param {
    pub name: String,
    pub kind: ParamKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ParamKind {
    Array {
        elem: Ty,
        access: Access,
        /// Every access in the function has the index `ABSOLUTE_POS`, so no two threads touch one element.
        owned: bool,
    },
    /// By value; `id` is its value in the body.
    Scalar { id: Id, comptime: bool },
}

/// What a function is: a kernel has no results, a device function has no positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FuncKind {
    Kernel,
    DiffFn,
}

#[derive(Clone, Debug)]
pub struct Func {
    pub name: String,
    pub kind: FuncKind,
    pub params: Vec<Param>,
    /// `body.yields` are the results of a device function, empty for a kernel.
    pub body: Block,
    /// Type of each value, by id.
    pub types: Vec<Ty>,
    /// Number of stacks in use, see [`StmtKind::StackNew`].
    pub stacks: u32,
    /// The device functions called, by [`StmtKind::Call::callee`].
    pub callees: Vec<Callee>,
    /// Type parameters (and `Self`) whose methods are device functions.
    pub laws: Vec<String>,
}

impl Func {
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

    pub fn fresh(&mut self, ty: Ty) -> Id {
        self.types.push(ty);
        Id(self.types.len() as u32 - 1)
    }

    /// Whether each array is touched at `ABSOLUTE_POS` alone, if at all.
    pub fn only_own_positions(&self) -> bool {
        self.params.iter().all(|p| match p.kind {
            ParamKind::Array { access, owned, .. } => owned || access == Access::Unused,
            ParamKind::Scalar { .. } => true,
        })
    }

    pub fn ty(&self, id: Id) -> Ty {
        self.types[id.0 as usize]
    }

    /// The stacks in use and the types of their slots, in the order in which they are made first.
    pub fn stack_types(&self) -> Vec<(u32, Ty)> {
        let mut found: Vec<(u32, Ty)> = Vec::new();
        self.body.each(&mut |stmt| match stmt.kind {
            StmtKind::StackNew { stack, ty, .. } if !found.iter().any(|(s, _)| *s == stack) => found.push((stack, ty)),
            _ => {}
        });
        found
    }
}

#[derive(Clone, Debug, Default)]
pub struct Block {
    pub stmts: Vec<Stmt>,
    pub yields: Vec<Id>,
}

impl Block {
    /// Calls `see` for each statement, those inside others after these, in the order of the text.
    pub fn each<'a>(&'a self, see: &mut dyn FnMut(&'a Stmt)) {
        for stmt in &self.stmts {
            see(stmt);
            match &stmt.kind {
                StmtKind::If { then, els, .. } => {
                    then.each(see);
                    els.each(see);
                }
                StmtKind::For { body, .. } => body.each(see),
                _ => {}
            }
        }
    }

    /// As [`Block::each`], to change them.
    pub fn each_mut(&mut self, change: &mut dyn FnMut(&mut Stmt)) {
        for stmt in &mut self.stmts {
            change(stmt);
            match &mut stmt.kind {
                StmtKind::If { then, els, .. } => {
                    then.each_mut(change);
                    els.each_mut(change);
                }
                StmtKind::For { body, .. } => body.each_mut(change),
                _ => {}
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A pure operation.
    Let {
        id: Id,
        op: Op,
    },
    Load {
        id: Id,
        array: Slot,
        index: Id,
    },
    Store {
        array: Slot,
        index: Id,
        value: Id,
    },
    Add {
        array: Slot,
        index: Id,
        value: Id,
    },
    Take {
        id: Id,
        array: Slot,
        index: Id,
    },
    /// Adds to an integer, atomically; `id` is what was there before. `again`: in an adjoint or tangent, where it must not
    /// stay: it would get another value.
    Fetch {
        id: Id,
        array: Slot,
        index: Id,
        value: Id,
        again: bool,
    },
    /// Each block yields one value per result.
    If {
        cond: Id,
        then: Block,
        els: Block,
        results: Vec<Id>,
    },
    /// Runs `max(hi - lo, 0)` times, `index` counting up from `lo`. `carried[k]` is `init[k]` in the first turn and
    /// `body.yields[k]` of the turn before in the others; `results[k]` is its last value. `index`, `lo`, `hi` have one
    /// integer type. With `live`, one of `carried` and a bool, the loop ends before a turn that finds it false.
    For {
        index: Id,
        lo: Id,
        hi: Id,
        carried: Vec<Id>,
        init: Vec<Id>,
        live: Option<Id>,
        body: Block,
        results: Vec<Id>,
    },
    /// Where `cond` holds the launch is an error, but goes on. Only in a primal.
    Fault {
        cond: Id,
        what: FaultKind,
    },
    /// Scratch memory of the thread, slots `0..len`; `len` is `usize`. Contents last until the next `StackNew` of it.
    StackNew {
        stack: u32,
        ty: Ty,
        len: Id,
    },
    StackSet {
        stack: u32,
        at: Id,
        value: Id,
    },
    StackGet {
        id: Id,
        stack: u32,
        at: Id,
    },
    /// Argument and result order by mode:
    /// - `Primal`, `Replay`: arguments -> results
    /// - `Vjp`: arguments, adjoint of each result that is real, bar array of each real array argument
    ///   -> adjoint of each real value argument
    /// - `Jvp`: arguments, tangent of each real value argument, dot array of each real array argument
    ///   -> results, then the tangent of each real result
    /// - `Second`: those of the `Vjp`, tangent of each real value argument of the `Vjp`, dot array of each real array
    ///   argument of it -> results of the `Vjp`, then the tangent of each
    Call {
        callee: usize,
        mode: CallMode,
        args: Vec<CallArg>,
        results: Vec<Id>,
    },
}

/// What is wrong where a [`StmtKind::Fault`] strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A `while` wants more turns than this integer.
    Bound(Id),
    /// This index is not below the length of a local array.
    Index(Id, u32),
}

impl FaultKind {
    /// The integer that it tells of.
    pub fn id(self) -> Id {
        match self {
            FaultKind::Bound(id) | FaultKind::Index(id, _) => id,
        }
    }

    pub fn with(self, id: Id) -> Self {
        match self {
            FaultKind::Bound(_) => FaultKind::Bound(id),
            FaultKind::Index(_, len) => FaultKind::Index(id, len),
        }
    }
}
