//! Bodies: types, paths, numbers, `comptime!`, attributes.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Block, Expr, GenericArgument, Ident, Pat, PathArguments, Stmt, Type, TypeParam, parse_quote,
    parse_quote_spanned,
};

use super::{Port, is_lint};
use crate::names::bare;

impl Port<'_> {
    /// What `comptime!` holds: one expression, or statements that end in one.
    fn known(&mut self, mac: &syn::Macro) -> Option<Expr> {
        if mac.path.segments.last().is_none_or(|s| s.ident != "comptime") {
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
            let mut real = real.clone();
            real.set_span(path.span());
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
                let span = first.ident.span();
                first.ident = real.clone();
                first.ident.set_span(span);
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
    Some(parse_quote_spanned!(mac.span()=> match (#value) { #pattern #guard => true, _ => false }))
}

/// `f32::MAX` and its like, whose letters are all large.
fn is_constant(path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|s| s.ident.to_string().chars().all(|c| !c.is_lowercase()))
}

fn renamed(name: &Ident) -> Ident {
    Ident::new(&format!("{}__", bare(name)), name.span())
}

/// The same number, of no type; `1f32` is a real one as well.
fn without_suffix(number: &syn::LitFloat) -> syn::LitFloat {
    let digits = number.base10_digits();
    let real = digits.contains(['.', 'e', 'E']);
    let text = if real { digits.to_owned() } else { format!("{digits}.0") };
    let span: Span = number.span();
    syn::LitFloat::new(&text, span)
}
