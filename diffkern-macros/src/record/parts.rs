//! A value of a struct, taken apart: statements that run first, and an expression per plain field.
//!
//! | source | becomes |
//! |---|---|
//! | `f(if c { p } else { q })` | `{ let (t0, t1): (Vec3<F>, F) = if c { (p__x, p__m) } else { (q__x, q__m) }; f(t0, t1) }` |
//! | `(if c { p } else { q }).m` | `{ let (t0, t1): (Vec3<F>, F) = ..; t1 }` |
//! | `Body { m, ..f(p) }` | `{ let (t0, t1): (Vec3<F>, F) = f(p__x, p__m); (t0, m) }` |

use diffkern_ir::Ty;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Member, Stmt, parse_quote, parse_quote_spanned};

use super::def::{Kind, Leaf, Record};
use super::order::Want;
use super::rewrite::Rewrite;
use super::values::{Place, plain_type};
use crate::effects::changed;

/// What runs first, and one expression per plain field.
#[derive(Default)]
pub struct Parts {
    pub before: Vec<Stmt>,
    pub values: Vec<Expr>,
}

impl Parts {
    /// As one expression, the values as a tuple.
    pub fn joined(self, span: Span) -> Expr {
        let value = tuple(&self.values, span);
        within(self.before, value)
    }
}

