//! Local arrays of fixed length: a variable per element, or memory of the thread.
//!
//! | source | IR |
//! |---|---|
//! | `let mut a = Array::<F>::new(3);` | `a0 = 0, a1 = 0, a2 = 0` |
//! | `a[1] = x;` | `a1 = x` |
//! | `a[i] = x;` | `a0 = select(i == 0, x, a0), a1 = select(i == 1, x, a1), ..` |
//! | `a[i]` | `select(i == 0, a0, select(i == 1, a1, a2))` |
//! | `let b = a;`, `b = a;` | `b0 = a0, b1 = a1, b2 = a2` |
//!
//! So a small array is carried by branches and loops, kept and differentiated element by element, like any variables. One of
//! more than [`REGISTERS`] scalars is in [`super::memory`], and one of more than [`SELECTED`] of which an element is selected at
//! run time. An index out of range reads the last element and writes none, and is a fault on the CPU.

use diffkern_ir::{BinaryOp, FaultKind, Id, Lit, Op, StmtKind, Ty};
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, ExprIndex, Type};

use super::Lower;
use super::env::{Binding, Var};
use crate::parse::value_type;

/// Most scalars of a local array that is variables.
const REGISTERS: usize = 64;

/// Most of one whose elements are selected at run time: each access touches all of them. Forward and backward memory is as fast with 16
/// scalars, and six times as fast with 64.
const SELECTED: usize = 16;

/// Most scalars of a local array.
const MOST: usize = 1024;

/// A local array.
pub(super) struct Local {
    elem: Ty,
    len: usize,
    mutable: bool,
    place: Place,
}

/// Where the elements of a local array are.
enum Place {
    /// A variable each.
    Vars(Vec<Var>),
    /// The slots of a stack, and one more, where writes out of range go.
    Stack(u32),
}

/// The elements of an array that is made or assigned.
pub(super) struct Made {
    pub elem: Ty,
    pub len: usize,
    pub values: Values,
}

