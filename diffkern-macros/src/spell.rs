//! What the language lets an author write in more than one way, as the one way that the rest reads.
//!
//! | source | becomes |
//! |---|---|
//! | `match k { 0 => a, 1 \| 2 => b, _ => c }` | `{ let m = k; if m == 0 { a } else if m == 1 \|\| m == 2 { b } else { c } }` |
//! | `(a, b) = (b, a + b);` | `{ let t = b; let u = a + b; a = t; b = u; }` |
//! | `let (a, (b, c)) = (x, (y, z));` | `let (a, b, c) = (x, y, z);`, see [`crate::tuples`] |
//! | `if c { return a; } b` in a function with a value | `if c { a } else { b }`, see [`crate::early`] |
//! | `const N: usize = 4;` in the body | `let N: usize = 4;` at its beginning |
//! | the invisible parentheses around what a `macro_rules` inserts | parentheses, or nothing |

use std::mem;

use proc_macro2::Span;
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Arm, Block, Expr, ExprAssign, ExprMatch, Ident, Item, ItemConst, ItemFn, Pat, RangeLimits, Stmt, Type, parse_quote,
};

use crate::diagnostics::Diagnostics;
use crate::{early, tuples};

/// Rewrites `item`.
pub fn plain(item: &mut ItemFn, errors: &Diagnostics) {
    let real = crate::parse::generic_real(&item.sig.generics);
    Plain { errors, real, consts: Vec::new(), made: 0 }.visit_item_fn_mut(item);
    if matches!(item.sig.output, syn::ReturnType::Type(..)) {
        early::branches(&mut item.block);
    }
}

struct Plain<'a> {
    errors: &'a Diagnostics,
    /// The real type parameter.
    real: Option<Ident>,
    /// The constants of the blocks around.
    consts: Vec<Ident>,
    /// Of names made here.
    made: usize,
}

