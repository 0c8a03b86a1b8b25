//! From IR to what the user's crate is given: the host function that launches a kernel, and its generated parts.

mod checks;
mod function;
mod growing;
mod kernel;
mod lanes;
mod law;
mod native;
mod signature;
mod table;
mod text;

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use crate::ir::Func;

pub use function::function;
pub use kernel::{fallback, kernel};
pub use law::{law_impl, law_method, law_name};
#[cfg(test)]
pub use text::text;

/// A function in its forms.
pub struct Forms {
    pub primal: Func,
    /// The primal as adjoints and tangents run it again.
    pub replay: Func,
    pub adjoint: Func,
    pub tangent: Func,
    /// Beside an adjoint kernel written by hand.
    pub clear: Option<Func>,
    /// The tangent of the adjoint, where second derivatives are asked for.
    pub second: Option<Func>,
}

/// A form of a device function that `func` calls: `path::vjp`, or `<M>::__stress_vjp` for a method of a law.
fn callee_form(func: &Func, path: &syn::Path, form: &str) -> TokenStream {
    if let [owner, method] = path.segments.iter().collect::<Vec<_>>().as_slice()
        && func.laws.iter().any(|law| owner.ident == law)
    {
        let (owner, name) = (&owner.ident, law_name(&method.ident.to_string(), form));
        return quote_spanned!(owner.span()=> <#owner>::#name);
    }
    let name = Ident::new(form, Span::call_site());
    let plain = path.segments.last().is_some_and(|last| last.arguments.is_empty());
    match form {
        "def" => quote!(<#path as ::diffkern::private::DiffFn>::def),
        "calls" => quote!(<#path as ::diffkern::private::DiffFn>::RECURSION_IS_REFUSED),
        // Mistakes are reported on the path.
        _ if plain => quote!(#path::#name),
        _ => quote_spanned!(path.span()=> <#path>::#name),
    }
}

/// How many device functions are below this one, each counted wherever it is called: without end, and so an error of the
/// compiler that names the way round, for one that calls itself.
fn calls(func: &Func) -> TokenStream {
    let below = func.callees.iter().map(|path| callee_form(func, path, "calls"));
    quote!(1usize #(+ #below)*)
}

/// `tokens` with one name for another.
pub fn replace_ident(tokens: TokenStream, from: &str, to: &str) -> TokenStream {
    tokens
        .into_iter()
        .map(|t| match t {
            TokenTree::Ident(i) if i == from => Ident::new(to, i.span()).into(),
            TokenTree::Group(g) => Group::new(g.delimiter(), replace_ident(g.stream(), from, to)).into(),
            other => other,
        })
        .collect()
}
