//! Assignments: to variables, to components, and the two ways to write an array.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprIndex};

use super::Lower;
use super::env::{Binding, Var};
use crate::effects::changed;
use crate::ir::{BinaryOp, Id, Lit, Op, Slot, StmtKind, Ty, UnaryOp};

/// The operator inside `+=` and its like.
pub fn compound(op: &BinOp) -> Option<BinOp> {
    Some(match op {
        BinOp::AddAssign(_) => BinOp::Add(Default::default()),
        BinOp::SubAssign(_) => BinOp::Sub(Default::default()),
        BinOp::MulAssign(_) => BinOp::Mul(Default::default()),
        BinOp::DivAssign(_) => BinOp::Div(Default::default()),
        BinOp::RemAssign(_) => BinOp::Rem(Default::default()),
        BinOp::BitAndAssign(_) => BinOp::BitAnd(Default::default()),
        BinOp::BitOrAssign(_) => BinOp::BitOr(Default::default()),
        BinOp::BitXorAssign(_) => BinOp::BitXor(Default::default()),
        BinOp::ShlAssign(_) => BinOp::Shl(Default::default()),
        BinOp::ShrAssign(_) => BinOp::Shr(Default::default()),
        _ => return None,
    })
}

/// What stands on the left of an assignment.
enum Place {
    Variable(Var),
    /// `v.x`, `m[(r, c)]` of a variable.
    Component(Var, u8),
    Element(Slot, Id, Span),
    /// Of a local array.
    Local(usize, Id),
}

