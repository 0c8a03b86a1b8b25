//! Local arrays in memory of the thread, an access to which costs one.
//!
//! | source | IR |
//! |---|---|
//! | `let mut a = Array::<F>::new(100);` | `StackNew a` of zeros |
//! | `a[i] = x;` | `StackSet a[min(i, 100)] = x` |
//! | `a[i]` | `StackGet a[min(i, 99)]` |
//! | `let b = a;`, `b = a;` | a loop of 100 turns |
//!
//! Slot 100 is where writes out of range go.

use diffkern_ir::{BinaryOp, Block, Id, Lit, Op, StackKind, StmtKind, Ty};
use proc_macro2::Span;

use super::Lower;
use super::local::{Made, Values};

impl Lower<'_> {
    /// A stack of `len` elements that are zero.
    pub(super) fn new_memory(&mut self, ty: Ty, len: usize, span: Span) -> u32 {
        let stack = self.func.stacks;
        self.func.stacks += 1;
        let len = self.constant(Ty::Usize, Lit::Int(len as i64 + 1), span);
        self.emit(StmtKind::StackNew { stack, ty, len, kind: StackKind::Array }, span);
        stack
    }

    /// Gives all elements of a stack their values.
    pub(super) fn fill_memory(&mut self, stack: u32, made: Made, span: Span) {
        let Made { elem, len, values } = made;
        if let Values::Each(ids) = values {
            for (k, value) in ids.into_iter().enumerate() {
                let at = self.constant(Ty::Usize, Lit::Int(k as i64), span);
                self.emit(StmtKind::StackSet { stack, at, value }, span);
            }
            return;
        }
        let (lo, hi) =
            (self.constant(Ty::Usize, Lit::Int(0), span), self.constant(Ty::Usize, Lit::Int(len as i64), span));
        let index = self.func.fresh(Ty::Usize);
        let (stmts, ()) = self.nested(|s| {
            let value = match values {
                Values::All(id) => id,
                Values::Stack(from) => s.get_memory(from, elem, index, span),
                Values::Zeros | Values::Each(_) => s.zero(elem, span),
            };
            s.emit(StmtKind::StackSet { stack, at: index, value }, span);
        });
        let body = Block { stmts, yields: Vec::new() };
        let (carried, init, results) = (Vec::new(), Vec::new(), Vec::new());
        self.emit(StmtKind::For { index, lo, hi, carried, init, live: None, body, results }, span);
    }

    /// What a slot holds.
    pub(super) fn get_memory(&mut self, stack: u32, elem: Ty, at: Id, span: Span) -> Id {
        let id = self.func.fresh(elem);
        self.emit(StmtKind::StackGet { id, stack, at }, span);
        id
    }

    /// What slot `k` holds.
    pub(super) fn read_memory(&mut self, stack: u32, elem: Ty, k: usize, span: Span) -> Id {
        let at = self.constant(Ty::Usize, Lit::Int(k as i64), span);
        self.get_memory(stack, elem, at, span)
    }

    /// The slot of an index, `most` where it is beyond.
    pub(super) fn slot(&mut self, index: Id, most: usize, span: Span) -> Id {
        let at = match self.ty(index) {
            Ty::Usize => index,
            _ => self.op(Ty::Usize, Op::Cast(index), span),
        };
        let fits = |end: &i64| *end <= most as i64 + 1;
        if matches!(self.consts.get(&index), Some(Lit::Int(k)) if fits(&(k + 1)))
            || self.below.get(&index).is_some_and(fits)
        {
            return at;
        }
        let most = self.constant(Ty::Usize, Lit::Int(most as i64), span);
        self.op(Ty::Usize, Op::Binary(BinaryOp::Min, at, most), span)
    }
}
