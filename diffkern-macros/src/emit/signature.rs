//! What the host sees of a signature: generics, laws, parameters.

use diffkern_ir::Ty;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Ident, ItemFn};

use super::native::rust_type;
use super::replace_ident_by;
use crate::names::bare;
use crate::parse::{SigKind, Signature};

/// How the type of a function with laws among its type parameters is written.
pub(super) struct Laws {
    pub(super) names: Vec<Ident>,
    pub(super) params: Vec<syn::TypeParam>,
    /// `stress::<M>`
    pub(super) this: TokenStream,
    /// `<M>`
    pub(super) of_type: TokenStream,
    /// What follows the name in its declaration.
    pub(super) decl: TokenStream,
}

impl Laws {
    pub(super) fn of(sig: &Signature, name: &Ident) -> Laws {
        let params = sig.law_params.clone();
        let names: Vec<Ident> = params.iter().map(|p| p.ident.clone()).collect();
        if names.is_empty() {
            return Laws { names, params, this: quote!(#name), of_type: quote!(), decl: quote!({}) };
        }
        Laws {
            this: quote!(#name::<#(#names),*>),
            of_type: quote!(<#(#names),*>),
            decl: quote!(<#(#params),*> {
                #[doc(hidden)]
                __Never(::core::convert::Infallible, ::core::marker::PhantomData<fn() -> (#(#names,)*)>),
            }),
            names,
            params,
        }
    }
}

/// The generics of what the host calls, and what `F` is in its body.
pub(super) fn host_real(sig: &Signature) -> (TokenStream, TokenStream) {
    let laws = &sig.law_params;
    match &sig.real {
        Some(real) if sig.concrete => (quote!(<#(#laws),*>), quote!(::core::primitive::#real)),
        Some(_) => (quote!(<F: ::diffkern::Float #(, #laws)*>), quote!(F)),
        // Without reals nothing depends on F.
        None => (quote!(<#(#laws),*>), quote!(::core::primitive::f32)),
    }
}

/// A type of what the host calls.
pub(super) fn on_host(sig: &Signature, ty: TokenStream) -> TokenStream {
    match &sig.real {
        Some(real) if sig.concrete => replace_real(ty, real),
        _ => ty,
    }
}

/// `F` as `real` in a type of the signature.
pub(super) fn replace_real(tokens: TokenStream, real: &Ident) -> TokenStream {
    replace_ident_by(tokens, "F", &|span| {
        let mut real = real.clone();
        real.set_span(span);
        quote!(::core::primitive::#real)
    })
}

/// Names, types and arguments of a launch, as the host sees them: a struct is one parameter with several arguments.
pub(super) fn launch_params(item: &ItemFn, sig: &Signature) -> (Vec<Ident>, Vec<TokenStream>, Vec<TokenStream>) {
    let (mut names, mut types, mut args) = (Vec::new(), Vec::new(), Vec::new());
    for name in parameter_names(item) {
        if let Some(param) = sig.host.params.iter().find(|p| p.name == name) {
            types.push(param.ty.clone());
            args.extend(param.args.iter().cloned());
        } else if let Some(param) = sig.params.iter().find(|p| p.name == name) {
            types.push(launch_type(param.kind));
            args.push(launch_arg(&item.sig.ident, &name, param.kind));
        } else {
            continue;
        }
        names.push(name);
    }
    (names, types, args)
}

/// Names, types and arguments of a device function, as the host calls it.
pub(super) fn call_params(item: &ItemFn, sig: &Signature) -> (Vec<Ident>, Vec<TokenStream>, Vec<TokenStream>) {
    let (mut names, mut types, mut args) = (Vec::new(), Vec::new(), Vec::new());
    for name in parameter_names(item) {
        if let Some(param) = sig.host.params.iter().find(|p| p.name == name) {
            types.push(param.ty.clone());
            args.extend(param.args.iter().cloned());
        } else if let Some(param) = sig.params.iter().find(|p| p.name == name)
            && let SigKind::Scalar { ty, .. } = param.kind
        {
            types.push(rust_type(ty));
            args.push(quote!(#name));
        }
        names.push(name);
    }
    (names, types, args)
}

/// Type and value of what the host gets from `call`, whose results are of the types `results`.
pub(super) fn call_result(sig: &Signature, results: &[TokenStream], call: TokenStream) -> (TokenStream, TokenStream) {
    match (&sig.host.result, results) {
        (Some((ty, value)), _) => (ty.clone(), quote!({ let r = #call; #value })),
        (None, [one]) => (one.clone(), call),
        (None, all) => (quote!((#(#all),*)), call),
    }
}

fn parameter_names(item: &ItemFn) -> Vec<Ident> {
    let name = |arg: &syn::FnArg| match arg {
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(name) => Some(name.ident.clone()),
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    };
    item.sig.inputs.iter().filter_map(name).collect()
}

fn launch_type(kind: SigKind) -> TokenStream {
    match kind {
        SigKind::Array { elem, .. } => {
            let elem = rust_type(elem);
            quote!(&::diffkern::Array<#elem>)
        }
        SigKind::Scalar { ty: Ty::Usize, .. } => quote!(::core::primitive::usize),
        SigKind::Scalar { ty, .. } => rust_type(ty),
    }
}

fn launch_arg(kernel: &Ident, name: &Ident, kind: SigKind) -> TokenStream {
    match kind {
        SigKind::Array { .. } => quote!(::diffkern::private::Arg::Array(#name.as_any())),
        SigKind::Scalar { ty, .. } => match ty {
            Ty::U32 => quote!(::diffkern::private::Arg::U32(#name)),
            Ty::I32 => quote!(::diffkern::private::Arg::I32(#name)),
            Ty::Usize => index(kernel, &bare(name), &quote!(#name)),
            Ty::Bool => quote!(::diffkern::private::Arg::Bool(#name)),
            _ => quote!(::diffkern::private::Arg::Real(::diffkern::Float::to_f64(#name))),
        },
    }
}

/// An index argument of a launch, which says whose it is where it is too large.
pub fn index(kernel: &Ident, name: &str, value: &TokenStream) -> TokenStream {
    let kernel = bare(kernel);
    quote!(::diffkern::private::Arg::usize(#kernel, #name, #value)?)
}

/// A parameter that an author's of the same name does not clash with.
pub(super) fn unseen(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

pub(super) fn docs(item: &ItemFn) -> Vec<TokenStream> {
    item.attrs.iter().map(ToTokens::to_token_stream).collect()
}

/// The primitive types by their names, whatever these are where an item stands.
pub fn primitives() -> TokenStream {
    quote! {
        #[allow(unused_imports)]
        use ::core::primitive::{bool, f32, f64, i32, u32, usize};
    }
}

pub(super) fn allow() -> TokenStream {
    quote!(#[allow(unused, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)])
}
