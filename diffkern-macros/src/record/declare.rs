//! `#[diff_struct]`: the struct with what arrays need, and the macro that tells its fields.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Fields, Ident, ItemStruct, Token};

use super::def::{Field, Kind, Record, Records};
use super::find::missing_in_type;
use crate::diagnostics::Diagnostics;
use crate::expand;
use crate::ir::FuncKind;
use crate::parse::value_type;

/// What `__resume!` is given: the structs known so far, the newest first, and where to go on.
struct Resume {
    records: Records,
    what: Ident,
    args: TokenStream,
    item: TokenStream,
}

impl Parse for Resume {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut records = Records::default();
        while input.peek(syn::token::Brace) {
            let inner;
            syn::braced!(inner in input);
            records.all.push(inner.parse()?);
        }
        input.parse::<Token![;]>()?;
        let what = input.parse()?;
        let args;
        syn::parenthesized!(args in input);
        Ok(Self { records, what, args: args.parse()?, item: input.parse()? })
    }
}

/// Goes on with an item when one more struct is known.
pub fn resume(input: TokenStream) -> TokenStream {
    let resume: Resume = match syn::parse2(input) {
        Ok(resume) => resume,
        Err(e) => return e.into_compile_error(),
    };
    match resume.what.to_string().as_str() {
        "diff_kernel" => expand::expand_with(resume.args, resume.item, FuncKind::Kernel, &resume.records),
        "diff_fn" => expand::expand_with(resume.args, resume.item, FuncKind::DiffFn, &resume.records),
        _ => declare_with(resume.item, &resume.records),
    }
}

/// The call of the macro of a struct that is missing.
pub fn ask(path: &syn::Path, known: &Records, what: &str, args: &TokenStream, item: &TokenStream) -> TokenStream {
    let records = known.all.iter().map(Record::tokens);
    let what = Ident::new(what, Span::call_site());
    quote!(#path! { #({ #records })* ; #what (#args) #item })
}

pub fn declare(args: TokenStream, item: TokenStream) -> TokenStream {
    if !args.is_empty() {
        return syn::Error::new_spanned(args, "this attribute takes no arguments").into_compile_error();
    }
    declare_with(item, &Records::default())
}

fn declare_with(tokens: TokenStream, known: &Records) -> TokenStream {
    let item: ItemStruct = match syn::parse2(tokens.clone()) {
        Ok(item) => item,
        Err(e) => return e.into_compile_error(),
    };
    let errors = Diagnostics::default();
    let real = real_parameter(&item, &errors);
    let Fields::Named(named) = &item.fields else {
        errors.at(&item.ident, "a struct of the kernel language has named fields");
        return errors.finish().err().map(syn::Error::into_compile_error).unwrap_or_default();
    };
    for field in &named.named {
        if let Some(path) = missing_in_type(&field.ty, real.as_ref(), known) {
            return ask(&path, known, "diff_struct", &TokenStream::new(), &tokens);
        }
    }
    let mut fields = Vec::new();
    for field in &named.named {
        let Some(name) = field.ident.clone() else { continue };
        let kind = match known.of(&field.ty) {
            Some(inner) => Some(Kind::Record(inner.clone())),
            None => value_type(&field.ty, real.as_ref(), &errors).map(Kind::Plain),
        };
        fields.extend(kind.map(|kind| Field { name, kind }));
    }
    let record = Record { name: item.ident.clone(), real, fields };
    match errors.finish() {
        Ok(()) => written(&item, &record),
        Err(e) => e.into_compile_error(),
    }
}

fn real_parameter(item: &ItemStruct, errors: &Diagnostics) -> Option<Ident> {
    let mut real = None;
    for param in &item.generics.params {
        match param {
            syn::GenericParam::Type(t) if real.is_none() => real = Some(t.ident.clone()),
            other => errors.at(other, "a struct of the kernel language has one parameter, its real type"),
        }
    }
    real
}

fn written(item: &ItemStruct, record: &Record) -> TokenStream {
    let (name, generics) = (&item.ident, &item.generics);
    let hidden = format_ident!("__diffkern_{name}");
    let tokens = record.tokens();
    // A macro that other crates can name is exported at the root of the crate; the import gives it the struct's path.
    let (export, vis) = match &item.vis {
        syn::Visibility::Public(_) => (quote!(#[macro_export]), quote!(pub)),
        _ => (quote!(), quote!(pub(crate))),
    };
    let element = (record.is_real() && record.real.is_some()).then(|| element(item, record));
    let _ = generics;
    quote! {
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq)]
        #item

        #[doc(hidden)]
        #export
        #[allow(unused_macros)]
        macro_rules! #hidden {
            ($($state:tt)*) => {
                ::diffkern::__resume! { { #tokens } $($state)* }
            };
        }

        #[doc(hidden)]
        #[allow(unused_imports)]
        #vis use #hidden as #name;

        #element
    }
}

/// An array holds structs of reals: their scalars in a row.
fn element(item: &ItemStruct, record: &Record) -> TokenStream {
    let (name, real) = (&item.ident, &record.real);
    let (fields, types): (Vec<_>, Vec<_>) = item.fields.iter().map(|f| (&f.ident, &f.ty)).unzip();
    quote! {
        impl<#real: ::diffkern::Float> ::diffkern::private::Sealed for #name<#real> {}

        // SAFETY: `repr(C)` over fields that are scalars of one type in a row, of which any bits are valid.
        unsafe impl<#real: ::diffkern::Float> ::diffkern::Element for #name<#real> {
            type Scalar = #real;
            const COMPONENTS: usize = 0 #(+ <#types as ::diffkern::Element>::COMPONENTS)*;
            const ELEM: ::diffkern::private::ElemTy = ::diffkern::private::ElemTy::Real;
            const PARTS: usize = <Self as ::diffkern::Element>::COMPONENTS;
            const ZERO: Self = #name { #(#fields: <#types as ::diffkern::Element>::ZERO),* };

            fn plus(self, other: Self) -> Self {
                #name { #(#fields: ::diffkern::Element::plus(self.#fields, other.#fields)),* }
            }
        }
    }
}
