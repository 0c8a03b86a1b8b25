//! Statements, and the blocks that they form.

use crate::{Id, Op, Slot, Ty};

/// Where a statement comes from: a number that its maker gives meaning. To the macros it is an entry of a table of spans
/// that all forms of an item share; in a function read from text it is the source line, 0 where the text has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Node(pub u32);

/// Statements and the values that they give to the enclosing statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Statements, in order.
    pub stmts: Vec<Stmt>,
    /// Values given on.
    pub yields: Vec<Id>,
}

impl Block {
    /// Calls `see` for each statement, those inside others after these, in the order of the text.
    pub fn each<'a>(&'a self, see: &mut dyn FnMut(&'a Stmt)) {
        for stmt in &self.stmts {
            see(stmt);
            stmt.kind.blocks().for_each(|block| block.each(see));
        }
    }

    /// As [`Block::each`], to change them.
    pub fn each_mut(&mut self, change: &mut dyn FnMut(&mut Stmt)) {
        for stmt in &mut self.stmts {
            change(stmt);
            stmt.kind.blocks_mut().for_each(|block| block.each_mut(change));
        }
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it comes from.
    pub node: Node,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each field is a part of its statement's text, and named for it")]
pub enum StmtKind {
    /// A pure operation.
    Let { id: Id, op: Op },
    /// An element of an array.
    Load { id: Id, array: Slot, index: Id },
    /// An element of an array gets a value.
    Store { array: Slot, index: Id, value: Id },
    /// A value is added to an element, atomically where others may.
    Add { array: Slot, index: Id, value: Id },
    /// The element, which is zero afterwards.
    Take { id: Id, array: Slot, index: Id },
    /// Adds to an integer, atomically; `id` is what was there before. `again`: in an adjoint or tangent, where it must not
    /// stay: it would get another value.
    Fetch { id: Id, array: Slot, index: Id, value: Id, again: bool },
    /// One of two blocks. Each yields one value per result.
    If { cond: Id, then: Block, els: Block, results: Vec<Id> },
    /// Runs `max(hi - lo, 0)` times, `index` counting up from `lo`. `carried[k]` is `init[k]` in the first iteration
    /// and `body.yields[k]` of the one before in the others; `results[k]` is its last value. `index`, `lo`, `hi` have one
    /// integer type. With `live`, one of `carried` and a bool, the loop ends before an iteration that finds it false.
    For { index: Id, lo: Id, hi: Id, carried: Vec<Id>, init: Vec<Id>, live: Option<Id>, body: Block, results: Vec<Id> },
    /// Where `cond` holds the launch is an error, but goes on. Only in a primal.
    Fault { cond: Id, what: FaultKind },
    /// Scratch memory of the thread, slots `0..len`; `len` is `usize`. Contents last until the next `StackNew` of it.
    StackNew { stack: u32, ty: Ty, len: Id, kind: StackKind },
    /// A slot of a stack gets a value.
    StackSet { stack: u32, at: Id, value: Id },
    /// What a slot of a stack holds.
    StackGet { id: Id, stack: u32, at: Id },
    /// Calls a device function. Argument and result order by mode:
    /// - `Primal`, `Replay`: arguments -> results
    /// - `Vjp`: arguments, adjoint of each result that is real, bar array of each real array argument
    ///   -> adjoint of each real value argument
    /// - `Jvp`: arguments, tangent of each real value argument, dot array of each real array argument
    ///   -> results, then the tangent of each real result
    /// - `Second`: those of the `Vjp`, tangent of each real value argument of the `Vjp`, dot array of each real array
    ///   argument of it -> results of the `Vjp`, then the tangent of each
    Call { callee: usize, mode: CallMode, args: Vec<CallArg>, results: Vec<Id> },
}

/// How the slots of a stack are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackKind {
    /// A slot for each turn of a loop, which is set before it is read.
    Turns,
    /// Slots that are set and read in any order, and hold zero at first.
    Array,
    /// Slots that are set one after the other from the first, each before it is read; it has as many as are set, whatever `len`.
    Log,
}

impl StackKind {
    /// Every kind.
    pub const ALL: [StackKind; 3] = [StackKind::Turns, StackKind::Array, StackKind::Log];

    /// Name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            StackKind::Turns => "stack",
            StackKind::Array => "array",
            StackKind::Log => "log",
        }
    }
}

/// What is wrong where a [`StmtKind::Fault`] strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A `while` wants more iterations than this integer.
    Bound(Id),
    /// This index is not below the length of a local array.
    Index(Id, u32),
}

impl FaultKind {
    /// The integer that the message shows.
    pub fn id(self) -> Id {
        match self {
            FaultKind::Bound(id) | FaultKind::Index(id, _) => id,
        }
    }

    /// The same, of another integer.
    pub fn with(self, id: Id) -> Self {
        match self {
            FaultKind::Bound(_) => FaultKind::Bound(id),
            FaultKind::Index(_, len) => FaultKind::Index(id, len),
        }
    }
}

impl StmtKind {
    /// The blocks inside.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let [first, second] = match self {
            StmtKind::If { then, els, .. } => [Some(then), Some(els)],
            StmtKind::For { body, .. } => [Some(body), None],
            StmtKind::Let { .. }
            | StmtKind::Load { .. }
            | StmtKind::Store { .. }
            | StmtKind::Add { .. }
            | StmtKind::Take { .. }
            | StmtKind::Fetch { .. }
            | StmtKind::Fault { .. }
            | StmtKind::StackNew { .. }
            | StmtKind::StackSet { .. }
            | StmtKind::StackGet { .. }
            | StmtKind::Call { .. } => [None, None],
        };
        first.into_iter().chain(second)
    }

    fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let [first, second] = match self {
            StmtKind::If { then, els, .. } => [Some(then), Some(els)],
            StmtKind::For { body, .. } => [Some(body), None],
            _ => [None, None],
        };
        first.into_iter().chain(second)
    }
}

/// Which form of a device function a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallMode {
    /// The function.
    Primal,
    /// The function as adjoints and tangents run it again; it differs where a custom derivative says so.
    Replay,
    /// Its adjoint.
    Vjp,
    /// Its tangent.
    Jvp,
    /// The tangent of its adjoint.
    Second,
}

impl CallMode {
    /// Every mode.
    pub const ALL: [CallMode; 5] = [CallMode::Primal, CallMode::Replay, CallMode::Vjp, CallMode::Jvp, CallMode::Second];

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

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallArg {
    /// A value.
    Value(Id),
    /// An array of the caller.
    Array(Slot),
}
