//! Names of `diffkern` that the source has and what is generated has not: without these uses of them, their imports would be
//! called unused.
//!
//! A name that is imported from somewhere else is an error on the name, where it is a type: the kernel would be of another.
//! One that is not imported at all is the library's.

use proc_macro2::{Ident, Spacing, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use super::signature::allow;

const TYPES: [&str; 7] = ["Array", "Vec2", "Vec3", "Vec4", "Mat2", "Mat3", "Quat"];

/// An item that uses each such name of `source` as it is imported there.
pub fn imports(source: impl ToTokens) -> TokenStream {
    let mut names = Vec::new();
    collect(source.to_token_stream(), &mut names);
    let (types, traits): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| name != "Float");
    if types.is_empty() && traits.is_empty() {
        return quote!();
    }
    let allow = allow();
    let types = types.into_iter().map(|name| {
        let value = Ident::new("value", name.span());
        quote! {
            const _: () = {
                fn imported<F: ::diffkern::Float>(#value: ::diffkern::#name<F>) {
                    let _: #name<F> = #value;
                }
            };
        }
    });
    // What the module has comes before what the outer block has.
    quote! {
        #allow
        const _: () = {
            use ::diffkern::prelude::*;
            const _: () = {
                use self::*;
                fn bounds<F: #(#traits +)*>() {}
                #(#types)*
            };
        };
    }
}

/// The names, each once, where they stand alone or first in a path.
fn collect(tokens: TokenStream, found: &mut Vec<Ident>) {
    let mut within_a_path = false;
    for tree in tokens {
        match &tree {
            TokenTree::Ident(name) => {
                let known = TYPES.iter().any(|known| name == known) || name == "Float";
                if known && !within_a_path && !found.contains(name) {
                    found.push(name.clone());
                }
            }
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        // Of `::` the first sign is joined to the second.
        within_a_path = match &tree {
            TokenTree::Punct(p) if p.as_char() == ':' => within_a_path || p.spacing() == Spacing::Joint,
            _ => false,
        };
    }
}
