//! `#[diff_struct]`: the struct with what arrays need, and the macro that tells its fields.

use diffkern_ir::Ty;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Fields, Ident, ItemStruct, Token};

use super::def::{Field, Kind, Record, Records};
use super::enums::Choice;
use super::find::missing_in_type;
use crate::diagnostics::Diagnostics;
use crate::dimension::{self, Struct};
use crate::home::Home;
use crate::names;
use crate::parse::value_type;

/// What `__resume!` is given: where the crate is, the structs known so far, the newest first, and where to go on.
pub struct Resume {
    pub home: Home,
    pub records: Records,
    pub what: Ident,
    pub args: TokenStream,
    pub item: TokenStream,
}

impl Parse for Resume {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let home;
        syn::bracketed!(home in input);
        let home = Home::parse(&home)?;
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
        Ok(Self { home, records, what, args: args.parse()?, item: input.parse()? })
    }
}

fn is_enum(input: ParseStream<'_>) -> bool {
    let fork = input.fork();
    let group: syn::Result<proc_macro2::Group> = fork.parse();
    group.is_ok_and(
        |group| matches!(group.stream().into_iter().next(), Some(proc_macro2::TokenTree::Ident(i)) if i == "enum"),
    )
}

/// The call of the macro of a struct that is missing.
pub fn ask(path: &syn::Path, known: &Records, what: &str, args: &TokenStream, item: &TokenStream) -> TokenStream {
    let records = known.all.iter().map(Record::tokens).chain(known.choices.iter().map(Choice::tokens));
    let what = Ident::new(what, Span::call_site());
    let asked = path.segments.last().map(|last| &last.ident);
    quote!(#path! { [::diffkern] #({ #records })* ; #asked #what (#args) #item })
}

pub fn declare(args: TokenStream, item: TokenStream) -> TokenStream {
    declare_with(args, item, &Records::default())
}

pub fn declare_with(args: TokenStream, tokens: TokenStream, known: &Records) -> TokenStream {
    let mut item: ItemStruct = match syn::parse2(tokens.clone()) {
        Ok(item) => item,
        Err(_) if syn::parse2::<syn::ItemEnum>(tokens.clone()).is_ok() => {
            return syn::Error::new(Span::call_site(), "on an enum stands `#[diff_enum]`").into_compile_error();
        }
        Err(e) => return e.into_compile_error(),
    };
    let errors = Diagnostics::default();
    let (dimension, rest) = dimension::of_struct(&args, &mut item, &errors);
    if !rest.is_empty() {
        errors.at(rest, "this attribute takes no argument but `dims(2, 3)` and `crate = path`");
    }
    let real = real_parameter(&item, &errors);
    for attr in item.attrs.iter().filter(|attr| attr.path().is_ident("repr")) {
        errors.at(
            attr,
            "an array holds the fields in a row, `repr(C)`, which a struct of the kernel language has; remove it",
        );
    }
    let Fields::Named(named) = &mut item.fields else {
        errors.at(&item.ident, "a struct of the kernel language has named fields");
        return errors.finish().err().map(syn::Error::into_compile_error).unwrap_or_default();
    };
    named.named.iter().for_each(|field| refuse_cfg(&field.attrs, "fields are counted", "structs", &errors));
    let mut instances = match &dimension {
        None => vec![(named.clone(), known.clone(), errors.apart())],
        Some(dimension) => {
            let at = |d| (dimension.fields(named, d, &errors), known.at(d), errors.apart());
            vec![at(2), at(3)]
        }
    };
    let types = instances.iter().flat_map(|(fields, ..)| fields.named.iter().map(|field| &field.ty));
    if let Some(path) = types.into_iter().find_map(|ty| missing_in_type(ty, real.as_ref(), known)) {
        return ask(&path, known, "diff_struct", &args, &tokens);
    }
    let mut all = Vec::new();
    for (fields, known, found) in &mut instances {
        all.push(declared(fields, (&item.ident, real.as_ref()), known, found));
    }
    let mut plain = None;
    for (fields, _, found) in instances {
        plain.get_or_insert(fields);
        // What is wrong in each dimension is reported once.
        if !errors.found() {
            errors.take(found);
        }
    }
    match (&dimension, plain) {
        (Some(dimension), _) => dimension.on_host(&mut item),
        (None, Some(plain)) => item.fields = Fields::Named(plain),
        (None, None) => {}
    }
    item.fields.iter_mut().for_each(|field| field.attrs.retain(|attr| !is_cfg(attr)));
    let mut all = all.into_iter();
    let record =
        Record { name: item.ident.clone(), real, fields: all.next().unwrap_or_default(), in_space: all.next() };
    let rest = written(&item, &record, dimension.as_ref().map(Struct::name));
    let error = errors.finish().err().map(syn::Error::into_compile_error);
    quote!(#error #rest)
}

/// The fields of a struct. Where a type is a mistake a number stands for it, so that uses of the struct are no mistakes as
/// well.
fn declared(
    named: &mut syn::FieldsNamed,
    (of, real): (&Ident, Option<&Ident>),
    known: &Records,
    errors: &Diagnostics,
) -> Vec<Field> {
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
                let way = format!("struct {of}<F> {{ {name}: F, .. }}");
                errors.at(&field.ty, format!("the reals of a struct are of its type parameter: `{way}`"));
                None
            }
            None => value_type(&field.ty, real, errors).map(Kind::Plain),
        };
        let kind = kind.unwrap_or_else(|| {
            let number = match real {
                Some(real) => (Ty::Real, real.clone()),
                None => (Ty::U32, Ident::new("u32", Span::call_site())),
            };
            field.ty = syn::Type::Path(syn::TypePath { qself: None, path: number.1.into() });
            Kind::Plain(number.0)
        });
        fields.push(Field { name, kind });
    }
    fields
}

