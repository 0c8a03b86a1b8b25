//! From a function with structs to one without.
//!
//! | source | becomes |
//! |---|---|
//! | `p: Body<F>` (`x: Vec3<F>, m: F`) | `p__x: Vec3<F>, p__m: F` |
//! | `a: &Array<Body<F>>` | `a: &Array<F>` |
//! | `a[i].x` | `Vec3::new(a[i * 4 + 0], a[i * 4 + 1], a[i * 4 + 2])` |
//! | `let q: Body<F> = f(p);` | `let (q__x, q__m): (Vec3<F>, F) = f(p__x, p__m);` |
//! | `a[i].m += e` | `a[i * 4 + 3] += e` |

use std::collections::HashMap;

use diffkern_ir::FuncKind;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, ItemFn, Pat, parse_quote, parse_quote_spanned};

use super::def::{Kind, Record, Records};
use super::order::Want;
use super::parts::{tuple, within};
use super::values::{Place, component};
use crate::diagnostics::Diagnostics;
use crate::parse::HostSide;

/// A name that is a struct, or an array of structs.
#[derive(Clone)]
pub enum Var {
    Value(Record),
    Array(Record),
}

pub struct Rewrite<'a> {
    pub records: &'a Records,
    pub errors: &'a Diagnostics,
    pub(super) real: Option<Ident>,
    pub(super) scopes: Vec<HashMap<String, Option<Var>>>,
    pub(super) fresh: usize,
}

/// The function over fields, and what the host sees of it.
pub fn rewrite(item: &ItemFn, kind: FuncKind, records: &Records, errors: &Diagnostics) -> (ItemFn, HostSide) {
    let real = crate::parse::generic_real(&item.sig.generics);
    let mut rewrite = Rewrite { records, errors, real, scopes: vec![HashMap::new()], fresh: 0 };
    let mut item = item.clone();
    let mut side = HostSide::default();
    let prelude = rewrite.parameters(&mut item, kind, &mut side);
    let result = match &item.sig.output {
        syn::ReturnType::Type(_, ty) => Some((**ty).clone()),
        syn::ReturnType::Default => None,
    };
    let wants = result.as_ref().map(|ty| rewrite.shapes(ty)).unwrap_or_default();
    if let Some(ty) = result
        && wants.iter().any(Option::is_some)
    {
        side.result = Some(rewrite.host_result(&ty, &wants));
        let types = rewrite.flat_types(&ty);
        item.sig.output = parse_quote_spanned!(ty.span()=> -> (#(#types),*));
        rewrite.tail_block(&mut item.block, &wants);
    } else {
        rewrite.visit_block_mut(&mut item.block);
    }
    item.block.stmts.splice(0..0, prelude);
    (item, side)
}

impl Rewrite<'_> {
    pub fn find(&self, name: &Ident) -> Option<Var> {
        self.scopes.iter().rev().find_map(|s| s.get(&name.to_string()).cloned())?
    }

    pub(super) fn bind(&mut self, name: &Ident, var: Option<Var>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), var);
        }
    }

    fn whole(&self, at: &Expr, record: &Record) {
        self.errors.at(
            at,
            format!(
                "a `{}` is passed to a device function, returned, stored or bound with `let`; here take a field",
                record.name
            ),
        );
    }

    pub fn expression(&mut self, e: &mut Expr) {
        self.visit_expr_mut(e);
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.scopes.push(HashMap::new());
        for stmt in std::mem::take(&mut block.stmts) {
            let stmts = self.statement(stmt);
            block.stmts.extend(stmts);
        }
        self.scopes.pop();
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        if let Some((place, path, kind, root)) = self.root(e) {
            match kind {
                Kind::Plain(ty) => {
                    let (before, place) = self.settled(place);
                    *e = within(before, self.read(&place, &root, &path, ty, e.span()));
                }
                Kind::Record(record) => self.whole(&*e, &record),
            }
            return;
        }
        match e {
            // A component of a field in an array: only that scalar is read.
            Expr::Field(f) => {
                if let Some((mut place, path, Kind::Plain(ty), root)) = self.root(&f.base)
                    && matches!(place, Place::Element { .. })
                    && let Some(k) = position(ty, &f.member)
                    && let Some(offset) = root.offset(&path)
                {
                    if let Place::Element { index, .. } = &mut place {
                        self.expression(index);
                    }
                    if let Place::Element { array, index, stride } = &place {
                        *e = Place::scalar(array, index, *stride, offset + k);
                        return;
                    }
                }
                match self.record_of(&f.base) {
                    None => visit_mut::visit_expr_mut(self, e),
                    Some(outer) => match self.field_of(f, &outer) {
                        Some((parts, Kind::Plain(_))) => *e = within(parts.before, tuple(&parts.values, e.span())),
                        Some((_, Kind::Record(inner))) => self.whole(&*e, &inner),
                        None => {}
                    },
                }
            }
            Expr::MethodCall(m) if self.record_of(&m.receiver).is_some() => {
                let receiver = crate::diagnostics::as_written(&m.receiver);
                self.errors.at(
                    &m.method,
                    format!(
                        "structs have no methods in a kernel; `{0}` is a `#[diff_fn]` that takes one: `{0}({receiver})`",
                        m.method
                    ),
                );
            }
            Expr::MethodCall(m) => {
                if let (Expr::Path(p), "len") = (&*m.receiver, m.method.to_string().as_str())
                    && let Some(Var::Array(record)) = p.path.get_ident().and_then(|name| self.find(name))
                {
                    let n = record.scalars();
                    *e = parse_quote_spanned!(e.span()=> (#e / #n));
                    return;
                }
                visit_mut::visit_expr_mut(self, e);
            }
            Expr::Call(call) => {
                let args = std::mem::take(&mut call.args).into_iter().map(|arg| {
                    let want = self.record_of(&arg).map_or(Want::Plain(None), Want::Record);
                    (arg, want)
                });
                let args = args.collect();
                if let Some((before, args)) = self.operands(args, false) {
                    call.args = args.into_iter().flatten().collect();
                    *e = within(before, e.clone());
                }
            }
            Expr::Struct(s) if s.path.segments.last().is_some_and(|l| self.records.named(&l.ident).is_some()) => {
                self.errors.at(
                    &s.path,
                    "a struct is passed to a device function, returned, stored or bound with `let`; here take a field",
                );
            }
            Expr::ForLoop(f) => {
                self.visit_expr_mut(&mut f.expr);
                self.scopes.push(HashMap::new());
                if let Pat::Ident(name) = &*f.pat {
                    self.bind(&name.ident, None);
                }
                self.visit_block_mut(&mut f.body);
                self.scopes.pop();
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }
}

pub(super) fn position(ty: diffkern_ir::Ty, member: &syn::Member) -> Option<usize> {
    let syn::Member::Named(name) = member else { return None };
    let value: Expr = parse_quote!(v);
    (0..ty.components()).find(|k| match component(&value, ty, *k) {
        Expr::Field(f) => matches!(&f.member, syn::Member::Named(n) if n == name),
        _ => false,
    })
}
