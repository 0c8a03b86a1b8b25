//! Methods of laws.

use diffkern_ir::Ty;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Ident, ItemFn};

use super::callee::{by_hand, by_hand_constant, calls, law_constant};
use super::native::{self, rust_type};
use super::signature::{allow, call_params, call_result, docs};
use super::table::fn_def;
use super::{Forms, lanes};
use crate::names::bare;
use crate::parse::{SigKind, Signature};
use crate::tangent::SECOND_ORDER;

/// The hidden method that is a form of a method of a law.
pub fn law_name(method: &Ident, form: &str) -> Ident {
    Ident::new(&format!("__{}_{form}", bare(method)), Span::call_site())
}

/// What a law says of a method: its forms, and the method itself for the host.
pub fn law_method(item: &ItemFn, sig: &Signature) -> TokenStream {
    let name = &item.sig.ident;
    let params: Vec<Ty> = sig
        .params
        .iter()
        .filter_map(|p| match p.kind {
            SigKind::Scalar { ty, .. } => Some(ty),
            SigKind::Array { .. } => None,
        })
        .collect();
    let real = |types: &[Ty]| -> Vec<Ty> { types.iter().copied().filter(|ty| ty.is_real()).collect() };
    let results = sig.results.clone();
    let (real_params, real_results) = (real(&params), real(&results));
    let form = |form: &str, args: Vec<Ty>, outcomes: Vec<Ty>| {
        let name = law_name(name, form);
        let args = args.into_iter().map(|ty| {
            let ty = rust_type(ty);
            quote!(_: #ty)
        });
        let output = tuple(&outcomes);
        quote! {
            #[doc(hidden)]
            #[allow(clippy::too_many_arguments)]
            fn #name<F: ::diffkern::Float>(#(#args),*) -> #output;
        }
    };
    let primal = form("primal", params.clone(), results.clone());
    let replay = form("replay", params.clone(), results.clone());
    let seeded = [params.clone(), real_results.clone()].concat();
    let vjp = form("vjp", seeded.clone(), real_params.clone());
    let (moved, moves) = ([&params[..], &real_params].concat(), [&results[..], &real_results].concat());
    let jvp = form("jvp", moved.clone(), moves.clone());
    let on_lanes = [
        ("primal", &params, &results),
        ("replay", &params, &results),
        ("vjp", &seeded, &real_params),
        ("jvp", &moved, &moves),
    ]
    .map(|(form, args, results)| lanes::declared(&law_name(name, form), &law_constant(name, form), args, results));
    let second = SECOND_ORDER.then(|| {
        let dots = [real_params.clone(), real_results.clone()].concat();
        let args = [params.clone(), real_results.clone(), dots].concat();
        form("second", args, [real_params.clone(), real_params.clone()].concat())
    });
    let (def, calls) = (law_name(name, "def"), law_name(name, "calls"));
    let by_hand = law_name(name, &by_hand_constant().to_string());
    let host = host_method(item, sig);
    quote! {
        #host
        #primal
        #replay
        #vjp
        #jvp
        #second
        #(#on_lanes)*
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        const #calls: ::core::primitive::usize;
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        const #by_hand: ::core::primitive::bool;
        #[doc(hidden)]
        fn #def() -> &'static ::diffkern::private::FnDef;
    }
}

fn host_method(item: &ItemFn, sig: &Signature) -> TokenStream {
    let (name, docs) = (&item.sig.ident, docs(item));
    let (names, types, args) = call_params(item, sig);
    let results: Vec<_> = sig.results.iter().map(|&ty| rust_type(ty)).collect();
    let primal = law_name(name, "primal");
    let (output, value) = call_result(sig, &results, quote!(Self::#primal::<F>(#(#args),*)));
    quote! {
        #(#docs)*
        #[must_use]
        fn #name<F: ::diffkern::Float>(#(#names: #types),*) -> #output {
            #value
        }
    }
}

/// The forms of a method, from its body.
pub fn law_impl(item: &ItemFn, forms: &Forms) -> TokenStream {
    let name = &item.sig.ident;
    let all = [(&forms.primal, "primal"), (&forms.replay, "replay"), (&forms.adjoint, "vjp"), (&forms.tangent, "jvp")];
    let on_lanes = all.iter().map(|(func, form)| {
        let (name, constant) = (law_name(name, form), law_constant(name, form));
        let constant = lanes::constant(func, &forms.source, &constant);
        let functions = lanes::functions(func, &forms.source, &name, lanes::Owner::Law);
        quote!(#constant #functions)
    });
    let on_lanes: Vec<_> = on_lanes.collect();
    let all = all.into_iter().chain(forms.second.iter().map(|second| (second, "second")));
    let bodies: Vec<_> = all.map(|(func, form)| native::method(func, &forms.source, &law_name(name, form))).collect();
    let (def, count) = (law_name(name, "def"), law_name(name, "calls"));
    let (by_hand, is_by_hand) = (law_name(name, &by_hand_constant().to_string()), by_hand(forms));
    let (table, calls, allow) = (fn_def(&bare(name), forms), calls(&forms.primal, &forms.source), allow());
    let bodies = bodies.iter().map(|body| quote!(#allow #[inline(always)] #body));
    quote! {
        #(#bodies)*
        #(#on_lanes)*
        #[allow(non_upper_case_globals)]
        const #count: ::core::primitive::usize = #calls;
        #[allow(non_upper_case_globals)]
        const #by_hand: ::core::primitive::bool = #is_by_hand;
        fn #def() -> &'static ::diffkern::private::FnDef {
            const { &#table }
        }
    }
}

fn tuple(types: &[Ty]) -> TokenStream {
    match types {
        [one] => rust_type(*one),
        types => {
            let types = types.iter().map(|ty| rust_type(*ty));
            quote!((#(#types),*))
        }
    }
}
