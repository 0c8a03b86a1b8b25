//! Laws: traits whose methods are device functions, so that a kernel can take one as a type parameter.
//!
//! ```text
//! trait Material { fn stress<F: Float>(f: F) -> F; }        + fn __stress_primal, _replay, _vjp, _jvp, _def
//! impl Material for Hooke { fn stress<F: Float>(f: F) -> F { .. } }      the same, from the body
//! M::stress(x) in a kernel over M: Material                  <M>::__stress_primal::<F>(x)
//! ```

use diffkern_ir::FuncKind;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute as Attr, Block, ImplItem, ItemFn, ItemImpl, ItemTrait, TraitItem};

use crate::attribute::Attribute;
use crate::diagnostics::Diagnostics;
use crate::dimension::Methods;
use crate::expand::{forms, translate};
use crate::parse::{SigKind, Signature};
use crate::record::{self, Records};
use crate::{dimension, emit, lower, parse, port};

/// `#[diff_trait] trait Law { fn method<F: Float>(..) -> ..; }`
pub fn expand_trait(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_trait_with(args, item, &Records::default())
}

/// Goes on when some structs are known.
pub fn expand_trait_with(args: TokenStream, tokens: TokenStream, records: &Records) -> TokenStream {
    let errors = Diagnostics::default();
    let (over, rest) = dimension::methods(&args, "diff_trait", &errors);
    if let Some(error) = no_arguments(&rest) {
        return error;
    }
    let item: ItemTrait = match syn::parse2(tokens.clone()) {
        Ok(item) => item,
        Err(e) => return e.into_compile_error(),
    };
    let mut functions = Vec::new();
    for entry in &item.items {
        match entry {
            TraitItem::Fn(method) => {
                if let Some(body) = &method.default {
                    errors.at(body, "a law has no default bodies; write the method in each `#[diff_impl]`");
                }
                let block = Block { brace_token: Default::default(), stmts: Vec::new() };
                functions.extend(function(&method.attrs, &method.sig, block, &over, &errors));
            }
            other => no_method(other, type_name_of_trait(other), &errors),
        }
    }
    if let Some(path) = functions.iter().find_map(|function| record::missing(function, records)) {
        return record::ask(&path, records, "diff_trait", &args, &tokens);
    }
    let mut methods = Vec::new();
    for mut original in functions {
        let (function, host) = translate(&mut original, FuncKind::DiffFn, records, &errors);
        if let Some(sig) = signature(&function, host, &errors) {
            methods.push(emit::law_method(&original, &sig));
        }
    }
    let ItemTrait { attrs, vis, unsafety, ident, generics, supertraits, .. } = &item;
    if !generics.params.is_empty() {
        errors.at(generics, "a law has no parameters; its methods are generic over the real type");
    }
    let colon = item.colon_token;
    let imports = emit::imports(&item);
    match over.finish(errors) {
        Ok(()) => quote! {
            #(#attrs)*
            #vis #unsafety trait #ident #colon #supertraits {
                #(#methods)*
            }
            #imports
        },
        Err(e) => e.into_compile_error(),
    }
}

/// `#[diff_impl] impl Law for Material { fn method<F: Float>(..) -> .. { .. } }`
pub fn expand_impl(args: TokenStream, item: TokenStream) -> TokenStream {
    expand_impl_with(args, item, &Records::default())
}

