//! `name::text()`, `adjoint_text()` and `tangent_text()`: what was generated, with the names of the source.

use std::collections::BTreeSet;

use diffkern_ir::{Func, print, with_names};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use super::Forms;
use crate::attribute::Attribute;

/// The functions of a kernel's type. They are compiled where they are called, so others pay nothing for them.
pub(super) fn texts(forms: &Forms, attribute: &Attribute) -> TokenStream {
    let primal = generated(&forms.primal, quote!(primal));
    let adjoint = form(&forms.adjoint, quote!(adjoint), attribute.vjp.as_ref());
    let tangent = form(&forms.tangent, quote!(tangent), attribute.jvp.as_ref());
    quote! {
        /// The kernel as the intermediate representation that all its forms are made of, one statement a line; values have
        /// the names of the source, and `@` says the line.
        #[inline]
        pub fn text() -> ::std::string::String {
            #primal
        }

        /// The adjoint as it was generated; the adjoint of `x` is `x_bar`. The first thing to look at when a gradient
        /// surprises.
        #[inline]
        pub fn adjoint_text() -> ::std::string::String {
            #adjoint
        }

        /// The tangent as it was generated; the tangent of `x` is `x_dot`.
        #[inline]
        pub fn tangent_text() -> ::std::string::String {
            #tangent
        }
    }
}

fn form(func: &Func, name: TokenStream, by_hand: Option<&Path>) -> TokenStream {
    match by_hand {
        Some(path) => quote_spanned!(path.span()=> #path::text()),
        None => generated(func, name),
    }
}

fn generated(func: &Func, form: TokenStream) -> TokenStream {
    let names = names(func);
    quote!(::diffkern::private::with_names(&Self::DEF.#form, #names))
}

/// `3 sum 7 sum_bar`: the values of the text that have a name.
fn names(func: &Func) -> String {
    let mut shown = BTreeSet::new();
    with_names(&print(func, &|_| 0), |id| {
        shown.insert(id);
        None
    });
    let named = shown.iter().filter_map(|id| Some(format!("{} {}", id.0, func.names.get(id)?)));
    named.collect::<Vec<_>>().join(" ")
}
