//! Operators and conversions: which IR operation a source operator is, by the types of its operands.

use std::collections::HashMap;

use diffkern_ir::{BinaryOp, Id, Lit, Op, Ty};
use proc_macro2::Span;
use syn::BinOp;

use super::Lower;

/// The value of an integer operation on constants; reals are left to the simplifier.
pub(super) fn fold(op: &Op, consts: &HashMap<Id, Lit>) -> Option<Lit> {
    let Op::Binary(op, a, b) = op else { return None };
    let (Lit::Int(a), Lit::Int(b)) = (*consts.get(a)?, *consts.get(b)?) else { return None };
    let value = match op {
        BinaryOp::Add => a.checked_add(b)?,
        BinaryOp::Sub => a.checked_sub(b)?,
        BinaryOp::Mul => a.checked_mul(b)?,
        BinaryOp::Div if b != 0 => a / b,
        BinaryOp::Rem if b != 0 => a % b,
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        _ => return None,
    };
    // What would wrap is left to run time, where it wraps as the type says.
    (0..=i64::from(i32::MAX)).contains(&value).then_some(Lit::Int(value))
}

impl Lower<'_> {
    pub(super) fn binary(&mut self, op: &BinOp, a: Id, b: Id, span: Span) -> Option<Id> {
        let (a, b) = self.alike(op, a, b, span);
        let (ta, tb) = (self.ty(a), self.ty(b));
        if let Some(cmp) = Self::comparison(op) {
            let scalar = matches!(ta, Ty::Real | Ty::U32 | Ty::I32 | Ty::Usize)
                || ta == Ty::Bool && matches!(cmp, BinaryOp::Eq | BinaryOp::Ne);
            if ta != tb || !scalar {
                return self.mismatch("compare", ta, tb, span);
            }
            return Some(self.op(Ty::Bool, Op::Binary(cmp, a, b), span));
        }
        self.refuse_what_is_no_number(op, a, b, span)?;
        match op {
            BinOp::Add(_) | BinOp::Sub(_) => {
                if ta != tb || ta == Ty::Bool {
                    return self.mismatch("add or subtract", ta, tb, span);
                }
                let op = if matches!(op, BinOp::Add(_)) { BinaryOp::Add } else { BinaryOp::Sub };
                Some(self.op(ta, Op::Binary(op, a, b), span))
            }
            BinOp::Mul(_) => self.multiply(a, b, span),
            BinOp::Div(_) => match (ta, tb) {
                (Ty::Real, Ty::Real) => Some(self.op(ta, Op::Binary(BinaryOp::Div, a, b), span)),
                _ if ta == tb && ta.is_int() => Some(self.op(ta, Op::Binary(BinaryOp::Div, a, b), span)),
                (Ty::Vec(_) | Ty::Mat(_) | Ty::Quat, Ty::Real) => {
                    let one = self.constant(Ty::Real, Lit::Real(1.0), span);
                    let recip = self.op(Ty::Real, Op::Binary(BinaryOp::Div, one, b), span);
                    Some(self.op(ta, Op::Binary(BinaryOp::Scale, a, recip), span))
                }
                _ => self.mismatch("divide", ta, tb, span),
            },
            BinOp::Rem(_) | BinOp::BitAnd(_) | BinOp::BitOr(_) | BinOp::BitXor(_) | BinOp::Shl(_) | BinOp::Shr(_) => {
                let op = match op {
                    BinOp::Rem(_) => BinaryOp::Rem,
                    BinOp::BitAnd(_) if ta == Ty::Bool => BinaryOp::And,
                    BinOp::BitOr(_) if ta == Ty::Bool => BinaryOp::Or,
                    BinOp::BitXor(_) if ta == Ty::Bool => BinaryOp::Ne,
                    BinOp::BitAnd(_) => BinaryOp::BitAnd,
                    BinOp::BitOr(_) => BinaryOp::BitOr,
                    BinOp::BitXor(_) => BinaryOp::BitXor,
                    BinOp::Shl(_) => BinaryOp::Shl,
                    _ => BinaryOp::Shr,
                };
                let bools = ta == Ty::Bool && matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Ne);
                if ta == Ty::Real && op == BinaryOp::Rem {
                    self.errors.error(
                        span,
                        "`%` is of integers; of reals write `x - y * (x / y).floor()`, which is never negative, or \
                         `x - y * (x / y).trunc()`, which is Rust's",
                    );
                    return None;
                }
                if ta != tb || !(ta.is_int() || bools) {
                    return self.mismatch("apply this integer operator to", ta, tb, span);
                }
                Some(self.op(ta, Op::Binary(op, a, b), span))
            }
            _ => {
                self.errors.error(span, "this operator is not part of the kernel language");
                None
            }
        }
    }

    /// `0.0 / 0.0` and its like, of numbers as they are written.
    fn refuse_what_is_no_number(&self, op: &BinOp, a: Id, b: Id, span: Span) -> Option<()> {
        let (Some(&Lit::Real(a)), Some(&Lit::Real(b))) = (self.consts.get(&a), self.consts.get(&b)) else {
            return Some(());
        };
        let value = match op {
            BinOp::Add(_) => a + b,
            BinOp::Sub(_) => a - b,
            BinOp::Mul(_) => a * b,
            BinOp::Div(_) => a / b,
            _ => return Some(()),
        };
        if value.is_finite() {
            return Some(());
        }
        let what = if value.is_nan() { "NaN" } else { "infinite" };
        self.errors.error(span, format!("this is {what} whatever the arguments are; write a number"));
        None
    }

    /// Of a `usize` and a `u32` both as `usize`; a shift as far as any integer says.
    fn alike(&mut self, op: &BinOp, a: Id, b: Id, span: Span) -> (Id, Id) {
        let (ta, tb) = (self.ty(a), self.ty(b));
        let shift = matches!(op, BinOp::Shl(_) | BinOp::Shr(_));
        if shift && ta.is_int() && tb.is_int() {
            return (a, self.cast(b, ta, span).unwrap_or(b));
        }
        match (ta, tb) {
            (Ty::Usize, Ty::U32) | (Ty::U32, Ty::Usize) => {
                (self.fit(a, Some(Ty::Usize), span), self.fit(b, Some(Ty::Usize), span))
            }
            _ => (a, b),
        }
    }

    fn multiply(&mut self, a: Id, b: Id, span: Span) -> Option<Id> {
        let (ta, tb) = (self.ty(a), self.ty(b));
        let (ty, op, a, b) = match (ta, tb) {
            (Ty::Real, Ty::Real) => (ta, BinaryOp::Mul, a, b),
            _ if ta == tb && ta.is_int() => (ta, BinaryOp::Mul, a, b),
            (Ty::Vec(_) | Ty::Mat(_) | Ty::Quat, Ty::Real) => (ta, BinaryOp::Scale, a, b),
            (Ty::Real, Ty::Vec(_) | Ty::Mat(_) | Ty::Quat) => (tb, BinaryOp::Scale, b, a),
            (Ty::Mat(n), Ty::Vec(m)) if n == m => (tb, BinaryOp::MatVec, a, b),
            (Ty::Mat(n), Ty::Mat(m)) if n == m => (ta, BinaryOp::MatMul, a, b),
            (Ty::Quat, Ty::Quat) => return Some(self.quat_product(a, b, span)),
            (Ty::Quat, Ty::Vec(3)) => {
                self.errors.error(span, "write `q.rotate(v)` to turn a vector by a unit quaternion");
                return None;
            }
            (Ty::Vec(n), Ty::Vec(m)) if n == m => {
                self.errors
                    .error(span, "of two vectors say which product: `a.dot(b)`, `a.mul_elem(b)` or `a.cross(b)`");
                return None;
            }
            _ => return self.mismatch("multiply", ta, tb, span),
        };
        Some(self.op(ty, Op::Binary(op, a, b), span))
    }

    pub(super) fn mismatch(&self, what: &str, a: Ty, b: Ty, span: Span) -> Option<Id> {
        let (a, b) = (self.type_name(a), self.type_name(b));
        self.errors.error(
            span,
            format!("cannot {what} `{a}` and `{b}`; convert one, as in `F::cast_from(i)` or `i as usize`"),
        );
        None
    }

    pub(super) fn cast(&mut self, value: Id, to: Ty, span: Span) -> Option<Id> {
        let from = self.ty(value);
        if from == to {
            return Some(value);
        }
        let scalar = |t: Ty| t.is_int() || t == Ty::Real;
        let ok = scalar(to) && (scalar(from) || from == Ty::Bool);
        if !ok {
            let (from, to) = (self.type_name(from), self.type_name(to));
            self.errors.error(span, format!("`{from}` cannot be converted to `{to}`"));
            return None;
        }
        if let (Some(&Lit::Int(k)), true) = (self.consts.get(&value), to.is_int()) {
            let fits = if to == Ty::I32 { i32::try_from(k).is_ok() } else { u32::try_from(k).is_ok() };
            if fits {
                return Some(self.constant(to, Lit::Int(k), span));
            }
        }
        let id = self.op(to, Op::Cast(value), span);
        if from != Ty::I32 && from.is_int() && to != Ty::I32 && to.is_int() {
            // The same number.
            self.equals.same(id, value);
            if self.positions.contains(&value) {
                self.positions.insert(id);
            }
        }
        Some(id)
    }
}
