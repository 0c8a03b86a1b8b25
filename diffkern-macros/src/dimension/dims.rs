//! Which dimensions an item is over: `dims(2, 3)` in the brackets of its attribute, `const D: usize` among its parameters.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Expr, GenericArgument, GenericParam, Generics, Ident, LitInt, Path, PathArguments, Token};

use crate::diagnostics::Diagnostics;

/// The dimensions that there are.
pub const ALL: [u8; 2] = [2, 3];

/// The dimensions of an item, and what else is in the brackets.
pub struct Dims {
    pub all: Vec<u8>,
    pub span: Span,
    pub rest: TokenStream,
}

enum Argument {
    Dims(Span, TokenStream),
    Other(TokenStream),
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Ident) && input.peek2(syn::token::Paren) && input.fork().parse::<Ident>()? == "dims" {
            let name: Ident = input.parse()?;
            let list;
            syn::parenthesized!(list in input);
            return Ok(Argument::Dims(name.span(), list.parse()?));
        }
        let mut tokens = TokenStream::new();
        while !input.is_empty() && !input.peek(Token![,]) {
            tokens.extend([input.parse::<TokenTree>()?]);
        }
        Ok(Argument::Other(tokens))
    }
}

impl Dims {
    /// Takes `dims(..)` out of the arguments of an attribute, if it is there.
    pub fn take(args: &TokenStream, errors: &Diagnostics) -> Option<Dims> {
        let arguments = Punctuated::<Argument, Token![,]>::parse_terminated.parse2(args.clone()).ok()?;
        let (mut found, mut rest) = (None, Vec::new());
        for argument in arguments {
            match argument {
                Argument::Dims(span, _) if found.is_some() => errors.error(span, "`dims` is given twice"),
                Argument::Dims(span, list) => found = Some((span, list)),
                Argument::Other(tokens) => rest.push(tokens),
            }
        }
        let (span, list) = found?;
        Some(Dims { all: listed(span, list, errors), span, rest: quote!(#(#rest),*) })
    }

    /// Both, of an item that should say which.
    pub fn both(span: Span, rest: TokenStream) -> Dims {
        Dims { all: ALL.to_vec(), span, rest }
    }
}

/// The numbers of `dims(2, 3)`; both where there are mistakes among them.
fn listed(span: Span, list: TokenStream, errors: &Diagnostics) -> Vec<u8> {
    const WAY: &str = "write `dims(2, 3)`, `dims(2)` or `dims(3)`";
    let Ok(numbers) = Punctuated::<LitInt, Token![,]>::parse_terminated.parse2(list) else {
        errors.error(span, WAY);
        return ALL.to_vec();
    };
    let mut all = Vec::new();
    for number in &numbers {
        match number.base10_parse::<u8>() {
            Ok(d) if all.contains(&d) => errors.at(number, format!("the dimension {d} is given twice")),
            Ok(d) if ALL.contains(&d) => all.push(d),
            _ => errors.at(number, format!("there are two dimensions, 2 and 3: {WAY}")),
        }
    }
    if numbers.is_empty() {
        errors.error(span, WAY);
    }
    if all.is_empty() { ALL.to_vec() } else { all }
}

/// The name of the dimension among the parameters, which is taken out of them.
pub fn take_parameter(generics: &mut Generics) -> Option<Ident> {
    let name = parameter(generics)?;
    let params = std::mem::take(&mut generics.params);
    generics.params = params.into_iter().filter(|param| !is_named(param, &name)).collect();
    if generics.params.is_empty() {
        (generics.lt_token, generics.gt_token) = (None, None);
    }
    Some(name)
}

/// The first `const D: usize` among the parameters.
pub fn parameter(generics: &Generics) -> Option<Ident> {
    generics.params.iter().find_map(|param| match param {
        GenericParam::Const(c) if matches!(&c.ty, syn::Type::Path(ty) if ty.path.is_ident("usize")) => {
            Some(c.ident.clone())
        }
        _ => None,
    })
}

fn is_named(param: &GenericParam, name: &Ident) -> bool {
    matches!(param, GenericParam::Const(c) if c.ident == *name)
}

/// Whether the name is that of the dimension: there are vectors or matrices over it.
pub fn is_dimension(name: &Ident, visit: impl FnOnce(&mut dyn FnMut(&Path))) -> bool {
    let mut found = false;
    visit(&mut |path| {
        found |= path
            .segments
            .last()
            .is_some_and(|last| over(last).is_some_and(|(_, n)| mentions(n.into_token_stream(), &name.to_string())));
    });
    found
}

struct Paths<'a>(&'a mut dyn FnMut(&Path));

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast Path) {
        (self.0)(path);
        syn::visit::visit_path(self, path);
    }
}

/// Calls `each` with all paths of a function.
pub fn paths(item: &syn::ItemFn, each: &mut dyn FnMut(&Path)) {
    Paths(each).visit_item_fn(item);
}

/// The same of a type.
pub fn paths_of_type(ty: &syn::Type, each: &mut dyn FnMut(&Path)) {
    Paths(each).visit_type(ty);
}

/// Whether an identifier is among these tokens.
pub fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// Of `Vector<X, N>` and `Matrix<X, N>`: `X`, and `N` as an expression.
pub fn over(segment: &syn::PathSegment) -> Option<(syn::Type, Expr)> {
    if segment.ident != "Vector" && segment.ident != "Matrix" {
        return None;
    }
    let PathArguments::AngleBracketed(args) = &segment.arguments else { return None };
    let mut args = args.args.iter();
    match (args.next(), args.next().and_then(as_expression), args.next()) {
        (Some(GenericArgument::Type(of)), Some(n), None) => Some((of.clone(), n)),
        _ => None,
    }
}

/// An argument for a constant parameter: `D` reads as a type.
pub fn as_expression(arg: &GenericArgument) -> Option<Expr> {
    match arg {
        GenericArgument::Const(e) => Some(e.clone()),
        GenericArgument::Type(syn::Type::Path(ty)) if ty.qself.is_none() => {
            let path = ty.path.clone();
            Some(Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path }))
        }
        _ => None,
    }
}

/// An error for an attribute over the dimension on an item that is not.
pub fn no_parameter(dims: &Dims, errors: &Diagnostics) {
    errors.error(
        dims.span,
        "what is over the dimension has it as a parameter: `<F: Float, const D: usize>`, with vectors `Vector<F, D>`",
    );
}

/// An error for an item over the dimension that does not say which.
pub fn no_dims(generics: &Generics, what: &str, errors: &Diagnostics) {
    let param = generics.params.iter().find(|param| matches!(param, GenericParam::Const(_)));
    let span = param.map_or_else(Span::call_site, Spanned::span);
    errors.error(
        span,
        format!("say for which dimensions this is: `#[{what}(dims(2, 3))]`; another number is `#[comptime] n: u32`"),
    );
}
