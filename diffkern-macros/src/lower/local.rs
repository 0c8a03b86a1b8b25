//! Local arrays of fixed length: a variable per element.
//!
//! | source | IR |
//! |---|---|
//! | `let mut a = Array::<F>::new(3);` | `a0 = 0, a1 = 0, a2 = 0` |
//! | `a[1] = x;` | `a1 = x` |
//! | `a[i] = x;` | `a0 = select(i == 0, x, a0), a1 = select(i == 1, x, a1), ..` |
//! | `a[i]` | `select(i == 0, a0, select(i == 1, a1, a2))` |
//! | `let b = a;`, `b = a;` | `b0 = a0, b1 = a1, b2 = a2` |
//!
//! So an array is carried by branches and loops, kept and differentiated element by element, like any variables. An
//! index out of range reads the last element and writes none, and is a fault on the CPU.

use diffkern_ir::{BinaryOp, FaultKind, Id, Lit, Op, StmtKind, Ty};
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, ExprIndex, Type};

use super::Lower;
use super::env::{Binding, Var};
use crate::parse::value_type;

/// Most scalars of a local array: each access touches all of them.
const MOST: usize = 64;

/// A local array.
pub(super) struct Local {
    elem: Ty,
    mutable: bool,
    /// By element.
    pub vars: Vec<Var>,
}

/// What makes a local array.
enum Maker<'a> {
    /// `Array::<T>::new(n)`
    Zeros(Option<&'a Type>, &'a Expr),
    /// `[value; n]`
    Repeat(&'a Expr, &'a Expr),
    /// `[a, b, c]`
    List(Vec<&'a Expr>),
}

