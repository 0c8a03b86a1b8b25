//! A function over the dimension, for one of them.
//!
//! | source, for `D = 2` | becomes |
//! |---|---|
//! | `fn drift<F: Float, const D: usize>` | `fn drift_2d<F: Float>` |
//! | `Vector<F, D>`, `Vector<F, { D + 1 }>`, `Matrix<F, D>` | `Vec2<F>`, `Vec3<F>`, `Mat2<F>` |
//! | `Vector::<F, D>::from_fn(\|a\| x[a] * h)` | `Vec2::new(x[0] * h, x[1] * h)` |
//! | `for a in 0..D { y[a] = x[a]; }` | `{ y[0] = x[0]; } { y[1] = x[1]; }` |
//! | `if D == 2 { p } else { q }` | `p` |
//! | `push::<F, D>(x)`, `M::stress::<F, D>(f)` | `push::<F, ::diffkern::Dim2>(x)`, `M::stress_2d::<F>(f)` |

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::format_ident;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Block, Expr, ExprCall, ExprClosure, ExprForLoop, GenericArgument, Ident, ItemFn, LitInt, Pat, PathArguments,
    PathSegment, Stmt, Type, parse_quote, parse_quote_spanned,
};

use super::constant::Known;
use super::dims;
use crate::diagnostics::Diagnostics;

/// Most iterations of a loop that is written out.
const MOST: i64 = 64;

/// `item`, whose dimension is called `name`, for `d` dimensions.
pub fn instance(item: &ItemFn, name: &Ident, d: u8, errors: &Diagnostics) -> ItemFn {
    let mut item = item.clone();
    dims::take_parameter(&mut item.sig.generics);
    let mut instance = Instance::new(name, d, item.sig.ident.to_string(), errors);
    item.sig.ident = named(&item.sig.ident, d);
    instance.visit_item_fn_mut(&mut item);
    item
}

/// The name of an instance: `drift_2d`.
pub fn named(name: &Ident, d: u8) -> Ident {
    format_ident!("{name}_{d}d", span = name.span())
}

/// The transformation.
pub struct Instance<'a> {
    d: u8,
    name: Ident,
    /// The function itself.
    own: String,
    known: Known,
    errors: &'a Diagnostics,
}

