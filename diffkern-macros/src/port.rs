//! What authors of CubeCL kernels write in another way, as the language has it. Structs and what the rest reads come after.
//!
//! | source | becomes |
//! |---|---|
//! | `fn k<F>(..) where F: Float` | `fn k<F: Float>(..)` |
//! | `<F: Float, N: Size>`, `Vector<F, N>`, `Line<F>` | `<F: Float>`, `F`: vectors of one component |
//! | `f::<F, N>(x)`, `N::value()`, `x.line_size()` | `f::<F>(x)`, `1` |
//! | `x: &[F]`, `y: &mut [F]` | `x: &Array<F>`, `y: &mut Array<F>` |
//! | `mut x: F` | `x: F`, and `let mut x = x;` |
//! | `n as f32`, `scale: f32` in a function over `F` | `n as F`, `scale: F` |
//! | `i.runtime()`, `n.comptime()` | `i`, `n` |
//! | `comptime!(e)`, `comptime!(2.0f32.sqrt())` | `(e)`, `(2.0.sqrt())`: numbers of the kernel's real type |
//! | `matches!(k, 1 \| 2)` | `match k { 1 \| 2 => true, _ => false }` |
//! | `#[comptime] let n = e;`, `#[allow(..)]` on a parameter | without |

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, Expr, FnArg, GenericArgument, GenericParam, Ident, ItemFn, Pat, PathArguments, Stmt, Type,
    TypeParam, TypeParamBound, WherePredicate, parse_quote, parse_quote_spanned,
};

use crate::diagnostics::Diagnostics;
use crate::parse::is_law;

/// Names of type parameters in what is generated.
const GENERATED: [&str; 3] = ["F", "K", "S"];

/// Rewrites `item`.
pub fn plain(item: &mut ItemFn, errors: &Diagnostics) {
    bounds(item);
    let real = crate::parse::generic_real(&item.sig.generics);
    let mut sizes = Vec::new();
    let mut others = Vec::new();
    let params = std::mem::take(&mut item.sig.generics.params);
    for param in params {
        match &param {
            GenericParam::Type(t) if is_size(t) => sizes.push(t.ident.clone()),
            GenericParam::Type(t) => {
                if real.as_ref() != Some(&t.ident) && is_law(t) && GENERATED.iter().any(|name| t.ident == name) {
                    others.push(t.ident.clone());
                }
                item.sig.generics.params.push(param);
            }
            _ => item.sig.generics.params.push(param),
        }
    }
    if item.sig.generics.params.is_empty() {
        (item.sig.generics.lt_token, item.sig.generics.gt_token) = (None, None);
    }
    let mut port = Port { errors, real, sizes, others, comptime: false };
    port.visit_generics_mut(&mut item.sig.generics);
    let mut changing = Vec::new();
    for arg in &mut item.sig.inputs {
        changing.extend(port.parameter(arg));
    }
    port.visit_return_type_mut(&mut item.sig.output);
    port.visit_block_mut(&mut item.block);
    let lets = changing.into_iter().map(|name| -> Stmt { parse_quote_spanned!(name.span()=> let mut #name = #name;) });
    item.block.stmts.splice(0..0, lets);
}

/// The bounds of a `where` at the parameters they are of; what is left is of other types.
fn bounds(item: &mut ItemFn) {
    let generics = &mut item.sig.generics;
    let Some(clause) = generics.where_clause.take() else { return };
    let mut left = syn::WhereClause { where_token: clause.where_token, predicates: Default::default() };
    for predicate in clause.predicates {
        let of = match &predicate {
            WherePredicate::Type(p) if p.lifetimes.is_none() => match &p.bounded_ty {
                Type::Path(path) => path.path.get_ident().cloned(),
                _ => None,
            },
            _ => None,
        };
        let param = generics.params.iter_mut().find_map(|param| match param {
            GenericParam::Type(t) if Some(&t.ident) == of.as_ref() => Some(t),
            _ => None,
        });
        match (param, predicate) {
            (Some(param), WherePredicate::Type(p)) => {
                param.colon_token = Some(p.colon_token);
                param.bounds.extend(p.bounds);
            }
            (_, predicate) => left.predicates.push(predicate),
        }
    }
    generics.where_clause = (!left.predicates.is_empty()).then_some(left);
}

fn is_size(param: &TypeParam) -> bool {
    param.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(t) => t.path.segments.last().is_some_and(|s| s.ident == "Size"),
        _ => false,
    })
}

/// Whether an attribute speaks to the compiler's lints only.
fn is_lint(attr: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"].iter().any(|name| attr.path().is_ident(name))
}

struct Port<'a> {
    errors: &'a Diagnostics,
    /// The real type of a generic function.
    real: Option<Ident>,
    /// Widths of vectors: type parameters that are gone.
    sizes: Vec<Ident>,
    /// Type parameters that what is generated has, too.
    others: Vec<Ident>,
    /// Inside of `comptime!`.
    comptime: bool,
}

