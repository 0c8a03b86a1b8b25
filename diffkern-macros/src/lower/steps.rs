//! Loops in steps: `range_stepped(lo, hi, step)` of CubeCL, `(lo..hi).step_by(step)` of Rust. The turns are counted.
//!
//! | source | becomes |
//! |---|---|
//! | `for k in range_stepped(lo, hi, s) { .. }` | `for t in 0..(hi - lo) / s, rounded up { let k = lo + t * s; .. }` |

use diffkern_ir::{BinaryOp, Id, Lit, Op, Ty};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprRange, parse_quote_spanned};

use super::Lower;
use super::literal::negative;

/// A range and its step.
pub(super) struct Steps<'a> {
    range: ExprRange,
    step: &'a Expr,
    span: Span,
}

/// What a loop in steps runs over.
pub(super) fn of(e: &Expr) -> Option<Steps<'_>> {
    let span = e.span();
    match e {
        Expr::Paren(p) => of(&p.expr),
        Expr::MethodCall(m) if m.method == "step_by" && m.args.len() == 1 => {
            let mut receiver = &*m.receiver;
            while let Expr::Paren(p) = receiver {
                receiver = &p.expr;
            }
            let Expr::Range(range) = receiver else { return None };
            Some(Steps { range: range.clone(), step: &m.args[0], span })
        }
        Expr::Call(c) if c.args.len() == 3 => {
            let Expr::Path(path) = &*c.func else { return None };
            if path.path.segments.last()?.ident != "range_stepped" {
                return None;
            }
            let (lo, hi) = (&c.args[0], &c.args[1]);
            Some(Steps { range: parse_quote_spanned!(span=> (#lo)..(#hi)), step: &c.args[2], span })
        }
        _ => None,
    }
}

impl Lower<'_> {
    /// How many turns there are, where the loop variable starts, and the step.
    pub(super) fn stepped(&mut self, e: &Steps<'_>, default: Ty) -> Option<(Id, Id, Id)> {
        // Numbers alone say nothing of their type, unless the step is negative.
        let default = if negative(e.step) { Ty::I32 } else { default };
        let (lo, hi) = self.range(&Expr::Range(e.range.clone()), default)?;
        let ty = self.ty(lo);
        let step = self.expr(e.step, Some(ty))?;
        self.expect_type(step, Some(ty), e.step.span());
        if self.ty(step) != ty {
            return None;
        }
        if let Some(Lit::Int(0)) = self.consts.get(&step) {
            self.errors.at(e.step, "a loop in steps of 0 does not end");
            return None;
        }
        Some((self.count(lo, hi, step, e.span), lo, step))
    }

    fn count(&mut self, lo: Id, hi: Id, step: Id, span: Span) -> Id {
        let ty = self.ty(lo);
        let number = |s: &Self, id| match s.consts.get(&id) {
            Some(&Lit::Int(k)) => Some(k),
            _ => None,
        };
        if let (Some(lo), Some(hi), Some(step)) = (number(self, lo), number(self, hi), number(self, step)) {
            let (far, step) = if step < 0 { (lo - hi, -step) } else { (hi - lo, step) };
            let turns = if far > 0 { (far + step - 1) / step } else { 0 };
            return self.constant(ty, Lit::Int(turns), span);
        }
        let binary = |s: &mut Self, op, a, b| s.op(ty, Op::Binary(op, a, b), span);
        let (far, step) = match ty {
            Ty::I32 => {
                let zero = self.constant(ty, Lit::Int(0), span);
                let up = self.op(Ty::Bool, Op::Binary(BinaryOp::Gt, step, zero), span);
                let (above, below) = (binary(self, BinaryOp::Sub, hi, lo), binary(self, BinaryOp::Sub, lo, hi));
                let far = self.op(ty, Op::Select(up, above, below), span);
                // Not `abs`: what bounds this on a GPU is followed through sums and maxima.
                let down = binary(self, BinaryOp::Sub, zero, step);
                (binary(self, BinaryOp::Max, far, zero), binary(self, BinaryOp::Max, step, down))
            }
            _ => {
                let larger = binary(self, BinaryOp::Max, lo, hi);
                (binary(self, BinaryOp::Sub, larger, lo), step)
            }
        };
        let (whole, rest) = (binary(self, BinaryOp::Div, far, step), binary(self, BinaryOp::Rem, far, step));
        let one = self.constant(ty, Lit::Int(1), span);
        let last = binary(self, BinaryOp::Min, rest, one);
        binary(self, BinaryOp::Add, whole, last)
    }

    /// The loop variable in a turn.
    pub(super) fn step(&mut self, (from, by): (Id, Id), turn: Id, span: Span) -> Id {
        let ty = self.ty(from);
        let far = self.op(ty, Op::Binary(BinaryOp::Mul, turn, by), span);
        self.op(ty, Op::Binary(BinaryOp::Add, from, far), span)
    }
}
