//! Expressions. `want` is the type that the surroundings expect; it only decides what a literal is.

use diffkern_ir::{BinaryOp, Block, Builtin, Id, Lit, Op, StmtKind, Ty, UnaryOp};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprUnary, UnOp};

use super::Lower;
use super::env::Binding;
use super::literal::{integer_constant, is_literal, negative, real_constant};
use super::loops::Assigned;

impl Lower<'_> {
    /// A `usize` where a `u32` is expected, or the other way round, is converted: both have 32 bits.
    pub(super) fn expr(&mut self, e: &Expr, want: Option<Ty>) -> Option<Id> {
        let id = self.plain_expr(e, want)?;
        Some(self.fit(id, want, e.span()))
    }

    pub(super) fn fit(&mut self, id: Id, want: Option<Ty>, span: Span) -> Id {
        match (self.ty(id), want) {
            (Ty::U32, Some(Ty::Usize)) => self.cast(id, Ty::Usize, span).unwrap_or(id),
            (Ty::Usize, Some(Ty::U32)) => self.cast(id, Ty::U32, span).unwrap_or(id),
            _ => id,
        }
    }

    /// What `e` is, of its own type.
    pub(super) fn plain_expr(&mut self, e: &Expr, want: Option<Ty>) -> Option<Id> {
        match e {
            Expr::Paren(p) => self.plain_expr(&p.expr, want),
            Expr::Group(g) => self.plain_expr(&g.expr, want),
            Expr::Lit(l) => self.literal(&l.lit, false, want),
            Expr::Path(p) => self.path(p),
            Expr::Unary(u) => self.unary(u, want),
            Expr::Binary(b) => self.binary_expr(b, want),
            Expr::Index(i) => self.index(i),
            Expr::Field(f) => {
                let base = self.expr(&f.base, None)?;
                let k = self.field_component(self.ty(base), &f.member)?;
                Some(self.op(Ty::Real, Op::Extract(base, k), e.span()))
            }
            Expr::Cast(c) => {
                let ty = crate::parse::value_type(&c.ty, self.real.as_ref(), self.errors)?;
                // A number of which nothing says what it is, is an `i32`.
                let alone = is_literal(&c.expr) && self.probe(&c.expr).is_none();
                let value = self.expr(&c.expr, alone.then_some(if ty == Ty::Real { Ty::I32 } else { ty }))?;
                self.cast(value, ty, e.span())
            }
            Expr::If(_) => self.one_value(e, want),
            Expr::Block(b) if b.label.is_none() => self.one_value(e, want),
            Expr::Call(c) => self.call(c, want),
            Expr::MethodCall(m) => self.method(m, want),
            Expr::Reference(r) => {
                self.errors.at(r.and_token, "pass values without `&`");
                None
            }
            Expr::Closure(c) => {
                self.errors.at(c, "closures are not supported; write a `#[diff_fn]` function and call it");
                None
            }
            // One that could be a chain of `if` is one by now; why this is not has been said.
            Expr::Match(_) => None,
            Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => {
                self.errors.at(e, "a loop has no value; assign to a variable that is there before it");
                None
            }
            Expr::Tuple(t) => {
                self.errors.at(t, "a tuple is taken apart where it is made: `let (a, b) = (x, y);`");
                None
            }
            Expr::Macro(m) if m.mac.path.is_ident("comptime") => {
                self.errors.at(&m.mac, "`comptime!` holds one expression here");
                None
            }
            Expr::Macro(m) => {
                self.unknown_macro(&m.mac);
                None
            }
            Expr::Array(_) | Expr::Repeat(_) => {
                self.errors.at(
                    e,
                    "a local array has a name: `let mut a = [..];`, then `a[i]`; of two indices make one, `a[3 * i + j]`",
                );
                None
            }
            Expr::Range(r) => {
                self.errors.at(r, "arrays are read and written element by element, in a loop `for k in lo..hi`");
                None
            }
            // Why there is nothing has been said.
            Expr::Verbatim(nothing) if nothing.is_empty() => None,
            Expr::Unsafe(e) => {
                self.errors.at(e.unsafe_token, "nothing in a kernel is unsafe; remove the word");
                None
            }
            other => {
                self.errors.at(other, "this expression is not part of the kernel language; see its table in the docs");
                None
            }
        }
    }

    /// Of a branch or a block, which may end in a tuple.
    fn one_value(&mut self, e: &Expr, want: Option<Ty>) -> Option<Id> {
        match self.values_of(e, &[want])?.as_slice() {
            [one] => Some(*one),
            _ => {
                self.errors.at(e, "this gives a tuple; take it apart where it is made: `let (a, b) = ..;`");
                None
            }
        }
    }

    pub(super) fn expect_type(&self, id: Id, want: Option<Ty>, span: Span) {
        let found = self.ty(id);
        if let Some(want) = want
            && want != found
        {
            let (want, found) = (self.type_name(want), self.type_name(found));
            self.errors.error(span, format!("expected `{want}`, found `{found}`"));
        }
    }

    pub(super) fn unknown_macro(&self, mac: &syn::Macro) {
        let name = mac.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
        self.errors
            .at(mac, format!("`{name}!` is not part of the kernel language; {}", crate::cube::refused_macro(&name)));
    }

    fn path(&mut self, p: &syn::ExprPath) -> Option<Id> {
        let Some(name) = p.path.get_ident().map(ToString::to_string) else {
            if let Some(value) = real_constant(&p.path) {
                return Some(self.constant(Ty::Real, Lit::Real(value), p.span()));
            }
            if let Some((ty, value)) = integer_constant(&p.path) {
                return Some(self.constant(ty, Lit::Int(value), p.span()));
            }
            let first = p.path.segments.first().map(|s| s.ident.to_string()).unwrap_or_default();
            if self.real.as_ref().is_some_and(|real| *real == first) || matches!(first.as_str(), "f32" | "f64") {
                let real = self.type_name(Ty::Real);
                self.errors.at(
                    p,
                    format!("write a number, as in `{real}::new(1e-6)`; the largest there is is `{real}::max_value()`"),
                );
                return None;
            }
            self.errors
                .at(p, "constants cannot be seen by the macro; pass it as a parameter (`#[comptime]` if it is known)");
            return None;
        };
        match self.env.lookup(&name) {
            Some(Binding::Value { id, .. }) => return Some(id),
            Some(Binding::Array(_) | Binding::Local(_)) => {
                self.errors.at(p, format!("`{name}` is an array; read an element, `{name}[i]`"));
                return None;
            }
            Some(Binding::Poisoned) => return None,
            None if self.errors.is_blamed(&name) => return None,
            None => {}
        }
        let builtin = match name.as_str() {
            "ABSOLUTE_POS" => Builtin::Pos,
            "ABSOLUTE_POS_X" => Builtin::PosX,
            "ABSOLUTE_POS_Y" => Builtin::PosY,
            "ABSOLUTE_POS_Z" => Builtin::PosZ,
            _ => {
                match crate::cube::refused_variable(&name) {
                    Some(way) => self.errors.at(p, format!("`{name}` is not part of the kernel language; {way}")),
                    None => self.errors.at(
                        p,
                        format!(
                            "there is no variable `{name}` here; constants of the surrounding module cannot be seen by \
                             the macro: pass them as parameters"
                        ),
                    ),
                }
                return None;
            }
        };
        if self.func.kind == diffkern_ir::FuncKind::DiffFn {
            self.errors.at(p, "a device function has no position; pass it as a parameter `i: usize`");
            return None;
        }
        let id = self.op(Ty::Usize, Op::Builtin(builtin), p.span());
        if builtin == Builtin::Pos {
            self.positions.insert(id);
        }
        Some(id)
    }

    fn unary(&mut self, u: &ExprUnary, want: Option<Ty>) -> Option<Id> {
        match (&u.op, &*u.expr) {
            (UnOp::Neg(_), Expr::Lit(l)) => self.literal(&l.lit, true, want),
            (UnOp::Neg(_), inner) => {
                let value = self.expr(inner, want)?;
                let ty = self.ty(value);
                if !(ty.is_real() || ty == Ty::I32) {
                    self.errors.at(u, format!("`{}` has no negative", self.type_name(ty)));
                    return None;
                }
                Some(self.op(ty, Op::Unary(UnaryOp::Neg, value), u.span()))
            }
            (UnOp::Not(_), inner) => {
                let value = self.expr(inner, want.or(Some(Ty::Bool)))?;
                let ty = self.ty(value);
                if ty.is_int() {
                    // All bits flipped.
                    let ones = if ty == Ty::I32 { -1 } else { i64::from(u32::MAX) };
                    let ones = self.constant(ty, Lit::Int(ones), u.span());
                    return Some(self.op(ty, Op::Binary(BinaryOp::BitXor, value, ones), u.span()));
                }
                self.expect_type(value, Some(Ty::Bool), inner.span());
                Some(self.op(Ty::Bool, Op::Unary(UnaryOp::Not, value), u.span()))
            }
            (UnOp::Deref(_), inner) if self.is_poisoned(inner) => None,
            (UnOp::Deref(t), _) => {
                self.errors.at(t, "values are not references; remove the `*`");
                None
            }
            _ => {
                self.errors.at(u, "this operator is not part of the kernel language");
                None
            }
        }
    }

    fn binary_expr(&mut self, b: &syn::ExprBinary, want: Option<Ty>) -> Option<Id> {
        let logical = match &b.op {
            BinOp::And(_) => Some(BinaryOp::And),
            BinOp::Or(_) => Some(BinaryOp::Or),
            _ => None,
        };
        if let Some(op) = logical {
            return self.logical(b, op);
        }
        let want = if Self::comparison(&b.op).is_some() { None } else { want };
        let (left, right) = if is_literal(&b.left) && !is_literal(&b.right) {
            let right = self.expr(&b.right, want)?;
            let left = self.expr(&b.left, self.other_side(&b.op, self.ty(right)))?;
            (left, right)
        } else {
            let left_want = match b.op {
                // In `v * s` and `m * v` the result says nothing of the factors.
                BinOp::Mul(_) | BinOp::Div(_) if want.is_some_and(|t| t.is_compound()) => None,
                _ => want,
            };
            let left = self.expr(&b.left, left_want)?;
            let right = self.expr(&b.right, self.other_side(&b.op, self.ty(left)))?;
            (left, right)
        };
        self.binary(&b.op, left, right, b.span())
    }

    /// `a && b`: the right side is only run where the left does not decide, as far as it could be noticed.
    fn logical(&mut self, b: &syn::ExprBinary, op: BinaryOp) -> Option<Id> {
        let left = self.expr(&b.left, Some(Ty::Bool))?;
        self.expect_type(left, Some(Ty::Bool), b.left.span());
        if !Assigned::in_expr(&b.right).is_empty() {
            self.errors.at(&b.right, "this side may not run, so it assigns nothing; do that in an `if`");
            return None;
        }
        let (stmts, right) = self.nested(|s| s.expr(&b.right, Some(Ty::Bool)));
        let right = right?;
        self.expect_type(right, Some(Ty::Bool), b.right.span());
        if stmts.iter().all(|s| matches!(s.kind, StmtKind::Let { .. })) {
            for stmt in stmts {
                self.append(stmt);
            }
            return Some(self.op(Ty::Bool, Op::Binary(op, left, right), b.span()));
        }
        let result = self.func.fresh(Ty::Bool);
        let right = Block { stmts, yields: vec![right] };
        let decided = Block { stmts: Vec::new(), yields: vec![left] };
        let (then, els) = if op == BinaryOp::And { (right, decided) } else { (decided, right) };
        self.emit(StmtKind::If { cond: left, then, els, results: vec![result] }, b.span());
        Some(result)
    }

    /// Both of one type, for ranges and the like.
    pub(super) fn same_type(&mut self, a: &Expr, b: &Expr, default: Option<Ty>) -> Option<(Id, Id)> {
        let (left, right) = if is_literal(a) && !is_literal(b) {
            let right = self.expr(b, None)?;
            (self.expr(a, Some(self.ty(right)))?, right)
        } else if is_literal(a) {
            let ty = if negative(a) || negative(b) { Some(Ty::I32) } else { default };
            (self.expr(a, ty)?, self.expr(b, ty)?)
        } else {
            let left = self.expr(a, None)?;
            let right = self.expr(b, Some(self.ty(left)))?;
            (left, right)
        };
        self.expect_type(right, Some(self.ty(left)), b.span());
        (self.ty(left) == self.ty(right)).then_some((left, right))
    }
}