impl<'a> Instance<'a> {
    /// Of what `own` is called, whose dimension is `name`.
    pub fn new(name: &Ident, d: u8, own: String, errors: &'a Diagnostics) -> Instance<'a> {
        let mut known = Known::default();
        known.bind(name.to_string(), Some(d.into()));
        Instance { d, name: name.clone(), own, known, errors }
    }

    /// `Vec2` of `Vector<F, D>`.
    fn shape(&self, segment: &PathSegment) -> Option<(Ident, Type, i64)> {
        let (of, n) = dims::over(segment)?;
        let stem = if segment.ident == "Vector" { "Vec" } else { "Mat" };
        let most = if stem == "Vec" { 4 } else { 3 };
        let count = match self.known.value(&n) {
            Some(count) if (2..=most).contains(&count) => count,
            Some(count) => {
                let which = if stem == "Vec" { "2, 3 or 4 components" } else { "2 or 3 rows" };
                let there = format!("there are {which}, and for {0} = {1} this is {count}", self.name, self.d);
                self.errors.at(&n, there);
                2
            }
            None => {
                let name = &self.name;
                self.errors.at(&n, format!("write a number or one made of `{name}`, such as `{{ {name} + 1 }}`"));
                2
            }
        };
        Some((format_ident!("{stem}{count}", span = segment.ident.span()), of, count))
    }

    /// `Vec2::new(..)`, a value for each axis; `None` where this is another call.
    fn axis_by_axis(&mut self, call: &ExprCall, shape: &Ident, n: i64) -> Option<Expr> {
        let [Expr::Closure(closure)] = call.args.iter().collect::<Vec<_>>()[..] else {
            self.errors.at(call, "`from_fn` takes a closure that is written out: `Vector::<F, D>::from_fn(|a| x[a])`");
            return None;
        };
        let is_vector = shape.to_string().starts_with("Vec");
        let names: Option<Vec<&Ident>> = closure.inputs.iter().map(plain_name).collect();
        let values: Vec<Expr> = match (names.as_deref(), is_vector) {
            (Some([a]), true) => (0..n).map(|k| self.applied(closure, &[(a, k)])).collect(),
            (Some([row, column]), false) => {
                (0..n * n).map(|k| self.applied(closure, &[(row, k / n), (column, k % n)])).collect()
            }
            _ => {
                let way = if is_vector { "one name, the axis: `|a| ..`" } else { "row and column: `|r, c| ..`" };
                self.errors.at(closure, format!("this closure takes {way}"));
                return None;
            }
        };
        Some(parse_quote_spanned!(call.span()=> #shape::new(#(#values),*)))
    }

    /// The value of a closure.
    fn applied(&mut self, closure: &ExprClosure, values: &[(&Ident, i64)]) -> Expr {
        let entered = self.known.enter();
        values.iter().for_each(|(name, k)| self.known.bind(name.to_string(), Some(*k)));
        let mut body = (*closure.body).clone();
        self.visit_expr_mut(&mut body);
        self.known.leave(entered);
        body
    }

    /// The functions of vectors, matrices and laws over the dimension; what it becomes, if that is no call of the name.
    fn call(&mut self, call: &mut ExprCall) -> Option<Expr> {
        let whole = call.clone();
        let Expr::Path(path) = &mut *call.func else { return None };
        let segments = &mut path.path.segments;
        let count = segments.len();
        if count >= 2
            && let Some(owner) = segments.get_mut(count - 2)
            && let Some((shape, _, n)) = self.shape(owner)
        {
            (owner.ident, owner.arguments) = (shape.clone(), PathArguments::None);
            return match segments.last().is_some_and(|last| last.ident == "from_fn") {
                true => self.axis_by_axis(&whole, &shape, n),
                false => None,
            };
        }
        let is_over = segments.last().is_some_and(|last| self.is_over(last));
        if count >= 2 && is_over && segments[count - 2].ident.to_string().starts_with(char::is_uppercase) {
            if let Some(last) = segments.last_mut() {
                last.ident = named(&last.ident, self.d);
                self.without_dimension(&mut last.arguments);
            }
        } else if count == 1 && is_over && segments[0].ident == self.own {
            let own = &self.own;
            self.errors.at(&whole.func, format!("`{own}` calls itself; recursion is refused, write a loop"));
        }
        None
    }

    /// Whether the dimension is among the arguments of a name.
    fn is_over(&self, segment: &PathSegment) -> bool {
        match &segment.arguments {
            PathArguments::AngleBracketed(args) => args.args.iter().any(|arg| self.is_dimension(arg)),
            _ => false,
        }
    }

    fn is_dimension(&self, arg: &GenericArgument) -> bool {
        matches!(arg, GenericArgument::Type(Type::Path(ty)) if ty.qself.is_none() && ty.path.is_ident(&self.name))
    }

    fn without_dimension(&self, arguments: &mut PathArguments) {
        if let PathArguments::AngleBracketed(args) = arguments {
            let kept = std::mem::take(&mut args.args).into_iter();
            args.args = kept.filter(|arg| !self.is_dimension(arg)).collect();
            if args.args.is_empty() {
                *arguments = PathArguments::None;
            }
        }
    }

    /// A loop over known bounds: its iterations, one after the other.
    fn written_out(&mut self, e: &ExprForLoop) -> Option<Expr> {
        let (range, reversed) = match &*e.expr {
            Expr::MethodCall(m) if m.method == "rev" && m.args.is_empty() => (&*m.receiver, true),
            other => (other, false),
        };
        let mut range = range;
        while let Expr::Paren(p) = range {
            range = &p.expr;
        }
        let Expr::Range(range) = range else { return None };
        let (lo, hi) = (range.start.as_deref()?, range.end.as_deref()?);
        if self.known.integer(lo).is_none() && self.known.integer(hi).is_none() {
            return None;
        }
        let closed = matches!(range.limits, syn::RangeLimits::Closed(_));
        let (lo, hi) = (self.known.value(lo)?, self.known.value(hi)?.saturating_add(i64::from(closed)));
        let name = match &*e.pat {
            Pat::Ident(name) if plain_name(&e.pat).is_some() => Some(name.ident.to_string()),
            Pat::Wild(_) => None,
            _ => return None,
        };
        let count = hi.saturating_sub(lo);
        if count > MOST {
            self.errors.at(range, format!("a loop over the dimension has at most {MOST} iterations, here {count}"));
            return Some(parse_quote!({}));
        }
        if let Some(span) = leaves(e) {
            self.errors.error(
                span,
                "a loop over the dimension is written out, so nothing is left here; put what follows under an `if`",
            );
            return Some(parse_quote!({}));
        }
        let mut order: Vec<i64> = (lo..hi).collect();
        if reversed {
            order.reverse();
        }
        let iterations = order.into_iter().map(|k| {
            let entered = self.known.enter();
            name.iter().for_each(|name| self.known.bind(name.clone(), Some(k)));
            let mut body = e.body.clone();
            self.visit_block_mut(&mut body);
            self.known.leave(entered);
            body
        });
        let iterations: Vec<Block> = iterations.collect();
        Some(parse_quote!({ #(#iterations)* }))
    }

    /// The names that a pattern binds hide those that are known.
    fn hide(&mut self, pattern: &Pat) {
        struct Names<'a>(&'a mut Known);
        impl<'ast> Visit<'ast> for Names<'_> {
            fn visit_pat_ident(&mut self, name: &'ast syn::PatIdent) {
                self.0.bind(name.ident.to_string(), None);
            }
        }
        Names(&mut self.known).visit_pat(pattern);
    }

    /// In what a macro is given, names alone are replaced.
    fn tokens(&self, tokens: TokenStream) -> TokenStream {
        let replaced = |tree: TokenTree| match tree {
            TokenTree::Ident(name) => match self.known.find(&name.to_string()) {
                Some(k) => {
                    let mut number = proc_macro2::Literal::i64_unsuffixed(k);
                    number.set_span(name.span());
                    TokenTree::Literal(number)
                }
                None => TokenTree::Ident(name),
            },
            TokenTree::Group(group) => {
                let mut made = Group::new(group.delimiter(), self.tokens(group.stream()));
                made.set_span(group.span());
                TokenTree::Group(made)
            }
            other => other,
        };
        tokens.into_iter().map(replaced).collect()
    }
}

impl VisitMut for Instance<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Path(path) = &mut *ty
            && path.qself.is_none()
            && let Some(last) = path.path.segments.last_mut()
            && let Some((shape, mut of, _)) = self.shape(last)
        {
            visit_mut::visit_type_mut(self, &mut of);
            (last.ident, last.arguments) = (shape, PathArguments::AngleBracketed(parse_quote!(<#of>)));
            return;
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_generic_argument_mut(&mut self, arg: &mut GenericArgument) {
        if self.is_dimension(arg) {
            let marker = format_ident!("Dim{}", self.d);
            *arg = parse_quote_spanned!(arg.span()=> ::diffkern::#marker);
        } else {
            visit_mut::visit_generic_argument_mut(self, arg);
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        let entered = self.known.enter();
        for stmt in &mut block.stmts {
            let constant = match stmt {
                Stmt::Item(syn::Item::Const(constant)) => self.known.integer(&constant.expr),
                _ => None,
            };
            visit_mut::visit_stmt_mut(self, stmt);
            match stmt {
                Stmt::Local(local) => self.hide(&local.pat),
                Stmt::Item(syn::Item::Const(item)) => self.known.bind(item.ident.to_string(), constant),
                Stmt::Item(_) | Stmt::Expr(..) | Stmt::Macro(_) => {}
            }
        }
        self.known.leave(entered);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        if let Expr::If(branch) = e
            && let Some(holds) = self.known.condition(&branch.cond)
        {
            let taken = match (holds, branch.else_branch.take()) {
                (true, _) => {
                    let block = &branch.then_branch;
                    parse_quote!(#block)
                }
                (false, Some((_, other))) => *other,
                (false, None) => parse_quote!({}),
            };
            *e = value_of(taken);
            self.visit_expr_mut(e);
            return;
        }
        if let Some(number) = self.known.integer(e).filter(|k| *k >= 0) {
            let number = LitInt::new(&number.to_string(), e.span());
            *e = parse_quote!(#number);
            return;
        }
        let other = match e {
            Expr::ForLoop(e) => self.written_out(e),
            Expr::Call(e) => self.call(e),
            _ => None,
        };
        match other {
            Some(other) => *e = other,
            None => visit_mut::visit_expr_mut(self, e),
        }
    }

    fn visit_expr_for_loop_mut(&mut self, e: &mut ExprForLoop) {
        self.visit_expr_mut(&mut e.expr);
        let entered = self.known.enter();
        self.hide(&e.pat);
        self.visit_block_mut(&mut e.body);
        self.known.leave(entered);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = self.tokens(std::mem::take(&mut mac.tokens));
    }
}

/// The name that a pattern is, without `mut` or `ref`.
fn plain_name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none() => {
            Some(&name.ident)
        }
        _ => None,
    }
}

/// A block that is one value is that value, so that a tuple may be taken apart.
fn value_of(block: Expr) -> Expr {
    match &block {
        Expr::Block(b) if b.label.is_none() => match b.block.stmts.as_slice() {
            [Stmt::Expr(value @ (Expr::Tuple(_) | Expr::Path(_) | Expr::Lit(_) | Expr::Call(_)), None)] => {
                value.clone()
            }
            _ => block,
        },
        _ => block,
    }
}

/// A `break` or `continue` that leaves this loop.
fn leaves(e: &ExprForLoop) -> Option<Span> {
    struct Find(Option<Span>);
    impl<'ast> Visit<'ast> for Find {
        fn visit_expr_break(&mut self, e: &'ast syn::ExprBreak) {
            self.0 = self.0.or(Some(e.break_token.span));
        }
        fn visit_expr_continue(&mut self, e: &'ast syn::ExprContinue) {
            self.0 = self.0.or(Some(e.continue_token.span));
        }
        fn visit_expr_for_loop(&mut self, _: &'ast ExprForLoop) {}
        fn visit_expr_while(&mut self, _: &'ast syn::ExprWhile) {}
    }
    let mut find = Find(None);
    find.visit_block(&e.body);
    find.0
}
