//! `Option`s of integers and truth values among the parameters: whether there is one, and which.
//!
//! | source | becomes |
//! |---|---|
//! | `#[comptime] end: Option<u32>` | `#[comptime] end__some: bool, #[comptime] end__value: u32` |
//! | `end.is_some()`, `end.unwrap_or_default()` | `end__some`, `end__value`, which is 0 or `false` where there is none |
//! | `end.unwrap_or(e)`, `end.unwrap_or_else(\|\| e)` | `if end__some { end__value } else { e }` |
//! | `if let Some(n) = end { a } else { b }`, and a `match` | `if end__some { let n = end__value; a } else { b }` |
//! | `f(x, end)`, `f(x, Some(n))` | `f(x, end__some, end__value)`, `f(x, true, n)` |

use diffkern_ir::{FuncKind, Ty};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprMatch, ExprMethodCall, FnArg, Ident, ItemFn, Local, Pat, Stmt, Type, parse_quote_spanned};

use crate::diagnostics::Diagnostics;
use crate::names::bare;
use crate::parse::HostParam;
use crate::parse::{argument, value_type};

/// Rewrites a function with options as one without; gives what the host sees of its parameters.
pub fn rewrite(item: &mut ItemFn, kind: FuncKind, errors: &Diagnostics) -> Vec<HostParam> {
    let mut params = Vec::new();
    let mut names = Vec::new();
    let mut inputs = syn::punctuated::Punctuated::new();
    for arg in std::mem::take(&mut item.sig.inputs) {
        let FnArg::Typed(typed) = &arg else {
            inputs.push(arg);
            continue;
        };
        let (Pat::Ident(name), Some((ty, held))) = (&*typed.pat, of_scalar(&typed.ty)) else {
            inputs.push(arg);
            continue;
        };
        let (name, attrs) = (name.ident.clone(), &typed.attrs);
        let (some, value) = parts(&name, name.span());
        inputs.push(parse_quote_spanned!(typed.span()=> #(#attrs)* #some: bool));
        inputs.push(parse_quote_spanned!(typed.span()=> #(#attrs)* #value: #ty));
        params.push(HostParam {
            ty: quote!(::core::option::Option<#ty>),
            args: arguments(&item.sig.ident, &name, held, kind).into(),
            name: name.clone(),
        });
        names.push(name);
    }
    item.sig.inputs = inputs;
    Options { names, errors }.visit_block_mut(&mut item.block);
    params
}

/// The type of what an option holds, if an option can hold it here.
fn of_scalar(ty: &Type) -> Option<(&Type, Ty)> {
    let inner = argument(ty, "Option")?;
    let held = value_type(inner, None, &Diagnostics::default())?;
    matches!(held, Ty::U32 | Ty::I32 | Ty::Usize | Ty::Bool).then_some((inner, held))
}

/// The variables that an option is.
fn parts(name: &Ident, span: Span) -> (Ident, Ident) {
    let name = bare(name);
    (format_ident!("{name}__some", span = span), format_ident!("{name}__value", span = span))
}

/// What the host passes.
fn arguments(kernel: &Ident, name: &Ident, held: Ty, kind: FuncKind) -> [TokenStream; 2] {
    let value = quote!(#name.unwrap_or_default());
    match (kind, held) {
        (FuncKind::DiffFn, Ty::Usize) => [quote!(#name.is_some()), quote!(#value as ::core::primitive::u32)],
        (FuncKind::DiffFn, _) => [quote!(#name.is_some()), value],
        (FuncKind::Kernel, held) => {
            let value = match held {
                Ty::U32 => quote!(::diffkern::private::Arg::U32(#value)),
                Ty::I32 => quote!(::diffkern::private::Arg::I32(#value)),
                Ty::Usize => crate::emit::index(kernel, &bare(name), &value),
                _ => quote!(::diffkern::private::Arg::Bool(#value)),
            };
            [quote!(::diffkern::private::Arg::Bool(#name.is_some())), value]
        }
    }
}

struct Options<'a> {
    /// Names that are options here.
    names: Vec<Ident>,
    errors: &'a Diagnostics,
}

impl Options<'_> {
    /// The variables of the option that an expression names.
    fn option(&self, e: &Expr) -> Option<(Ident, Ident)> {
        match e {
            Expr::Paren(p) => self.option(&p.expr),
            Expr::Reference(r) if r.mutability.is_none() => self.option(&r.expr),
            Expr::Path(p) => {
                let name = p.path.get_ident()?;
                self.names.contains(name).then(|| parts(name, name.span()))
            }
            _ => None,
        }
    }

    fn method(&self, m: &ExprMethodCall) -> Option<Expr> {
        let (some, value) = self.option(&m.receiver)?;
        let span = m.span();
        let otherwise = match (m.method.to_string().as_str(), m.args.first()) {
            ("is_some", None) => return Some(parse_quote_spanned!(span=> #some)),
            ("is_none", None) => return Some(parse_quote_spanned!(span=> (!#some))),
            ("unwrap_or_default", None) => return Some(parse_quote_spanned!(span=> #value)),
            ("unwrap_or", Some(other)) => other,
            ("unwrap_or_else", Some(Expr::Closure(c))) if c.inputs.is_empty() => &c.body,
            _ => {
                self.errors.at(
                    &m.method,
                    "a kernel cannot stop where there is no value: of an `Option` it has `if let Some(n) = ..`, `match`, \
                     `is_some`, `is_none`, `unwrap_or`, `unwrap_or_else` and `unwrap_or_default`",
                );
                return Some(Expr::Verbatim(TokenStream::new()));
            }
        };
        Some(parse_quote_spanned!(span=> (if #some { #value } else { #otherwise })))
    }

    /// A `match` of `Some(n)` and `None`.
    fn matched(&self, m: &ExprMatch) -> Option<Expr> {
        let (some, value) = self.option(&m.expr)?;
        let (mut then, mut els) = (None, None);
        for arm in &m.arms {
            let body = &arm.body;
            match held(&arm.pat) {
                Some(name) if arm.guard.is_none() => {
                    let name = name.map(|name| quote!(let #name = #value;));
                    then = then.or(Some(quote!({ #name #body })));
                }
                None if arm.guard.is_none() && is_none(&arm.pat) => els = els.or(Some(quote!({ #body }))),
                None if arm.guard.is_none() && matches!(arm.pat, Pat::Wild(_)) => {
                    then = then.or(Some(quote!({ #body })));
                    els = els.or(Some(quote!({ #body })));
                }
                _ => {
                    self.errors.at(&arm.pat, "an arm for an `Option` is `Some(name)`, `None` or `_`, without a guard");
                    return Some(Expr::Verbatim(TokenStream::new()));
                }
            }
        }
        match (then, els) {
            (Some(then), Some(els)) => Some(parse_quote_spanned!(m.span()=> if #some #then else #els)),
            _ => {
                self.errors.at(m.match_token, "an `Option` is `Some(name)` or `None`: write an arm for each");
                Some(Expr::Verbatim(TokenStream::new()))
            }
        }
    }
}

/// The name in `Some(name)`, none for `Some(_)`.
#[expect(clippy::option_option, reason = "no such pattern, no name, a name")]
fn held(pattern: &Pat) -> Option<Option<&Ident>> {
    let Pat::TupleStruct(p) = pattern else { return None };
    if p.path.segments.last()?.ident != "Some" || p.elems.len() != 1 {
        return None;
    }
    match p.elems.first()? {
        // A large letter: a constant that it is compared with.
        Pat::Ident(name) if name.ident.to_string().starts_with(char::is_uppercase) => None,
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => Some(Some(&name.ident)),
        Pat::Wild(_) => Some(None),
        _ => None,
    }
}

/// Whether this is `Some` of `Some(n)`.
fn is_some(function: &Expr) -> bool {
    matches!(function, Expr::Path(p) if p.path.is_ident("Some"))
}

fn is_none(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) => name.ident == "None",
        Pat::Path(p) => p.path.segments.last().is_some_and(|s| s.ident == "None"),
        _ => false,
    }
}

impl VisitMut for Options<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let outside = self.names.clone();
        for stmt in &mut block.stmts {
            self.visit_stmt_mut(stmt);
            if let Stmt::Local(Local { pat, .. }) = stmt {
                let mut bound = Bound(&mut self.names);
                syn::visit::Visit::visit_pat(&mut bound, pat);
            }
        }
        self.names = outside;
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        let other = match e {
            Expr::MethodCall(m) => self.method(m),
            Expr::Match(m) => self.matched(m),
            Expr::If(i) => {
                if let Expr::Let(l) = &*i.cond
                    && let Some((some, value)) = self.option(&l.expr)
                    && (held(&l.pat).is_some() || is_none(&l.pat))
                {
                    if let Some(Some(name)) = held(&l.pat) {
                        i.then_branch.stmts.insert(0, parse_quote_spanned!(l.span()=> let #name = #value;));
                    }
                    let not = is_none(&l.pat).then(|| quote!(!));
                    *i.cond = parse_quote_spanned!(l.span()=> #not #some);
                }
                None
            }
            Expr::Call(c) => {
                let made =
                    if is_some(&c.func) { syn::punctuated::Punctuated::new() } else { std::mem::take(&mut c.args) };
                for arg in made {
                    if let Expr::Call(inner) = &arg
                        && is_some(&inner.func)
                        && let (Some(value), 1) = (inner.args.first(), inner.args.len())
                    {
                        c.args.push(parse_quote_spanned!(arg.span()=> true));
                        c.args.push(value.clone());
                        continue;
                    }
                    match self.option(&arg) {
                        Some((some, value)) => {
                            c.args.push(parse_quote_spanned!(arg.span()=> #some));
                            c.args.push(parse_quote_spanned!(arg.span()=> #value));
                        }
                        None => c.args.push(arg),
                    }
                }
                None
            }
            _ => None,
        };
        if let Some(other) = other {
            *e = other;
        }
        visit_mut::visit_expr_mut(self, e);
    }
}

/// Takes away the names that a pattern binds.
struct Bound<'a>(&'a mut Vec<Ident>);

impl<'ast> syn::visit::Visit<'ast> for Bound<'_> {
    fn visit_pat_ident(&mut self, name: &'ast syn::PatIdent) {
        self.0.retain(|other| *other != name.ident);
    }
}