fn maker(e: &Expr) -> Option<Maker<'_>> {
    match e {
        Expr::Paren(p) => maker(&p.expr),
        Expr::Repeat(r) => Some(Maker::Repeat(&r.expr, &r.len)),
        Expr::Array(a) => Some(Maker::List(a.elems.iter().collect())),
        Expr::Call(c) => {
            let Expr::Path(path) = &*c.func else { return None };
            let segments: Vec<_> = path.path.segments.iter().collect();
            match segments.as_slice() {
                [owner, new] if owner.ident == "Array" && new.ident == "new" && c.args.len() == 1 => {
                    let elem = match &owner.arguments {
                        syn::PathArguments::AngleBracketed(args) => args.args.iter().find_map(|arg| match arg {
                            syn::GenericArgument::Type(t) => Some(t),
                            _ => None,
                        }),
                        _ => None,
                    };
                    Some(Maker::Zeros(elem, &c.args[0]))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether an expression makes a local array.
pub(super) fn makes(e: &Expr) -> bool {
    maker(e).is_some()
}

impl Lower<'_> {
    /// `let name = init`, where `init` makes an array; `annotation` is `[T; n]` if there is one, `guessed` what the use of
    /// the elements says.
    pub(super) fn local_array(
        &mut self,
        name: &syn::PatIdent,
        annotation: Option<&Type>,
        guessed: Option<Ty>,
        init: &Expr,
    ) {
        match self.elements(annotation, guessed, init) {
            Some((elem, values)) => {
                let vars = values.into_iter().map(|id| self.flag(id)).collect();
                self.locals.push(Local { elem, mutable: name.mutability.is_some(), vars });
                self.env.bind(&name.ident.to_string(), Binding::Local(self.locals.len() - 1));
            }
            None => self.env.poison(&name.ident.to_string()),
        }
    }

    fn elements(&mut self, annotation: Option<&Type>, guessed: Option<Ty>, init: &Expr) -> Option<(Ty, Vec<Id>)> {
        let want = match annotation {
            Some(Type::Array(array)) => Some(value_type(&array.elem, self.real.as_ref(), self.errors)?),
            Some(other) if crate::parse::argument(other, "Array").is_some() => {
                let elem = crate::parse::argument(other, "Array")?;
                Some(value_type(elem, self.real.as_ref(), self.errors)?)
            }
            Some(other) => {
                self.errors.at(other, "the type of a local array is `[T; n]`, or leave it away");
                return None;
            }
            None => guessed,
        };
        let (elem, values) = match self.local_named(init) {
            Some(local) => (self.locals[local].elem, self.local_values(local)),
            None => self.made(init, want)?,
        };
        if let Some(want) = want
            && elem != want
        {
            self.errors
                .at(init, format!("expected elements of `{}`, found `{}`", self.type_name(want), self.type_name(elem)));
            return None;
        }
        if let Some(Type::Array(array)) = annotation
            && self.constant_len(&array.len, elem)? != values.len()
        {
            self.errors.at(&array.len, format!("the array has {} elements", values.len()));
            return None;
        }
        Some((elem, values))
    }

    /// What the elements are now.
    fn local_values(&self, local: usize) -> Vec<Id> {
        self.locals[local].vars.iter().map(|v| self.env.get(*v).id()).collect()
    }

    /// `b = a;`, `b = [x, y, z];` of whole local arrays.
    pub(super) fn assign_local(&mut self, local: usize, left: &Expr, right: &Expr) {
        let (elem, n) = (self.locals[local].elem, self.locals[local].vars.len());
        if !self.locals[local].mutable {
            self.does_not_change(left);
            return;
        }
        let values = match self.local_named(right) {
            Some(other) => Some((self.locals[other].elem, self.local_values(other))),
            None if makes(right) => self.made(right, Some(elem)),
            None => {
                self.errors.at(right, "a local array is assigned another of its kind, or `[x; 4]`, or `[x, y, z]`");
                None
            }
        };
        let Some((found, values)) = values else { return };
        if found != elem || values.len() != n {
            let shown = |ty, n| format!("`[{}; {n}]`", self.type_name(ty));
            self.errors.at(right, format!("expected {}, found {}", shown(elem, n), shown(found, values.len())));
            return;
        }
        for (var, value) in self.locals[local].vars.clone().into_iter().zip(values) {
            self.env.set(var, value);
        }
    }

    /// Elements as they are written, of type `want` if that is known.
    fn made(&mut self, init: &Expr, want: Option<Ty>) -> Option<(Ty, Vec<Id>)> {
        Some(match maker(init)? {
            Maker::Zeros(elem, len) => {
                let elem = match elem {
                    Some(elem) => value_type(elem, self.real.as_ref(), self.errors)?,
                    None => want.or_else(|| {
                        self.errors.at(init, "say what it holds: `Array::<F>::new(4)`");
                        None
                    })?,
                };
                let n = self.constant_len(len, elem)?;
                let zero = self.zero(elem, init.span());
                (elem, vec![zero; n])
            }
            Maker::Repeat(value, len) => {
                let id = self.expr(value, want)?;
                let elem = self.ty(id);
                let n = self.constant_len(len, elem)?;
                (elem, vec![id; n])
            }
            Maker::List(parts) => {
                let mut ids: Vec<Id> = Vec::new();
                for part in parts {
                    let want = ids.first().map(|id| self.ty(*id)).or(want);
                    let id = self.expr(part, want)?;
                    self.expect_type(id, want, part.span());
                    ids.push(id);
                }
                let Some(elem) = ids.first().map(|id| self.ty(*id)) else {
                    self.errors.at(init, "an array has an element");
                    return None;
                };
                self.fits(ids.len(), elem, init.span())?;
                (elem, ids)
            }
        })
    }

    fn constant_len(&mut self, len: &Expr, elem: Ty) -> Option<usize> {
        let id = self.expr(len, Some(Ty::Usize))?;
        match self.consts.get(&id) {
            Some(&Lit::Int(n)) if n > 0 => {
                let n = usize::try_from(n).unwrap_or(usize::MAX);
                self.fits(n, elem, len.span())?;
                Some(n)
            }
            _ => {
                self.errors.at(
                    len,
                    "the length of a local array is a number above zero, that the macro sees; of a parameter take the \
                     largest that it may be, and loop up to it",
                );
                None
            }
        }
    }

    fn fits(&self, n: usize, elem: Ty, span: Span) -> Option<()> {
        if n.saturating_mul(elem.components()) <= MOST {
            return Some(());
        }
        let name = self.type_name(elem);
        self.errors.error(
            span,
            format!(
                "a local array has at most {MOST} scalars, as they live in registers, and this one {n} elements of \
                 `{name}`; pass a larger one as a parameter, with a part for each thread"
            ),
        );
        None
    }

    pub(super) fn zero(&mut self, ty: Ty, span: Span) -> Id {
        match ty {
            Ty::Bool => self.constant(ty, Lit::Bool(false), span),
            ty if ty.is_int() => self.constant(ty, Lit::Int(0), span),
            ty => {
                let zero = self.constant(Ty::Real, Lit::Real(0.0), span);
                if ty == Ty::Real { zero } else { self.op(ty, Op::Compose(vec![zero; ty.components()]), span) }
            }
        }
    }

    /// The local array that an expression names.
    pub(super) fn local_named(&self, e: &Expr) -> Option<usize> {
        match e {
            Expr::Paren(p) => self.local_named(&p.expr),
            Expr::Path(p) => match self.env.lookup(&p.path.get_ident()?.to_string()) {
                Some(Binding::Local(local)) => Some(local),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn local_len(&mut self, local: usize, span: Span) -> Id {
        let n = self.locals[local].vars.len() as i64;
        self.constant(Ty::Usize, Lit::Int(n), span)
    }

    pub(super) fn local_elem(&self, local: usize) -> Ty {
        self.locals[local].elem
    }

    /// The index, and a fault where it is out of range.
    pub(super) fn local_index(&mut self, local: usize, index: &Expr) -> Option<Id> {
        let id = self.plain_expr(index, Some(Ty::Usize))?;
        let n = self.locals[local].vars.len() as i64;
        let ty = self.ty(id);
        if !matches!(ty, Ty::Usize | Ty::U32) {
            let name = self.type_name(ty);
            self.errors.at(index, format!("an index is a `usize` or `u32`, not `{name}`"));
            return None;
        }
        match self.consts.get(&id) {
            Some(&Lit::Int(k)) if k < n => {}
            Some(&Lit::Int(k)) => {
                self.errors.at(index, format!("index {k} is out of range: there are {n}"));
                return None;
            }
            _ if self.below.get(&id).is_some_and(|most| *most <= n) => {}
            _ => {
                let end = self.constant(ty, Lit::Int(n), index.span());
                let cond = self.op(Ty::Bool, Op::Binary(BinaryOp::Ge, id, end), index.span());
                self.emit(StmtKind::Fault { cond, what: FaultKind::Index(id, n as u32) }, index.span());
            }
        }
        Some(id)
    }

    pub(super) fn read_local(&mut self, local: usize, index: Id, span: Span) -> Id {
        let values: Vec<Id> = self.locals[local].vars.iter().map(|v| self.env.get(*v).id()).collect();
        if let Some(&Lit::Int(k)) = self.consts.get(&index) {
            return values[k as usize];
        }
        let (elem, last) = (self.locals[local].elem, values.len() - 1);
        let mut found = values[last];
        for (k, value) in values[..last].iter().enumerate().rev() {
            let cond = self.is_index(index, k, span);
            found = self.op(elem, Op::Select(cond, *value, found), span);
        }
        found
    }

    pub(super) fn write_local(&mut self, local: usize, index: Id, value: Id, span: Span) {
        let vars = self.locals[local].vars.clone();
        if let Some(&Lit::Int(k)) = self.consts.get(&index) {
            self.env.set(vars[k as usize], value);
            return;
        }
        let elem = self.locals[local].elem;
        for (k, var) in vars.into_iter().enumerate() {
            let old = self.env.get(var).id();
            let cond = self.is_index(index, k, span);
            let new = self.op(elem, Op::Select(cond, value, old), span);
            self.env.set(var, new);
        }
    }

    fn is_index(&mut self, index: Id, k: usize, span: Span) -> Id {
        let k = self.constant(self.ty(index), Lit::Int(k as i64), span);
        self.op(Ty::Bool, Op::Binary(BinaryOp::Eq, index, k), span)
    }

    /// The array and index of `a[i] = ..`.
    pub(super) fn local_place(&mut self, local: usize, e: &ExprIndex) -> Option<Id> {
        if !self.locals[local].mutable {
            self.does_not_change(&e.expr);
            return None;
        }
        self.local_index(local, &e.index)
    }

    fn does_not_change(&self, array: &Expr) {
        let name = array.to_token_stream();
        self.errors.at(array, format!("`{name}` does not change; declare it with `let mut {name}`"));
    }
}