impl Lower<'_> {
    pub(super) fn assign(&mut self, left: &Expr, right: &Expr) {
        if let Expr::Tuple(t) = left {
            self.errors.at(t, "the right side is a tuple of as many values here; assign the results of a call one by one, from `let (a, b): (..) = ..;`");
            return;
        }
        // As in Rust the right side comes first, which shows only where it changes what the index is made of.
        if let Expr::Index(index) = left
            && !changed([right]).is_empty()
        {
            let elem = match (self.array_named(&index.expr), self.local_named(&index.expr)) {
                (Some(array), _) => self.array_elem(array),
                (None, local) => local.map(|local| self.local_elem(local)),
            };
            if elem.is_some() {
                let value = self.expr(right, elem);
                if let (Some(value), Some(place)) = (value, self.place(left)) {
                    self.write(&place, value, left, right);
                }
                return;
            }
        }
        match self.place(left) {
            Some(Place::Variable(var)) => {
                let Binding::Value { id: old, .. } = self.env.get(var) else { return };
                let ty = self.ty(old);
                if let Some(id) = self.expr(right, Some(ty)) {
                    self.expect_type(id, Some(ty), right.span());
                    if self.ty(id) == ty {
                        self.env.set(var, id);
                    }
                }
            }
            Some(Place::Component(var, k)) => {
                if let Some(id) = self.expr(right, Some(Ty::Real)) {
                    self.expect_type(id, Some(Ty::Real), right.span());
                    self.insert(var, k, id, left.span());
                }
            }
            Some(place @ Place::Element(array, ..)) => {
                let Some(elem) = self.array_elem(array) else { return };
                let Some(value) = self.expr(right, Some(elem)) else { return };
                self.write(&place, value, left, right);
            }
            Some(place @ Place::Local(local, _)) => {
                if let Some(value) = self.expr(right, Some(self.local_elem(local))) {
                    self.write(&place, value, left, right);
                }
            }
            None => {
                self.expr(right, None);
            }
        }
    }

    /// Stores to an element.
    fn write(&mut self, place: &Place, value: Id, left: &Expr, right: &Expr) {
        match *place {
            Place::Element(array, index, span) => {
                self.expect_type(value, self.array_elem(array), right.span());
                self.arrays[array].store.get_or_insert(span);
                self.emit(StmtKind::Store { array, index, value }, span);
            }
            Place::Local(local, index) => {
                self.expect_type(value, Some(self.local_elem(local)), right.span());
                self.write_local(local, index, value, left.span());
            }
            Place::Variable(_) | Place::Component(..) => {}
        }
    }

    pub(super) fn compound_assign(&mut self, e: &ExprBinary) {
        let Some(op) = compound(&e.op) else { return };
        match self.place(&e.left) {
            Some(Place::Variable(var)) => {
                let Binding::Value { id: old, .. } = self.env.get(var) else { return };
                let want = self.other_side(&op, self.ty(old));
                let Some(value) = self.expr(&e.right, want) else { return };
                // As in Rust the right side comes first: a block there may have changed the variable.
                let old = self.env.get(var).id();
                if let Some(id) = self.binary(&op, old, value, e.span()) {
                    self.expect_type(id, Some(self.ty(old)), e.right.span());
                    self.env.set(var, id);
                }
            }
            Some(Place::Component(var, k)) => {
                let Binding::Value { id: whole, .. } = self.env.get(var) else { return };
                let mut old = self.op(Ty::Real, Op::Extract(whole, k), e.left.span());
                let Some(value) = self.expr(&e.right, Some(Ty::Real)) else { return };
                let now = self.env.get(var).id();
                if now != whole {
                    old = self.op(Ty::Real, Op::Extract(now, k), e.left.span());
                }
                if let Some(id) = self.binary(&op, old, value, e.span()) {
                    self.expect_type(id, Some(Ty::Real), e.right.span());
                    self.insert(var, k, id, e.left.span());
                }
            }
            Some(Place::Local(local, index)) => {
                let elem = self.local_elem(local);
                let Some(value) = self.expr(&e.right, self.other_side(&op, elem)) else { return };
                // As for a variable, after the right side.
                let old = self.read_local(local, index, e.left.span());
                if let Some(value) = self.binary(&op, old, value, e.span()) {
                    self.expect_type(value, Some(elem), e.right.span());
                    self.write_local(local, index, value, e.left.span());
                }
            }
            Some(Place::Element(array, index, span)) => self.accumulate(array, index, &op, e, span),
            None => {
                self.expr(&e.right, None);
            }
        }
    }

    /// `y[i] += e` adds, from any thread; the other operators read the element and store it.
    fn accumulate(&mut self, array: Slot, index: Id, op: &BinOp, e: &ExprBinary, span: Span) {
        let Some(elem) = self.array_elem(array) else { return };
        if !matches!(op, BinOp::Add(_) | BinOp::Sub(_)) {
            let Some(old) = self.load(array, index, span) else { return };
            let want = self.other_side(op, elem);
            let Some(value) = self.expr(&e.right, want) else { return };
            if let Some(value) = self.binary(op, old, value, e.span()) {
                self.expect_type(value, Some(elem), e.right.span());
                self.arrays[array].store.get_or_insert(span);
                self.emit(StmtKind::Store { array, index, value }, span);
            }
            return;
        }
        let Some(mut value) = self.expr(&e.right, Some(elem)) else { return };
        self.expect_type(value, Some(elem), e.right.span());
        if matches!(op, BinOp::Sub(_)) {
            value = match elem {
                Ty::U32 | Ty::I32 => {
                    let zero = self.constant(elem, Lit::Int(0), span);
                    self.op(elem, Op::Binary(BinaryOp::Sub, zero, value), span)
                }
                _ => self.op(elem, Op::Unary(UnaryOp::Neg, value), span),
            };
        }
        self.arrays[array].add.get_or_insert(span);
        self.emit(StmtKind::Add { array, index, value }, span);
    }

    fn insert(&mut self, var: Var, k: u8, value: Id, span: Span) {
        if let Binding::Value { id: whole, .. } = self.env.get(var) {
            let id = self.op(self.ty(whole), Op::Insert(whole, k, value), span);
            self.env.set(var, id);
        }
    }

    fn place(&mut self, e: &Expr) -> Option<Place> {
        match e {
            Expr::Paren(p) => self.place(&p.expr),
            Expr::Path(p) => {
                let name = p.path.get_ident()?.to_string();
                Some(Place::Variable(self.variable(&name, e)?))
            }
            Expr::Field(f) => {
                let (var, ty) = self.component_base(&f.base, e)?;
                Some(Place::Component(var, self.field_component(ty, &f.member)?))
            }
            Expr::Index(i) => self.index_place(i),
            other => {
                self.errors.at(other, "assign to a variable, a component of one, or an array element");
                None
            }
        }
    }

    fn index_place(&mut self, e: &ExprIndex) -> Option<Place> {
        if let Some(local) = self.local_named(&e.expr) {
            return Some(Place::Local(local, self.local_place(local, e)?));
        }
        if let Some(array) = self.array_named(&e.expr) {
            let index = self.array_index(array, &e.index)?;
            if !self.arrays[array].mutable {
                self.errors.at(
                    &e.expr,
                    format!("`{0}` is read-only here; declare it `{0}: &mut Array<..>`", self.func.params[array].name),
                );
                return None;
            }
            return Some(Place::Element(array, index, e.span()));
        }
        let (var, ty) = self.component_base(&e.expr, e)?;
        Some(Place::Component(var, self.index_component(ty, &e.index)?))
    }

    fn component_base(&mut self, base: &Expr, whole: impl quote::ToTokens) -> Option<(Var, Ty)> {
        let name = match base {
            Expr::Path(p) => p.path.get_ident().map(ToString::to_string),
            _ => None,
        };
        let Some(name) = name else {
            self.errors.at(
                whole,
                "a component is assigned in a variable; for an array element build the whole: `y[i] = Vec3::new(..)`",
            );
            return None;
        };
        let var = self.variable(&name, base)?;
        Some((var, self.ty(self.env.get(var).id())))
    }

    /// A variable that may be assigned.
    fn variable(&mut self, name: &str, at: impl quote::ToTokens) -> Option<Var> {
        let Some(var) = self.env.find(name) else {
            self.errors.at(at, format!("there is no variable `{name}` here"));
            return None;
        };
        match self.env.get(var) {
            Binding::Value { mutable: true, .. } => Some(var),
            Binding::Value { .. } => {
                self.errors.at(at, format!("`{name}` does not change; declare it with `let mut {name}`"));
                None
            }
            Binding::Array(_) | Binding::Local(_) => {
                self.errors.at(at, format!("`{name}` is an array; assign to an element, `{name}[i] = ..`"));
                None
            }
            Binding::Poisoned => None,
        }
    }
}

impl Lower<'_> {
    /// What type a literal right of `op` has when the left has type `ty`.
    pub(super) fn other_side(&self, op: &BinOp, ty: Ty) -> Option<Ty> {
        match (op, ty) {
            (BinOp::Mul(_) | BinOp::Div(_), Ty::Vec(_) | Ty::Mat(_) | Ty::Quat) => Some(Ty::Real),
            _ => Some(ty),
        }
    }

    /// Whether `op` gives a comparison result.
    pub(super) fn comparison(op: &BinOp) -> Option<BinaryOp> {
        Some(match op {
            BinOp::Eq(_) => BinaryOp::Eq,
            BinOp::Ne(_) => BinaryOp::Ne,
            BinOp::Lt(_) => BinaryOp::Lt,
            BinOp::Le(_) => BinaryOp::Le,
            BinOp::Gt(_) => BinaryOp::Gt,
            BinOp::Ge(_) => BinaryOp::Ge,
            _ => return None,
        })
    }
}
