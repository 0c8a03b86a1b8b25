//! Assignments: to variables, to components, and the two ways to write an array.

use diffkern_ir::{BinaryOp, Id, Lit, Op, Slot, StmtKind, Ty, UnaryOp};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprBinary, ExprIndex, Member};

use super::Lower;
use super::env::{Binding, Var};
use super::literal::is_literal;

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
        if let Some(local) = self.local_named(left) {
            self.assign_local(local, left, right);
            return;
        }
        // As in Rust the right side comes first: a block there may change what the left side names.
        let ty = self.place_type(left);
        let value = match ty {
            None if is_literal(right) => None,
            ty => self.expr(right, ty),
        };
        let (Some(place), Some(value), Some(ty)) = (self.place(left), value, ty) else { return };
        self.expect_type(value, Some(ty), right.span());
        if self.ty(value) != ty {
            return;
        }
        match place {
            Place::Variable(var) => self.env.set(var, value),
            Place::Component(var, k) => self.insert(var, k, value, left.span()),
            Place::Element(array, index, span) => {
                self.arrays[array].store.get_or_insert(span);
                self.emit(StmtKind::Store { array, index, value }, span);
            }
            Place::Local(local, index) => self.write_local(local, index, value, left.span()),
        }
    }

    pub(super) fn compound_assign(&mut self, e: &ExprBinary) {
        let Some(op) = compound(&e.op) else { return };
        if let (Expr::Field(f), BinOp::Add(_) | BinOp::Sub(_)) = (&*e.left, &op)
            && let Expr::Index(element) = &*f.base
            && let Some(array) = self.array_named(&element.expr)
        {
            return self.accumulate_component(array, element, &f.member, &op, e);
        }
        // As in an assignment, the right side first.
        let ty = self.place_type(&e.left);
        let value = match ty.map(|ty| self.other_side(&op, ty)) {
            None if is_literal(&e.right) => None,
            want => self.expr(&e.right, want.flatten()),
        };
        let (Some(place), Some(value), Some(ty)) = (self.place(&e.left), value, ty) else { return };
        if let Place::Element(array, index, span) = place
            && matches!(op, BinOp::Add(_) | BinOp::Sub(_))
        {
            return self.accumulate(array, index, &op, value, (e.right.span(), span));
        }
        let old = match place {
            Place::Variable(var) => self.env.get(var).id(),
            Place::Component(var, k) => self.op(Ty::Real, Op::Extract(self.env.get(var).id(), k), e.left.span()),
            Place::Local(local, index) => self.read_local(local, index, e.left.span()),
            Place::Element(array, index, span) => match self.load(array, index, span) {
                Some(old) => old,
                None => return,
            },
        };
        let Some(value) = self.binary(&op, old, value, e.span()) else { return };
        let value = self.fit(value, Some(ty), e.span());
        self.expect_type(value, Some(ty), e.right.span());
        match place {
            Place::Variable(var) => self.env.set(var, value),
            Place::Component(var, k) => self.insert(var, k, value, e.left.span()),
            Place::Local(local, index) => self.write_local(local, index, value, e.left.span()),
            Place::Element(array, index, span) => {
                self.arrays[array].store.get_or_insert(span);
                self.emit(StmtKind::Store { array, index, value }, span);
            }
        }
    }

    /// `y[i].x += e`, as `y[i] += Vec3::new(e, 0.0, 0.0)`.
    fn accumulate_component(&mut self, array: Slot, e: &ExprIndex, member: &Member, op: &BinOp, whole: &ExprBinary) {
        let Some(value) = self.expr(&whole.right, Some(Ty::Real)) else { return };
        self.expect_type(value, Some(Ty::Real), whole.right.span());
        let Some(Place::Element(_, index, span)) = self.index_place(e) else { return };
        let Some(elem) = self.array_elem(array) else { return };
        let Some(k) = self.field_component(elem, member) else { return };
        if self.ty(value) == Ty::Real {
            let zero = self.constant(Ty::Real, Lit::Real(0.0), span);
            let mut parts = vec![zero; elem.components()];
            parts[usize::from(k)] = value;
            let value = self.op(elem, Op::Compose(parts), span);
            self.accumulate(array, index, op, value, (span, span));
        }
    }

    /// `y[i] += e` and `y[i] -= e` add, from any thread. `spans`: of the value, of the element.
    fn accumulate(&mut self, array: Slot, index: Id, op: &BinOp, mut value: Id, spans: (Span, Span)) {
        let Some(elem) = self.array_elem(array) else { return };
        let (of_value, span) = spans;
        self.expect_type(value, Some(elem), of_value);
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

    /// The type of what stands on the left of an assignment; what is wrong with it [`Lower::place`] says.
    fn place_type(&self, e: &Expr) -> Option<Ty> {
        let named = |e: &Expr| match e {
            Expr::Path(p) => self.env.lookup(&p.path.get_ident()?.to_string()),
            _ => None,
        };
        match e {
            Expr::Paren(p) => self.place_type(&p.expr),
            Expr::Path(_) => match named(e) {
                Some(Binding::Value { id, .. }) => Some(self.ty(id)),
                _ => None,
            },
            Expr::Field(_) => Some(Ty::Real),
            Expr::Index(i) => match (self.local_named(&i.expr), self.array_named(&i.expr)) {
                (Some(local), _) => Some(self.local_elem(local)),
                (None, Some(array)) => self.array_elem(array),
                (None, None) if matches!(named(&i.expr), Some(Binding::Poisoned)) => None,
                (None, None) => Some(Ty::Real),
            },
            _ => None,
        }
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
            other if self.is_poisoned(other) => None,
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
                "a component is assigned in a variable; for an array element build the whole: `y[i] = Vec3::new(..)`, or add \
                 to it: `y[i].x += e`",
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