/// What an attribute would leave out of an item after its macro has seen it whole.
pub fn refuse_cfg(attrs: &[syn::Attribute], seen: &str, of: &str, errors: &Diagnostics) {
    for attr in attrs.iter().filter(|attr| is_cfg(attr)) {
        errors.at(attr, format!("{seen} before this is looked at; put it on two {of}, one for each case"));
    }
}

/// Whether an attribute may leave something out.
pub fn is_cfg(attr: &syn::Attribute) -> bool {
    attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")
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

fn written(item: &ItemStruct, record: &Record, dimension: Option<&Ident>) -> TokenStream {
    let macros = teller(&item.ident, &item.vis, &record.tokens());
    let element = (record.is_real() && record.real.is_some()).then(|| element(item, record, dimension));
    let derives = derives(&item.attrs);
    quote! {
        #[repr(C)]
        #derives
        #item
        #macros
        #element
    }
}

/// The traits that a value has and its author has not derived below. What is derived above cannot be seen.
fn derives(attrs: &[syn::Attribute]) -> TokenStream {
    let mut written = Vec::new();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("derive")) {
        // What is wrong with it rustc says.
        let _ = attr.parse_nested_meta(|meta| {
            written.extend(meta.path.segments.last().map(|last| last.ident.clone()));
            Ok(())
        });
    }
    let missing = ["Clone", "Copy", "Debug", "PartialEq"].into_iter().filter(|name| !written.iter().any(|w| w == name));
    let missing: Vec<Ident> = missing.map(|name| Ident::new(name, Span::call_site())).collect();
    if missing.is_empty() { quote!() } else { quote!(#[derive(#(::core::prelude::v1::#missing),*)]) }
}

/// The macro of the name of a struct or an enum, which tells `tokens`.
pub fn teller(name: &Ident, vis: &syn::Visibility, tokens: &TokenStream) -> TokenStream {
    // Two of one name may be in one crate.
    let hidden = names::hidden("fields", name);
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
            ([$($home:tt)*] $($state:tt)*) => {
                $($home)*::__resume! { [$($home)*] { #tokens } $($state)* }
            };
        }

        #[doc(hidden)]
        #[allow(unused_imports)]
        #vis use #hidden as #name;
    }
}

/// An array holds structs of reals: their scalars in a row.
fn element(item: &ItemStruct, record: &Record, dimension: Option<&Ident>) -> TokenStream {
    let (name, real, dimension) = (&item.ident, &record.real, dimension.iter());
    let bounds = dimension.clone().map(|d| quote!(#d: ::diffkern::Dimension));
    let params = quote!(<#real: ::diffkern::Float #(, #bounds)*>);
    let this = quote!(#name<#real #(, #dimension)*>);
    let (fields, types): (Vec<_>, Vec<_>) = item.fields.iter().map(|f| (&f.ident, &f.ty)).unzip();
    quote! {
        impl #params ::diffkern::private::Sealed for #this {}

        // SAFETY: `repr(C)` over fields that are scalars of one type in a row, of which any bits are valid.
        unsafe impl #params ::diffkern::Element for #this {
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