impl VisitMut for Plain<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        while let Type::Group(group) = ty {
            *ty = mem::replace(&mut *group.elem, Type::Verbatim(Default::default()));
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        tuples::binding(local);
        visit_mut::visit_local_mut(self, local);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        if let Expr::Assign(assign) = e {
            tuples::assignment(assign);
        }
        while let Expr::Group(group) = e {
            let inner = mem::replace(&mut *group.expr, Expr::Verbatim(Default::default()));
            let whole =
                matches!(inner, Expr::Path(_) | Expr::Lit(_) | Expr::Paren(_) | Expr::Group(_) | Expr::Array(_));
            *e = if whole { inner } else { parse_quote!((#inner)) };
        }
        visit_mut::visit_expr_mut(self, e);
        let other = match e {
            Expr::Match(m) => self.chain(m),
            Expr::Assign(assign) => self.one_by_one(assign),
            _ => None,
        };
        if let Some(other) = other {
            *e = other;
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        let outside = self.consts.len();
        let (consts, rest): (Vec<_>, Vec<_>) = mem::take(&mut block.stmts)
            .into_iter()
            .partition(|stmt| matches!(stmt, Stmt::Item(Item::Const(c)) if c.generics.params.is_empty()));
        for stmt in consts {
            if let Stmt::Item(Item::Const(constant)) = stmt {
                self.consts.push(constant.ident.clone());
                block.stmts.push(self.binding(constant));
            }
        }
        block.stmts.extend(rest);
        visit_mut::visit_block_mut(self, block);
        self.consts.truncate(outside);
    }
}

impl Plain<'_> {
    /// A constant as a variable; one of `f32` or `f64` is of the kernel's real type, whatever that is.
    fn binding(&self, constant: ItemConst) -> Stmt {
        let ItemConst { ident, mut ty, expr, .. } = constant;
        let mut scalar = &mut *ty;
        while let Type::Array(array) = scalar {
            scalar = &mut *array.elem;
        }
        if let (Type::Path(path), Some(real)) = (&*scalar, &self.real)
            && (path.path.is_ident("f32") || path.path.is_ident("f64"))
        {
            *scalar = parse_quote!(#real);
        }
        parse_quote!(let #ident: #ty = #expr;)
    }

    fn fresh(&mut self, span: Span) -> Ident {
        self.made += 1;
        format_ident!("__made_{}", self.made, span = span)
    }

    /// An assignment of a tuple to a tuple of places.
    fn one_by_one(&mut self, assign: &ExprAssign) -> Option<Expr> {
        let (Expr::Tuple(left), Expr::Tuple(right)) = (&*assign.left, &*assign.right) else { return None };
        if left.elems.len() != right.elems.len() {
            return None;
        }
        let names: Vec<Ident> = right.elems.iter().map(|value| self.fresh(value.span())).collect();
        let values = right.elems.iter();
        let assigned = left.elems.iter().zip(&names).filter(|(place, _)| !matches!(place, Expr::Infer(_)));
        let stores = assigned.map(|(place, name)| quote!(#place = #name;));
        Some(parse_quote!({ #(let #names = #values;)* #(#stores)* }))
    }

    /// A `match` as a chain of `if`; `None` if it cannot be one, which is reported.
    fn chain(&mut self, m: &ExprMatch) -> Option<Expr> {
        let value = self.fresh(m.match_token.span);
        let mut conditions = Vec::new();
        for arm in &m.arms {
            conditions.push(self.condition(arm, &value)?);
        }
        let covered =
            |pattern: &str| m.arms.iter().any(|a| a.guard.is_none() && a.pat.to_token_stream().to_string() == pattern);
        let bools = covered("true") && covered("false");
        let end = match conditions.iter().position(Option::is_none) {
            Some(end) => end,
            None if bools => m.arms.len() - 1,
            None => {
                self.errors.at(m.match_token, "end this `match` in `_ => ..`, so that every number has an arm");
                return None;
            }
        };
        let mut chain = body(&m.arms[end]);
        for k in (0..end).rev() {
            let (cond, then) = (&conditions[k], body(&m.arms[k]));
            let token = syn::token::If { span: m.match_token.span };
            let mut branch: syn::ExprIf = parse_quote!(if #cond #then else #chain);
            branch.if_token = token;
            chain = Expr::If(branch);
        }
        let matched = &m.expr;
        Some(parse_quote!({ let #value = #matched; #chain }))
    }

    /// When an arm is taken, given that none before it is: `Some(None)` if always.
    #[expect(clippy::option_option, reason = "refused, always, or under a condition")]
    fn condition(&self, arm: &Arm, value: &Ident) -> Option<Option<Expr>> {
        let fits = self.fits(&arm.pat, value)?;
        let guard = arm.guard.as_ref().map(|(_, guard)| &**guard);
        Some(match (fits, guard) {
            (Some(fits), Some(guard)) => Some(parse_quote!((#fits) && (#guard))),
            (Some(only), None) => Some(only),
            (None, guard) => guard.cloned(),
        })
    }

    /// Whether the value is what the pattern says: `Some(None)` if it always is.
    #[expect(clippy::option_option, reason = "refused, always, or under a condition")]
    fn fits(&self, pattern: &Pat, value: &Ident) -> Option<Option<Expr>> {
        let known = |name: &Ident| self.consts.contains(name);
        match pattern {
            Pat::Wild(_) => Some(None),
            Pat::Paren(p) => self.fits(&p.pat, value),
            Pat::Lit(lit) => Some(Some(parse_quote!(#value == #lit))),
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() && known(&name.ident) => {
                let name = &name.ident;
                Some(Some(parse_quote!(#value == #name)))
            }
            Pat::Range(range) => {
                let from = range.start.as_ref().map(|lo| -> Expr { parse_quote!(#value >= #lo) });
                let to = range.end.as_ref().map(|hi| -> Expr {
                    match range.limits {
                        RangeLimits::Closed(_) => parse_quote!(#value <= #hi),
                        RangeLimits::HalfOpen(_) => parse_quote!(#value < #hi),
                    }
                });
                Some(match (from, to) {
                    (Some(from), Some(to)) => Some(parse_quote!(#from && #to)),
                    (one, other) => one.or(other),
                })
            }
            Pat::Or(or) => {
                let mut all: Option<Expr> = None;
                for case in &or.cases {
                    let Some(one) = self.fits(case, value)? else { return Some(None) };
                    all = Some(match all {
                        Some(all) => parse_quote!(#all || #one),
                        None => one,
                    });
                }
                Some(all)
            }
            other => {
                self.errors.at(
                    other,
                    "an arm of a `match` is a number, `true` or `false`, several with `|`, a range, `_`, or a \
                     variant of a `#[diff_enum]`; constants of the surrounding module cannot be seen by the macro",
                );
                None
            }
        }
    }
}

/// What an arm does, as a block.
fn body(arm: &Arm) -> Expr {
    match &*arm.body {
        Expr::Block(b) if b.label.is_none() && b.attrs.is_empty() => Expr::Block(b.clone()),
        other => parse_quote!({ #other }),
    }
}