impl Port<'_> {
    /// The name of a scalar parameter that changes.
    fn parameter(&mut self, arg: &mut FnArg) -> Option<Ident> {
        let FnArg::Typed(arg) = arg else { return None };
        arg.attrs.retain(|attr| !is_lint(attr));
        if let Type::Reference(r) = &mut *arg.ty {
            if let Type::Slice(slice) = &*r.elem {
                let elem = &slice.elem;
                *r.elem = parse_quote_spanned!(slice.span()=> Array<#elem>);
            }
            // An array of `f32` beside arrays of `F` would be a second real type.
            let real = self.real.take();
            self.visit_type_mut(&mut arg.ty);
            self.real = real;
        } else {
            self.visit_type_mut(&mut arg.ty);
        }
        match (&mut *arg.pat, &*arg.ty) {
            (Pat::Ident(name), ty) if name.mutability.is_some() => {
                name.mutability = None;
                (!matches!(ty, Type::Reference(_))).then(|| name.ident.clone())
            }
            _ => None,
        }
    }

    fn is_size(&self, ty: &Type) -> bool {
        match ty {
            Type::Path(path) => path.path.get_ident().is_some_and(|name| self.sizes.contains(name)),
            _ => false,
        }
    }

    /// The component of a vector whose width is a parameter.
    fn component(&self, ty: &Type) -> Option<Type> {
        let Type::Path(path) = ty else { return None };
        let last = path.path.segments.last()?;
        let PathArguments::AngleBracketed(args) = &last.arguments else { return None };
        let mut types = args.args.iter().map(|arg| match arg {
            GenericArgument::Type(t) => Some(t),
            _ => None,
        });
        match (last.ident.to_string().as_str(), types.next(), types.next(), types.next()) {
            ("Line", Some(elem), None, None) => elem.cloned(),
            ("Vector", Some(elem), Some(Some(size)), None) if self.is_size(size) => elem.cloned(),
            _ => None,
        }
    }

    /// A number in place of what tells a width.
    fn width(&self, e: &Expr) -> bool {
        match e {
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) if call.args.is_empty() && path.path.segments.len() == 2 => {
                    let segments = &path.path.segments;
                    segments[1].ident == "value" && self.sizes.contains(&segments[0].ident)
                }
                _ => false,
            },
            Expr::MethodCall(m) => m.args.is_empty() && (m.method == "line_size" || m.method == "vector_size"),
            _ => false,
        }
    }
}

