//! Pure operations.

use crate::{BinaryOp, Id, Slot, UnaryOp};

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lit {
    /// Real.
    Real(f64),
    /// Of any integer type; the value's type says which.
    Int(i64),
    /// Truth value.
    Bool(bool),
}

/// The place of the thread in the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// Linear index.
    Pos,
    /// Fastest coordinate.
    PosX,
    /// Second coordinate.
    PosY,
    /// Third coordinate.
    PosZ,
}

impl Builtin {
    /// Every one.
    pub const ALL: [Builtin; 4] = [Builtin::Pos, Builtin::PosX, Builtin::PosY, Builtin::PosZ];

    /// Its name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Builtin::Pos => "pos",
            Builtin::PosX => "posx",
            Builtin::PosY => "posy",
            Builtin::PosZ => "posz",
        }
    }
}

/// What defines a value without touching memory. Those of one and two operands are the rows of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A constant.
    Const(Lit),
    /// Place of the thread, `usize`.
    Builtin(Builtin),
    /// Number of elements of an array parameter, `usize`.
    Len(Slot),
    /// One operand.
    Unary(UnaryOp, Id),
    /// Two operands.
    Binary(BinaryOp, Id, Id),
    /// Condition, value if true, value if false; the two are already computed.
    Select(Id, Id, Id),
    /// To the type of the result: among integers (wrapping), integer to real, real to integer (saturating, NaN to 0).
    Cast(Id),
    /// Vector or matrix (row-major) from its components.
    Compose(Vec<Id>),
    /// One component.
    Extract(Id, u8),
    /// A copy of the first with one component replaced.
    Insert(Id, u8, Id),
}

impl Op {
    /// The operation with each operand replaced.
    pub fn map(&self, mut f: impl FnMut(Id) -> Id) -> Op {
        match self {
            Op::Const(_) | Op::Builtin(_) | Op::Len(_) => self.clone(),
            Op::Unary(op, x) => Op::Unary(*op, f(*x)),
            Op::Binary(op, a, b) => Op::Binary(*op, f(*a), f(*b)),
            Op::Select(c, a, b) => Op::Select(f(*c), f(*a), f(*b)),
            Op::Cast(x) => Op::Cast(f(*x)),
            Op::Compose(parts) => Op::Compose(parts.iter().map(|x| f(*x)).collect()),
            Op::Extract(x, k) => Op::Extract(f(*x), *k),
            Op::Insert(x, k, y) => Op::Insert(f(*x), *k, f(*y)),
        }
    }

    /// The values that it reads.
    pub fn operands(&self) -> Vec<Id> {
        match self {
            Op::Const(_) | Op::Builtin(_) | Op::Len(_) => Vec::new(),
            Op::Unary(_, x) | Op::Cast(x) | Op::Extract(x, _) => vec![*x],
            Op::Binary(_, a, b) | Op::Insert(a, _, b) => vec![*a, *b],
            Op::Select(c, a, b) => vec![*c, *a, *b],
            Op::Compose(parts) => parts.clone(),
        }
    }
}