/// What they are.
pub(super) enum Values {
    Zeros,
    All(Id),
    Each(Vec<Id>),
    /// Those of this stack.
    Stack(u32),
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
            Some(made) => {
                let (elem, len, span) = (made.elem, made.len, init.span());
                let place = if len * elem.components() <= REGISTERS && !self.in_memory.contains(&self.locals.len()) {
                    let values = self.each_of(made, span);
                    Place::Vars(values.into_iter().map(|id| self.flag(id)).collect())
                } else {
                    let stack = self.new_memory(elem, len, span);
                    if !matches!(made.values, Values::Zeros) {
                        self.fill_memory(stack, made, span);
                    }
                    Place::Stack(stack)
                };
                self.locals.push(Local { elem, len, mutable: name.mutability.is_some(), place });
                self.env.bind(&name.ident.to_string(), Binding::Local(self.locals.len() - 1));
            }
            None => self.env.poison(&name.ident.to_string()),
        }
    }

    /// A value for each element.
    fn each_of(&mut self, made: Made, span: Span) -> Vec<Id> {
        match made.values {
            Values::Zeros => vec![self.zero(made.elem, span); made.len],
            Values::All(id) => vec![id; made.len],
            Values::Each(ids) => ids,
            Values::Stack(stack) => (0..made.len).map(|k| self.read_memory(stack, made.elem, k, span)).collect(),
        }
    }

    fn elements(&mut self, annotation: Option<&Type>, guessed: Option<Ty>, init: &Expr) -> Option<Made> {
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
        let made = match self.local_named(init) {
            Some(local) => self.local_values(local),
            None => self.made(init, want)?,
        };
        let (elem, len) = (made.elem, made.len);
        if let Some(want) = want
            && elem != want
        {
            self.errors
                .at(init, format!("expected elements of `{}`, found `{}`", self.type_name(want), self.type_name(elem)));
            return None;
        }
        if let Some(Type::Array(array)) = annotation
            && self.constant_len(&array.len, elem)? != len
        {
            self.errors.at(&array.len, format!("the array has {len} elements"));
            return None;
        }
        Some(made)
    }

    /// What the elements are now.
    fn local_values(&self, local: usize) -> Made {
        let Local { elem, len, place, .. } = &self.locals[local];
        let values = match place {
            Place::Vars(vars) => Values::Each(vars.iter().map(|v| self.env.get(*v).id()).collect()),
            Place::Stack(stack) => Values::Stack(*stack),
        };
        Made { elem: *elem, len: *len, values }
    }

    /// The variables that it is.
    pub(super) fn local_vars(&self, local: usize) -> Vec<Var> {
        match &self.locals[local].place {
            Place::Vars(vars) => vars.clone(),
            Place::Stack(_) => Vec::new(),
        }
    }

    /// `b = a;`, `b = [x, y, z];` of whole local arrays.
    pub(super) fn assign_local(&mut self, local: usize, left: &Expr, right: &Expr) {
        let (elem, n) = (self.locals[local].elem, self.locals[local].len);
        if !self.locals[local].mutable {
            self.does_not_change(left);
            return;
        }
        let made = match self.local_named(right) {
            Some(other) => Some(self.local_values(other)),
            None if makes(right) => self.made(right, Some(elem)),
            None => {
                self.errors.at(right, "a local array is assigned another of its kind, or `[x; 4]`, or `[x, y, z]`");
                None
            }
        };
        let Some(made) = made else { return };
        if made.elem != elem || made.len != n {
            let shown = |ty, n| format!("`[{}; {n}]`", self.type_name(ty));
            self.errors.at(right, format!("expected {}, found {}", shown(elem, n), shown(made.elem, made.len)));
            return;
        }
        if let Place::Stack(stack) = self.locals[local].place {
            self.fill_memory(stack, made, right.span());
            return;
        }
        let values = self.each_of(made, right.span());
        for (var, value) in self.local_vars(local).into_iter().zip(values) {
            self.env.set(var, value);
        }
    }

    /// Elements as they are written, of type `want` if that is known.
    fn made(&mut self, init: &Expr, want: Option<Ty>) -> Option<Made> {
        let (elem, len, values) = match maker(init)? {
            Maker::Zeros(elem, len) => {
                let elem = match elem {
                    Some(elem) => value_type(elem, self.real.as_ref(), self.errors)?,
                    None => want.or_else(|| {
                        self.errors.at(init, "say what it holds: `Array::<F>::new(4)`");
                        None
                    })?,
                };
                (elem, self.constant_len(len, elem)?, Values::Zeros)
            }
            Maker::Repeat(value, len) => {
                let id = self.expr(value, want)?;
                let elem = self.ty(id);
                (elem, self.constant_len(len, elem)?, Values::All(id))
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
                (elem, ids.len(), Values::Each(ids))
            }
        };
        Some(Made { elem, len, values })
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
                "a local array has at most {MOST} scalars, and this one {n} elements of `{name}`; pass a larger one as a \
                 parameter, with a part for each thread"
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
        let n = self.locals[local].len as i64;
        self.constant(Ty::Usize, Lit::Int(n), span)
    }

    pub(super) fn local_elem(&self, local: usize) -> Ty {
        self.locals[local].elem
    }

    /// The index, and a fault where it is out of range.
    pub(super) fn local_index(&mut self, local: usize, index: &Expr) -> Option<Id> {
        let id = self.plain_expr(index, Some(Ty::Usize))?;
        let n = self.locals[local].len as i64;
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
        let vars = match &self.locals[local] {
            Local { elem, len, place: Place::Stack(stack), .. } => {
                let (elem, last, stack) = (*elem, len - 1, *stack);
                let at = self.slot(index, last, span);
                return self.get_memory(stack, elem, at, span);
            }
            Local { place: Place::Vars(vars), .. } => vars,
        };
        let values: Vec<Id> = vars.iter().map(|v| self.env.get(*v).id()).collect();
        if let Some(&Lit::Int(k)) = self.consts.get(&index) {
            return values[k as usize];
        }
        self.selected(local);
        let (elem, last) = (self.locals[local].elem, values.len() - 1);
        let mut found = values[last];
        for (k, value) in values[..last].iter().enumerate().rev() {
            let cond = self.is_index(index, k, span);
            found = self.op(elem, Op::Select(cond, *value, found), span);
        }
        found
    }

    /// An element of it is selected at run time.
    fn selected(&mut self, local: usize) {
        let Local { elem, len, .. } = self.locals[local];
        if len * elem.components() > SELECTED {
            self.in_memory.insert(local);
        }
    }

    pub(super) fn write_local(&mut self, local: usize, index: Id, value: Id, span: Span) {
        if let Local { len, place: Place::Stack(stack), .. } = &self.locals[local] {
            let (len, stack) = (*len, *stack);
            let at = self.slot(index, len, span);
            self.emit(StmtKind::StackSet { stack, at, value }, span);
            return;
        }
        let vars = self.local_vars(local);
        if let Some(&Lit::Int(k)) = self.consts.get(&index) {
            self.env.set(vars[k as usize], value);
            return;
        }
        self.selected(local);
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
