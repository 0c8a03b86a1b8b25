//! Elements of arrays, components of vectors and matrices.

use diffkern_ir::{Id, Lit, Op, ParamKind, Slot, StmtKind, Ty};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprIndex, Member};

use super::Lower;
use super::env::Binding;

impl Lower<'_> {
    /// The array parameter that an expression names.
    pub(super) fn array_named(&self, e: &Expr) -> Option<Slot> {
        match e {
            Expr::Paren(p) => self.array_named(&p.expr),
            Expr::Path(p) => match self.env.lookup(&p.path.get_ident()?.to_string()) {
                Some(Binding::Array(slot)) => Some(slot),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn array_elem(&self, array: Slot) -> Option<Ty> {
        match self.func.params[array].kind {
            ParamKind::Array { elem, .. } => Some(elem),
            ParamKind::Scalar { .. } => None,
        }
    }

    pub(super) fn array_index(&mut self, array: Slot, index: &Expr) -> Option<Id> {
        if self.arrays[array].atomic {
            self.errors.at(
                index,
                "an atomic is changed by `a[i].fetch_add(v)` and read by a later kernel, that takes it as `&Array<u32>`",
            );
            return None;
        }
        self.element_index(array, index)
    }

    pub(super) fn element_index(&mut self, array: Slot, index: &Expr) -> Option<Id> {
        let id = self.plain_expr(index, Some(Ty::Usize))?;
        match self.ty(id) {
            Ty::Usize | Ty::U32 => {}
            Ty::I32 => {
                self.errors.at(index, "an index is not negative; make it `usize` with `as usize` where that is sure");
                return None;
            }
            other => {
                self.errors.at(index, {
                    let way = if other == Ty::Real { "; of a real take `usize::cast_from(x)`" } else { "" };
                    format!("an index is a `usize` or `u32`, not `{}`{way}", self.type_name(other))
                });
                return None;
            }
        }
        if !self.positions.contains(&id) {
            self.arrays[array].not_owned = true;
        }
        Some(id)
    }

    pub(super) fn load(&mut self, array: Slot, index: Id, span: Span) -> Option<Id> {
        self.arrays[array].read.get_or_insert(span);
        let id = self.func.fresh(self.array_elem(array)?);
        if !self.arrays[array].mutable {
            self.equals.note_load(id, array, index);
        }
        self.emit(StmtKind::Load { id, array, index }, span);
        Some(id)
    }

    pub(super) fn index(&mut self, e: &ExprIndex) -> Option<Id> {
        if let Some(local) = self.local_named(&e.expr) {
            let index = self.local_index(local, &e.index)?;
            return Some(self.read_local(local, index, e.span()));
        }
        if let Some(array) = self.array_named(&e.expr) {
            let index = self.array_index(array, &e.index)?;
            return self.load(array, index, e.span());
        }
        let base = self.expr(&e.expr, None)?;
        let k = self.index_component(self.ty(base), &e.index)?;
        Some(self.op(Ty::Real, Op::Extract(base, k), e.span()))
    }

    pub(super) fn field_component(&self, ty: Ty, member: &Member) -> Option<u8> {
        let found = match (ty, member) {
            (Ty::Vec(n), Member::Named(name)) => {
                ["x", "y", "z", "w"][..n as usize].iter().position(|f| name == f).map(|k| k as u8)
            }
            (Ty::Quat, Member::Named(name)) => ["w", "x", "y", "z"].iter().position(|f| name == f).map(|k| k as u8),
            _ => None,
        };
        if found.is_none() {
            let ways = match ty {
                Ty::Vec(2) => "use `.x` or `.y`",
                Ty::Vec(3) => "use `.x`, `.y` or `.z`",
                Ty::Vec(_) | Ty::Quat => "use `.x`, `.y`, `.z` or `.w`",
                Ty::Mat(_) => "use `m[(row, column)]`",
                _ => "it has no components",
            };
            self.errors.at(member, format!("`{}` has no such component; {ways}", self.type_name(ty)));
        }
        found
    }

    pub(super) fn index_component(&mut self, ty: Ty, index: &Expr) -> Option<u8> {
        match (ty, index) {
            (Ty::Vec(n), index) => self.constant_index(index, n),
            (Ty::Mat(n), Expr::Tuple(t)) if t.elems.len() == 2 => {
                let r = self.constant_index(&t.elems[0], n)?;
                let c = self.constant_index(&t.elems[1], n)?;
                Some(r * n + c)
            }
            (Ty::Mat(_), other) => {
                self.errors.at(other, "index a matrix by `m[(row, column)]`");
                None
            }
            (other, index) => {
                let way = if other == Ty::Real { "; components that belong together are a `Vec2/3/4<F>`" } else { "" };
                self.errors.at(index, format!("`{}` cannot be indexed{way}", self.type_name(other)));
                None
            }
        }
    }

    pub(super) fn constant_index(&mut self, index: &Expr, bound: u8) -> Option<u8> {
        let id = self.expr(index, Some(Ty::Usize))?;
        match self.consts.get(&id) {
            Some(&Lit::Int(k)) if (0..i64::from(bound)).contains(&k) => Some(k as u8),
            Some(&Lit::Int(k)) => {
                self.errors.at(index, format!("component {k} is out of range: there are {bound}"));
                None
            }
            _ => {
                self.errors
                    .at(index, "a component index is a constant; loop with `#[unroll] for k in 0..3` to make it one");
                None
            }
        }
    }
}
