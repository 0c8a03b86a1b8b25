//! `#[diff_struct]`: the struct with what arrays need, and the macro that tells its fields.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Fields, Ident, ItemStruct, Token};

use super::def::{Field, Kind, Record, Records};
use super::enums::Choice;
use super::find::missing_in_type;
use crate::diagnostics::Diagnostics;
use crate::expand;
use crate::ir::{FuncKind, Ty};
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
        let newest_is_enum = input.peek(syn::token::Brace) && is_enum(input);
        while input.peek(syn::token::Brace) {
            let inner;
            syn::braced!(inner in input);
            if inner.peek(Token![enum]) {
                records.choices.push(inner.parse()?);
            } else {
                records.all.push(inner.parse()?);
            }
        }
        input.parse::<Token![;]>()?;
        // The newest was asked for by this name, which an import may have given it.
        let asked: Ident = input.parse()?;
        match newest_is_enum {
            true => records.choices.first_mut().into_iter().for_each(|choice| choice.name = asked.clone()),
            false => records.all.first_mut().into_iter().for_each(|record| record.name = asked.clone()),
        }
        let what = input.parse()?;
        let args;
        syn::parenthesized!(args in input);
        Ok(Self { records, what, args: args.parse()?, item: input.parse()? })
    }
}

fn is_enum(input: ParseStream<'_>) -> bool {
    let fork = input.fork();
    let group: syn::Result<proc_macro2::Group> = fork.parse();
    group.is_ok_and(
        |group| matches!(group.stream().into_iter().next(), Some(proc_macro2::TokenTree::Ident(i)) if i == "enum"),
    )
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
    let records = known.all.iter().map(Record::tokens).chain(known.choices.iter().map(Choice::tokens));
    let what = Ident::new(what, Span::call_site());
    let asked = path.segments.last().map(|last| &last.ident);
    quote!(#path! { #({ #records })* ; #asked #what (#args) #item })
}

pub fn declare(args: TokenStream, item: TokenStream) -> TokenStream {
    if !args.is_empty() {
        return syn::Error::new_spanned(args, "this attribute takes no arguments").into_compile_error();
    }
    declare_with(item, &Records::default())
}

fn declare_with(tokens: TokenStream, known: &Records) -> TokenStream {
    let mut item: ItemStruct = match syn::parse2(tokens.clone()) {
        Ok(item) => item,
        Err(_) if syn::parse2::<syn::ItemEnum>(tokens.clone()).is_ok() => {
            return syn::Error::new(Span::call_site(), "on an enum stands `#[diff_enum]`").into_compile_error();
        }
        Err(e) => return e.into_compile_error(),
    };
    let errors = Diagnostics::default();
    let real = real_parameter(&item, &errors);
    let Fields::Named(named) = &mut item.fields else {
        errors.at(&item.ident, "a struct of the kernel language has named fields");
        return errors.finish().err().map(syn::Error::into_compile_error).unwrap_or_default();
    };
    for field in &named.named {
        if let Some(path) = missing_in_type(&field.ty, real.as_ref(), known) {
            return ask(&path, known, "diff_struct", &TokenStream::new(), &tokens);
        }
    }
    let mut fields = Vec::new();
    for field in &mut named.named {
        let Some(name) = field.ident.clone() else { continue };
        let kind = match known.of(&field.ty) {
            Some(inner) => Some(Kind::Record(inner.clone())),
            None if known.choice_of(&field.ty) => {
                errors.at(&field.ty, "a struct holds values; an enum is a parameter of its own");
                None
            }
            None if crate::parse::argument(&field.ty, "Array").is_some() => {
                errors.at(&field.ty, "a struct holds values; an array is a parameter of its own");
                None
            }
            None if real.is_none() && is_concrete(&field.ty) => {
                let way = format!("struct {}<F> {{ {name}: F, .. }}", item.ident);
                errors.at(&field.ty, format!("the reals of a struct are of its type parameter: `{way}`"));
                None
            }
            None => value_type(&field.ty, real.as_ref(), &errors).map(Kind::Plain),
        };
        // Where the type is a mistake a number stands for it, so that uses of the struct are no mistakes as well.
        let kind = kind.unwrap_or_else(|| {
            let number = match &real {
                Some(real) => (Ty::Real, real.clone()),
                None => (Ty::U32, Ident::new("u32", Span::call_site())),
            };
            field.ty = syn::Type::Path(syn::TypePath { qself: None, path: number.1.into() });
            Kind::Plain(number.0)
        });
        fields.push(Field { name, kind });
    }
    let record = Record { name: item.ident.clone(), real, fields };
    match errors.finish() {
        Ok(()) => written(&item, &record),
        Err(e) => {
            let (error, rest) = (e.into_compile_error(), written(&item, &record));
            quote!(#error #rest)
        }
    }
}

fn is_concrete(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.is_ident("f32") || path.path.is_ident("f64"))
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
    let macros = teller(&item.ident, &item.vis, &record.tokens());
    let element = (record.is_real() && record.real.is_some()).then(|| element(item, record));
    quote! {
        #[repr(C)]
        #[derive(Clone, Copy, Debug, PartialEq)]
        #item
        #macros
        #element
    }
}

/// The macro of the name of a struct or an enum, which tells `tokens`.
pub fn teller(name: &Ident, vis: &syn::Visibility, tokens: &TokenStream) -> TokenStream {
    // Two of one name may be in one crate, so the place is part of the name.
    let place = place(name.span());
    let hidden = format_ident!("__diffkern_{name}_{place}");
    // A macro that other crates can name is exported at the root of the crate; the import gives it the struct's path.
    let (export, vis) = match vis {
        syn::Visibility::Public(_) => (quote!(#[macro_export]), quote!(pub)),
        _ => (quote!(), quote!(pub(crate))),
    };
    quote! {
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
    }
}

/// A number for the place in the source, the same in every build of it.
fn place(span: Span) -> String {
    let start = span.start();
    let text = format!("{}:{}:{}", span.file(), start.line, start.column);
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
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