/// Goes on when some structs are known.
pub fn expand_impl_with(args: TokenStream, tokens: TokenStream, records: &Records) -> TokenStream {
    let errors = Diagnostics::default();
    let (over, rest) = dimension::methods(&args, "diff_impl", &errors);
    if let Some(error) = no_arguments(&rest) {
        return error;
    }
    let item: ItemImpl = match syn::parse2(tokens.clone()) {
        Ok(item) => item,
        Err(e) => return e.into_compile_error(),
    };
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
    let mut functions = Vec::new();
    for entry in &item.items {
        match entry {
            ImplItem::Fn(method) => {
                functions.extend(function(&method.attrs, &method.sig, method.block.clone(), &over, &errors));
            }
            other => no_method(other, type_name_of_impl(other), &errors),
        }
    }
    if let Some(path) = functions.iter().find_map(|function| record::missing(function, records)) {
        return record::ask(&path, records, "diff_impl", &args, &tokens);
    }
    let checks = functions.iter().map(|function| {
        let name = emit::law_name(&function.sig.ident, "calls");
        quote!(const _: ::core::primitive::usize = <#ty as #law>::#name;)
    });
    let checks: Vec<_> = checks.collect();
    let methods: Vec<_> =
        functions.into_iter().filter_map(|function| implemented(function, records, &errors)).collect();
    let (attrs, primitives, imports) = (&item.attrs, emit::primitives(), emit::imports(&item));
    match over.finish(errors) {
        Ok(()) => quote! {
            const _: () = {
                #primitives
                #(#attrs)*
                impl #law for #ty {
                    #(#methods)*
                }
            };
            #(#checks)*
            #imports
        },
        Err(e) => e.into_compile_error(),
    }
}

/// The forms of a method, if it has no mistakes.
fn implemented(mut original: ItemFn, records: &Records, errors: &Diagnostics) -> Option<TokenStream> {
    let found = errors.apart();
    let (function, host) = translate(&mut original, FuncKind::DiffFn, records, &found);
    let sig = signature(&function, host, &found);
    // What could not be translated would be reported again.
    let broken = found.found() && !records.all.is_empty();
    errors.take(found);
    let mut sig = sig.filter(|_| !broken)?;
    sig.laws.push("Self".into());
    let lowered = lower::lower(&function, &sig, FuncKind::DiffFn, errors);
    let forms = forms(lowered, &Attribute::default(), errors)?;
    Some(emit::law_impl(&function, &forms))
}

/// A method as a function, or as one for each dimension.
fn function(attrs: &[Attr], sig: &syn::Signature, block: Block, over: &Methods, errors: &Diagnostics) -> Vec<ItemFn> {
    for attr in attrs.iter().filter(|attr| record::is_cfg(attr)) {
        errors.at(attr, "a law has all its methods or none; put it on the whole law");
    }
    let block = Box::new(block);
    let function = ItemFn { attrs: attrs.to_vec(), vis: syn::Visibility::Inherited, sig: sig.clone(), block };
    let mut all = over.of(function, errors);
    all.iter_mut().for_each(|function| port::plain(function, errors));
    all
}

fn type_name_of_trait(item: &TraitItem) -> Option<&syn::Ident> {
    if let TraitItem::Type(ty) = item { Some(&ty.ident) } else { None }
}

fn type_name_of_impl(item: &ImplItem) -> Option<&syn::Ident> {
    if let ImplItem::Type(ty) = item { Some(&ty.ident) } else { None }
}

/// `name`: of an associated type, which is not reported again where it is used.
fn no_method(item: impl quote::ToTokens, name: Option<&syn::Ident>, errors: &Diagnostics) {
    errors.at(item, "a law has methods only, each a device function");
    if let Some(name) = name {
        errors.blame(name);
    }
}

fn no_arguments(args: &TokenStream) -> Option<TokenStream> {
    let message = "this attribute takes no argument but `crate = path`";
    (!args.is_empty()).then(|| syn::Error::new_spanned(args, message).into_compile_error())
}

/// Every law has the same forms of a method, whatever its body does, so arrays, which only some forms touch, stay outside.
fn signature(function: &ItemFn, host: parse::HostSide, errors: &Diagnostics) -> Option<Signature> {
    let mut sig = parse::signature(function, FuncKind::DiffFn, errors)?;
    for param in sig.params.iter().filter(|p| matches!(p.kind, SigKind::Array { .. })) {
        errors.error(param.span, "a method of a law takes values; read the elements in the kernel and pass them");
    }
    if sig.concrete || !sig.laws.is_empty() {
        errors.at(&function.sig.generics, "a method of a law is generic over the real type: `<F: Float>`");
    }
    if sig.results.is_empty() {
        errors.at(&function.sig.ident, "a device function returns a value: write `-> F`");
    }
    sig.host = host;
    Some(sig)
}