impl Port<'_> {
    /// What `comptime!` holds: one expression, or statements that end in one.
    fn known(&mut self, mac: &syn::Macro) -> Option<Expr> {
        if !mac.path.segments.last().is_some_and(|s| s.ident == "comptime") {
            return None;
        }
        let mut inner = mac.parse_body::<Expr>().ok().or_else(|| {
            let stmts = mac.parse_body_with(Block::parse_within).ok()?;
            Some(parse_quote_spanned!(mac.span()=> { #(#stmts)* }))
        })?;
        let outside = std::mem::replace(&mut self.comptime, true);
        self.visit_expr_mut(&mut inner);
        self.comptime = outside;
        let whole = matches!(
            inner,
            Expr::Verbatim(_) | Expr::Path(_) | Expr::Lit(_) | Expr::Paren(_) | Expr::Block(_) | Expr::Macro(_)
        );
        Some(if whole { inner } else { parse_quote_spanned!(mac.span()=> (#inner)) })
    }
}

impl VisitMut for Port<'_> {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Some(elem) = self.component(ty) {
            *ty = elem;
        }
        if let (Type::Path(path), Some(real)) = (&mut *ty, &self.real)
            && path.path.is_ident("f32")
        {
            let real = Ident::new(&real.to_string(), path.span());
            *ty = parse_quote!(#real);
        }
        visit_mut::visit_type_mut(self, ty);
    }

    fn visit_type_param_mut(&mut self, param: &mut TypeParam) {
        if self.others.contains(&param.ident) {
            param.ident = renamed(&param.ident);
        }
        visit_mut::visit_type_param_mut(self, param);
    }

    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        if let Some(first) = path.segments.first_mut()
            && self.others.contains(&first.ident)
        {
            first.ident = renamed(&first.ident);
        }
        for segment in &mut path.segments {
            if let PathArguments::AngleBracketed(args) = &mut segment.arguments
                && args.args.iter().any(|arg| matches!(arg, GenericArgument::Type(t) if self.is_size(t)))
            {
                let kept = std::mem::take(&mut args.args).into_iter();
                args.args = kept.filter(|arg| !matches!(arg, GenericArgument::Type(t) if self.is_size(t))).collect();
                if args.args.is_empty() {
                    segment.arguments = PathArguments::None;
                }
            }
        }
        visit_mut::visit_path_mut(self, path);
    }

    fn visit_expr_path_mut(&mut self, path: &mut syn::ExprPath) {
        // A variable of the name is none of the type.
        if path.path.segments.len() > 1 || path.path.segments.iter().any(|s| !s.arguments.is_none()) {
            if let (Some(first), Some(real)) = (path.path.segments.first_mut(), &self.real)
                && first.ident == "f32"
                && path.path.segments.len() == 2
                && !is_constant(&path.path)
                && let Some(first) = path.path.segments.first_mut()
            {
                first.ident = Ident::new(&real.to_string(), first.ident.span());
            }
            visit_mut::visit_expr_path_mut(self, path);
        }
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        if self.width(e) {
            let one = syn::LitInt::new("1usize", e.span());
            *e = parse_quote!(#one);
            return;
        }
        if let Expr::MethodCall(m) = e
            && m.args.is_empty()
            && (m.method == "runtime" || m.method == "comptime")
        {
            let inner = std::mem::replace(&mut *m.receiver, Expr::Verbatim(Default::default()));
            *e = inner;
        }
        if let Expr::Macro(m) = e
            && let Some(inner) = self.known(&m.mac)
        {
            *e = inner;
            return;
        }
        if let Expr::Macro(m) = e
            && let Some(matched) = matches(&m.mac)
        {
            *e = matched;
        }
        if let (true, Expr::Call(call)) = (self.comptime, &*e)
            && let Expr::Path(path) = &*call.func
            && let Some(name) = path.path.get_ident()
            && !["select", "min", "max"].iter().any(|known| name == known)
        {
            self.errors.at(
                path,
                format!("`comptime!` cannot run `{name}`; call it on the host, and pass what it gives as a `#[comptime]` parameter"),
            );
            *e = Expr::Verbatim(Default::default());
        }
        visit_mut::visit_expr_mut(self, e);
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        if let Some(last) = block.stmts.last_mut()
            && let Stmt::Macro(m) = last
            && m.semi_token.is_none()
            && m.mac.path.is_ident("comptime")
        {
            *last = Stmt::Expr(Expr::Macro(syn::ExprMacro { attrs: Vec::new(), mac: m.mac.clone() }), None);
        }
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_lit_float_mut(&mut self, number: &mut syn::LitFloat) {
        let known = self.comptime && number.suffix() == "f64";
        if known || (number.suffix() == "f32" && (self.comptime || self.real.is_some())) {
            *number = without_suffix(number);
        }
    }

    fn visit_lit_mut(&mut self, lit: &mut syn::Lit) {
        if let syn::Lit::Int(number) = lit
            && matches!(number.suffix(), "f32" | "f64")
        {
            let text = format!("{}.0{}", number.base10_digits(), number.suffix());
            *lit = syn::Lit::Float(syn::LitFloat::new(&text, number.span()));
        }
        visit_mut::visit_lit_mut(self, lit);
    }

    /// What is left out or changed by an attribute cannot be seen.
    fn visit_attribute_mut(&mut self, attr: &mut Attribute) {
        let known = ["unroll", "bound", "comptime", "doc", "rustfmt", "clippy"];
        let name = attr.path().segments.first().map(|s| s.ident.to_string()).unwrap_or_default();
        if !is_lint(attr) && !known.contains(&name.as_str()) {
            self.errors.at(&*attr, format!("`#[{name}]` has no effect inside of a kernel; put it on the whole kernel"));
        }
    }

    fn visit_expr_for_loop_mut(&mut self, e: &mut syn::ExprForLoop) {
        e.attrs.retain(|attr| !is_lint(attr));
        visit_mut::visit_expr_for_loop_mut(self, e);
    }

    fn visit_expr_while_mut(&mut self, e: &mut syn::ExprWhile) {
        e.attrs.retain(|attr| !is_lint(attr));
        visit_mut::visit_expr_while_mut(self, e);
    }

    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        local.attrs.retain(|attr| !is_lint(attr) && !attr.path().is_ident("comptime"));
        visit_mut::visit_local_mut(self, local);
    }
}

/// `matches!(e, A | B)` as a `match`.
fn matches(mac: &syn::Macro) -> Option<Expr> {
    if !mac.path.is_ident("matches") {
        return None;
    }
    let parsed = mac.parse_body_with(|input: syn::parse::ParseStream<'_>| {
        let value: Expr = input.parse()?;
        input.parse::<syn::Token![,]>()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let guard: Option<(syn::Token![if], Expr)> = match input.parse::<Option<syn::Token![if]>>()? {
            Some(token) => Some((token, input.parse()?)),
            None => None,
        };
        input.parse::<Option<syn::Token![,]>>()?;
        Ok((value, pattern, guard.map(|(token, guard)| quote::quote!(#token #guard))))
    });
    let (value, pattern, guard) = parsed.ok()?;
    Some(parse_quote_spanned!(mac.span()=> match #value { #pattern #guard => true, _ => false }))
}

/// `f32::MAX` and its like, whose letters are all large.
fn is_constant(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|s| s.ident.to_string().chars().all(|c| !c.is_lowercase()))
}

fn renamed(name: &Ident) -> Ident {
    Ident::new(&format!("{name}__"), name.span())
}

/// The same number, of no type; `1f32` is a real one as well.
fn without_suffix(number: &syn::LitFloat) -> syn::LitFloat {
    let digits = number.base10_digits();
    let real = digits.contains(['.', 'e', 'E']);
    let text = if real { digits.to_owned() } else { format!("{digits}.0") };
    let span: Span = number.span();
    syn::LitFloat::new(&text, span)
}
