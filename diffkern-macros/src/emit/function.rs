//! What stands in place of an annotated device function.
//!
//! `stress` stays callable on the host and becomes the type `stress`, by which kernels of any crate find its primal, vjp
//! and jvp.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ItemFn;

use super::callee::{by_hand, by_hand_constant, function_constant};
use super::imports::imports;
use super::native::rust_type;
use super::signature::{Laws, allow, call_params, call_result, docs, host_real, on_host, primitives};
use super::table::fn_def;
use super::{Forms, lanes, native};
use crate::names::bare;
use crate::parse::{SigKind, Signature};

pub fn function(item: &ItemFn, sig: &Signature, forms: &Forms) -> TokenStream {
    let (name, vis) = (&item.sig.ident, &item.vis);
    let docs = docs(item);
    let name_text = bare(name);
    let all = [(&forms.primal, "primal"), (&forms.replay, "replay"), (&forms.adjoint, "vjp"), (&forms.tangent, "jvp")];
    let generated = all.iter().copied();
    let generated = generated.chain(forms.second.iter().map(|second| (second, "second")));
    let bodies: Vec<_> =
        generated.map(|(func, name)| native::function(func, &forms.source, &format_ident!("{name}"))).collect();
    let lane_bodies = all
        .iter()
        .map(|(func, name)| lanes::functions(func, &forms.source, &format_ident!("{name}"), lanes::Owner::Function));
    let lane_constants = all.iter().map(|(func, name)| lanes::constant(func, &forms.source, &function_constant(name)));
    let (by_hand, is_by_hand) = (by_hand_constant(), by_hand(forms));
    let table = fn_def(&name_text, forms);
    let calls = super::callee::calls(&forms.primal, &forms.source);
    let takes = super::callee::takes(&forms.primal.call_types());
    let count = quote_spanned!(name.span()=> const RECURSION_IS_REFUSED: usize = #calls;);
    let Laws { params: laws, names: law_names, of_type, .. } = Laws::of(sig, name);
    let of_params = (!laws.is_empty()).then(|| quote!(<#(#laws),*>));
    // Of a function with laws, each instance is asked for where it is called.
    let finite = law_names
        .is_empty()
        .then(|| quote!(const _: usize = <#name as ::diffkern::private::DiffFn>::RECURSION_IS_REFUSED;));
    let (allow, primitives, imports) = (allow(), primitives(), imports(item));
    let host = host_function(item, sig, forms, &docs);
    quote! {
        #host

        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis struct #name #of_params {
            laws: ::core::marker::PhantomData<fn() -> (#(#law_names,)*)>,
        }

        #allow
        const _: () = {
            #primitives
            #finite

            #[doc(hidden)]
            impl<#(#laws),*> #name #of_type {
                #(#bodies)*
                #(#lane_bodies)*
            }

            impl<#(#laws),*> ::diffkern::private::#takes for #name #of_type {
                type Function = Self;
                const FUNCTION: Self = <Self as ::diffkern::private::DiffFn>::THIS;
            }

            impl<#(#laws),*> ::diffkern::private::DiffFn for #name #of_type {
                const THIS: Self = #name { laws: ::core::marker::PhantomData };
                #count
                #(#lane_constants)*
                const #by_hand: ::core::primitive::bool = #is_by_hand;

                fn def() -> &'static ::diffkern::private::FnDef {
                    const { &#table }
                }
            }
        };

        #imports
    }
}

/// The function itself, for the host; one that takes arrays lives in kernels only.
fn host_function(item: &ItemFn, sig: &Signature, forms: &Forms, docs: &[TokenStream]) -> TokenStream {
    if sig.params.iter().any(|p| matches!(p.kind, SigKind::Array { .. })) {
        return quote!();
    }
    let (name, vis) = (&item.sig.ident, &item.vis);
    let (names, types, args) = call_params(item, sig);
    let results: Vec<_> = forms.primal.body.yields.iter().map(|&id| rust_type(forms.primal.ty(id))).collect();
    let (generics, scalar) = host_real(sig);
    let this = Laws::of(sig, name).this;
    let call = quote!(<#this as ::diffkern::private::DiffFn>::THIS.primal::<#scalar>(#(#args),*));
    let (output, value) = call_result(sig, &results, call);
    let types: Vec<_> = types.into_iter().map(|ty| on_host(sig, ty)).collect();
    let output = on_host(sig, output);
    let allow = allow();
    quote! {
        #(#docs)*
        #allow
        #[must_use]
        #vis fn #name #generics(#(#names: #types),*) -> #output {
            #value
        }
    }
}