/// `{ before; value }`, in parentheses, so that it stands anywhere; `value` itself if nothing runs before.
pub fn within(before: Vec<Stmt>, value: Expr) -> Expr {
    if before.is_empty() { value } else { parse_quote!(({ #(#before)* (#value) })) }
}

pub fn tuple(all: &[Expr], span: Span) -> Expr {
    match all {
        [one] => one.clone(),
        all => parse_quote_spanned!(span=> (#(#all),*)),
    }
}

/// `let (names): (types) = value;`
pub fn binding(names: &[syn::Pat], leaves: &[Leaf], value: &Expr, real: Option<&Ident>) -> Stmt {
    let types = leaves.iter().map(|leaf| plain_type(leaf.ty, real));
    match names {
        [one] => parse_quote!(let #one: #(#types)* = #value;),
        names => parse_quote!(let (#(#names),*): (#(#types),*) = #value;),
    }
}

impl Rewrite<'_> {
    /// The parts of `e`, which must be a `want`.
    pub(super) fn parts(&mut self, e: &Expr, want: &Record) -> Option<Parts> {
        match e {
            Expr::Paren(p) => return self.parts(&p.expr, want),
            Expr::Group(g) => return self.parts(&g.expr, want),
            Expr::Struct(s) => return self.literal(s, want),
            Expr::Call(c) if is_by_field(c) && c.args.len() == 3 => return self.selected(c, want),
            Expr::Call(c) if is_by_field(c) => return self.detached(c, want),
            Expr::If(_) | Expr::Block(_) | Expr::Call(_) => {
                let mut value = e.clone();
                self.tail(&mut value, &[Some(want.clone())]);
                return Some(self.bound(&value, want));
            }
            _ => {}
        }
        if let Some((place, path, Kind::Record(found), root)) = self.root(e) {
            self.expect(e, &found, want)?;
            let (before, place) = self.settled(place);
            let values = found.leaves().into_iter().map(|leaf| {
                let whole: Vec<Ident> = path.iter().cloned().chain(leaf.path).collect();
                self.read(&place, &root, &whole, leaf.ty, e.span())
            });
            return Some(Parts { values: values.collect(), before });
        }
        if let Expr::Field(f) = e
            && let Some(outer) = self.record_of(&f.base)
        {
            let (parts, kind) = self.field_of(f, &outer)?;
            if let Kind::Record(found) = &kind {
                self.expect(e, found, want)?;
                return Some(parts);
            }
        }
        self.errors.at(
            e,
            format!(
                "expected a `{0}`: a variable, an element of an array, `{0} {{ .. }}`, or an `if`, a block or a call that gives \
                 one",
                want.name
            ),
        );
        None
    }

    /// The field of a value that is no place.
    pub(super) fn field_of(&mut self, f: &syn::ExprField, outer: &Record) -> Option<(Parts, Kind)> {
        let Member::Named(name) = &f.member else { return None };
        let Some(field) = outer.field(name) else {
            self.no_field(name, outer);
            return None;
        };
        let mut parts = self.all_parts(&f.base, outer)?;
        let first: usize = outer.fields.iter().take_while(|f| f.name != *name).map(|f| f.kind.leaves()).sum();
        parts.values = parts.values[first..first + field.kind.leaves()].to_vec();
        Some((parts, field.kind.clone()))
    }

    /// Parts of which some are left out: these are evaluated, too.
    pub(super) fn all_parts(&mut self, e: &Expr, want: &Record) -> Option<Parts> {
        let mut parts = self.parts(e, want)?;
        if self.root(e).is_none() && !parts.values.iter().all(|value| matches!(value, Expr::Path(_))) {
            let mut bound = self.bound(&tuple(&parts.values, e.span()), want);
            parts.before.append(&mut bound.before);
            parts.values = bound.values;
        }
        Some(parts)
    }

    pub(super) fn no_field(&self, name: &Ident, record: &Record) {
        let known: Vec<String> = record.fields.iter().map(|f| format!("`{}`", f.name)).collect();
        self.errors.at(name, format!("`{}` has no field `{name}`; it has {}", record.name, known.join(", ")));
    }

    /// `value`, a tuple of the fields of a `want`, in variables.
    pub(super) fn bound(&mut self, value: &Expr, want: &Record) -> Parts {
        let leaves = want.leaves();
        let names = self.temporaries(leaves.len());
        let pats: Vec<syn::Pat> = names.iter().map(|n| parse_quote!(#n)).collect();
        Parts {
            before: vec![binding(&pats, &leaves, value, self.real.as_ref())],
            values: names.iter().map(|n| parse_quote!(#n)).collect(),
        }
    }

    /// A place whose index has no effect: it is evaluated for each scalar that is read.
    pub(super) fn settled(&mut self, mut place: Place) -> (Vec<Stmt>, Place) {
        let mut before = Vec::new();
        if let Place::Element { index, .. } = &mut place {
            let settle = !changed([&**index]).is_empty();
            self.expression(index);
            if settle {
                let at = self.temporaries(1).remove(0);
                let value = &*index;
                before.push(parse_quote_spanned!(value.span()=> let #at = #value;));
                **index = parse_quote_spanned!(value.span()=> #at);
            }
        }
        (before, place)
    }

    fn expect(&self, at: &Expr, found: &Record, want: &Record) -> Option<()> {
        if found.name != want.name {
            self.errors.at(at, format!("expected `{}`, found `{}`", want.name, found.name));
            return None;
        }
        Some(())
    }

    fn literal(&mut self, s: &syn::ExprStruct, want: &Record) -> Option<Parts> {
        let record = s.path.segments.last().and_then(|l| self.records.named(&l.ident)).cloned()?;
        if record.name != want.name {
            self.errors.at(&s.path, format!("expected `{}`, found `{}`", want.name, record.name));
            return None;
        }
        let mut operands = Vec::new();
        let mut given: Vec<&Ident> = Vec::new();
        for value in &s.fields {
            let Member::Named(name) = &value.member else { return None };
            let Some(field) = record.field(name) else {
                self.no_field(name, &record);
                return None;
            };
            if given.contains(&name) {
                self.errors.at(name, format!("the field `{name}` is given twice"));
                return None;
            }
            given.push(name);
            let want = match &field.kind {
                Kind::Plain(ty) => Want::Plain(Some(*ty)),
                Kind::Record(inner) => Want::Record(inner.clone()),
            };
            operands.push((value.expr.clone(), want));
        }
        operands.extend(s.rest.as_ref().map(|base| ((**base).clone(), Want::Base(record.clone()))));
        let (before, found) = self.operands(operands, true)?;
        let mut values = Vec::new();
        for field in &record.fields {
            let (first, count) = (values.len(), field.kind.leaves());
            match given.iter().position(|name| **name == field.name) {
                Some(k) => values.extend_from_slice(&found[k]),
                None if s.rest.is_some() => values.extend_from_slice(&found[given.len()][first..first + count]),
                None => {
                    self.errors.at(&s.path, format!("the field `{}` is missing", field.name));
                    return None;
                }
            }
        }
        Some(Parts { before, values })
    }

    /// `select(c, p, q)`, by field.
    fn selected(&mut self, c: &syn::ExprCall, want: &Record) -> Option<Parts> {
        let wants = [Want::Plain(Some(Ty::Bool)), Want::Record(want.clone()), Want::Record(want.clone())];
        let (mut before, found) = self.operands(c.args.iter().cloned().zip(wants).collect(), true)?;
        let (name, cond) = (self.temporaries(1).remove(0), &found[0][0]);
        before.push(parse_quote_spanned!(cond.span()=> let #name: bool = #cond;));
        let both = found[1].iter().zip(&found[2]);
        let values = both.map(|(yes, no)| parse_quote!(select(#name, #yes, #no))).collect();
        Some(Parts { before, values })
    }

    /// `detach(p)`, by field; what is not real has no derivative.
    fn detached(&mut self, c: &syn::ExprCall, want: &Record) -> Option<Parts> {
        let mut parts = self.parts(&c.args[0], want)?;
        for (value, leaf) in parts.values.iter_mut().zip(want.leaves()) {
            if leaf.ty.is_real() {
                *value = parse_quote!(detach(#value));
            }
        }
        Some(parts)
    }
}

/// `select(c, p, q)`, `detach(p)`: functions of any type.
pub(super) fn is_by_field(call: &syn::ExprCall) -> bool {
    is_function(&call.func, "select") && call.args.len() == 3
        || is_function(&call.func, "detach") && call.args.len() == 1
}

fn is_function(func: &Expr, name: &str) -> bool {
    matches!(func, Expr::Path(p) if p.path.is_ident(name))
}
