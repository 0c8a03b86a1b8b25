//! Laws: traits whose methods are device functions, so that a kernel can take one as a type parameter.
//!
//! ```text
//! trait Material { fn stress<F: Float>(f: F) -> F; }        + fn __stress_primal, _replay, _vjp, _jvp, _def
//! impl Material for Hooke { fn stress<F: Float>(f: F) -> F { .. } }      the same, from the body
//! M::stress(x) in a kernel over M: Material                  <M>::__stress_primal::<F>(x)
//! ```

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ImplItem, ItemFn, ItemImpl, ItemTrait, TraitItem};

use crate::attribute::Attribute;
use crate::diagnostics::Diagnostics;
use crate::expand::forms;
use crate::ir::FuncKind;
use crate::parse::{SigKind, Signature};
use crate::{emit, lower, parse, port, spell};

/// `#[diff_trait] trait Law { fn method<F: Float>(..) -> ..; }`
pub fn expand_trait(args: TokenStream, item: TokenStream) -> TokenStream {
    let item: ItemTrait = match syn::parse2(item) {
        Ok(item) => item,
        Err(e) => return e.into_compile_error(),
    };
    let errors = Diagnostics::default();
    no_arguments(args, &errors);
    let mut methods = Vec::new();
    for entry in &item.items {
        match entry {
            TraitItem::Fn(method) => {
                if let Some(body) = &method.default {
                    errors.at(body, "a law has no default bodies; write the method in each `#[diff_impl]`");
                }
                let mut function = ItemFn {
                    attrs: method.attrs.clone(),
                    vis: syn::Visibility::Inherited,
                    sig: method.sig.clone(),
                    block: Box::new(syn::Block { brace_token: Default::default(), stmts: Vec::new() }),
                };
                port::plain(&mut function, &errors);
                if let Some(sig) = signature(&function, &errors) {
                    methods.push(emit::law_method(&function, &sig));
                }
            }
            TraitItem::Type(ty) => {
                errors.at(ty, "a law has methods only, each a device function");
                errors.blame(&ty.ident);
            }
            other => errors.at(other, "a law has methods only, each a device function"),
        }
    }
    let ItemTrait { attrs, vis, unsafety, ident, generics, supertraits, .. } = &item;
    if !generics.params.is_empty() {
        errors.at(generics, "a law has no parameters; its methods are generic over the real type");
    }
    let colon = item.colon_token;
    match errors.finish() {
        Ok(()) => quote! {
            #(#attrs)*
            #vis #unsafety trait #ident #colon #supertraits {
                #(#methods)*
            }
        },
        Err(e) => e.into_compile_error(),
    }
}

/// `#[diff_impl] impl Law for Material { fn method<F: Float>(..) -> .. { .. } }`
pub fn expand_impl(args: TokenStream, item: TokenStream) -> TokenStream {
    let item: ItemImpl = match syn::parse2(item) {
        Ok(item) => item,
        Err(e) => return e.into_compile_error(),
    };
    let errors = Diagnostics::default();
    no_arguments(args, &errors);
    let (ty, generics) = (&item.self_ty, &item.generics);
    if !generics.params.is_empty() {
        errors.at(generics, "the type that implements a law has no parameters");
    }
    let Some((_, law, _)) = &item.trait_ else {
        errors.at(
            ty,
            "`#[diff_impl]` is for `impl Law for Type`; a method of a struct is a `#[diff_fn]`, \
             `fn area<F: Float>(b: Body<F>) -> F`",
        );
        return errors.finish().err().map(syn::Error::into_compile_error).unwrap_or_default();
    };
    let mut methods = Vec::new();
    for entry in &item.items {
        match entry {
            ImplItem::Fn(method) => {
                let mut function = ItemFn {
                    attrs: method.attrs.clone(),
                    vis: syn::Visibility::Inherited,
                    sig: method.sig.clone(),
                    block: Box::new(method.block.clone()),
                };
                port::plain(&mut function, &errors);
                spell::plain(&mut function, &errors);
                let Some(mut sig) = signature(&function, &errors) else { continue };
                sig.laws.push("Self".into());
                let func = lower::lower(&function, &sig, FuncKind::DiffFn, &errors);
                if let Some(forms) = forms(func, &Attribute::default(), &errors) {
                    methods.push(emit::law_impl(&function, &sig, &forms));
                }
            }
            ImplItem::Type(ty) => {
                errors.at(ty, "a law has methods only, each a device function");
                errors.blame(&ty.ident);
            }
            other => errors.at(other, "a law has methods only, each a device function"),
        }
    }
    let checks = item.items.iter().filter_map(|entry| match entry {
        ImplItem::Fn(method) => {
            let name = emit::law_name(&method.sig.ident.to_string(), "calls");
            Some(quote!(const _: usize = <#ty as #law>::#name;))
        }
        _ => None,
    });
    let attrs = &item.attrs;
    match errors.finish() {
        Ok(()) => quote! {
            #(#attrs)*
            impl #law for #ty {
                #(#methods)*
            }
            #(#checks)*
        },
        Err(e) => e.into_compile_error(),
    }
}

fn no_arguments(args: TokenStream, errors: &Diagnostics) {
    if !args.is_empty() {
        errors.at(args, "this attribute takes no arguments");
    }
}

/// Every law has the same forms of a method, whatever its body does, so arrays, which only some forms touch, stay outside.
fn signature(function: &ItemFn, errors: &Diagnostics) -> Option<Signature> {
    let sig = parse::signature(function, FuncKind::DiffFn, errors)?;
    for param in sig.params.iter().filter(|p| matches!(p.kind, SigKind::Array { .. })) {
        errors.error(param.span, "a method of a law takes values; read the elements in the kernel and pass them");
    }
    if sig.concrete || !sig.laws.is_empty() {
        errors.at(&function.sig.generics, "a method of a law is generic over the real type: `<F: Float>`");
    }
    if sig.results.is_empty() {
        errors.at(&function.sig.ident, "a device function returns a value: write `-> F`");
    }
    Some(sig)
}
