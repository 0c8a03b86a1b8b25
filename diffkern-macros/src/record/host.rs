//! What the host sees of a function with structs: its own signature.

use diffkern_ir::Ty;
use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use super::def::{Kind, Record};
use crate::names::bare;

/// The fields of `value`, all plain, as arguments of a device function.
pub fn fields(value: &TokenStream, record: &Record) -> Vec<TokenStream> {
    let leaf = |path: &[Ident]| quote!(#value #(.#path)*);
    record
        .leaves()
        .iter()
        .map(|leaf_of| match leaf_of.ty {
            Ty::Usize => {
                let field = leaf(&leaf_of.path);
                quote!((#field as ::core::primitive::u32))
            }
            _ => leaf(&leaf_of.path),
        })
        .collect()
}

/// The scalars of a parameter as arguments of a launch.
pub fn scalars(kernel: &Ident, param: &Ident, record: &Record) -> Vec<TokenStream> {
    let leaf = |leaf: super::def::Leaf| {
        let path = &leaf.path;
        let names: Vec<String> = std::iter::once(param).chain(path).map(bare).collect();
        plain(kernel, &names.join("."), &quote!(#param #(.#path)*), leaf.ty)
    };
    record.leaves().into_iter().flat_map(leaf).collect()
}

/// The scalars of a value of a plain type; `name` is what the author calls it.
pub fn plain(kernel: &Ident, name: &str, value: &TokenStream, ty: Ty) -> Vec<TokenStream> {
    let real = |value: TokenStream| quote!(::diffkern::private::Arg::Real(::diffkern::Float::to_f64(#value)));
    match ty {
        Ty::Real => vec![real(value.clone())],
        Ty::U32 => vec![quote!(::diffkern::private::Arg::U32(#value))],
        Ty::I32 => vec![quote!(::diffkern::private::Arg::I32(#value))],
        Ty::Usize => vec![crate::emit::index(kernel, name, value)],
        Ty::Bool => vec![quote!(::diffkern::private::Arg::Bool(#value))],
        Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => (0..ty.components()).map(|k| real(quote!(#value.get(#k)))).collect(),
    }
}

/// The struct from the values `next`, one after the other.
pub fn rebuild(ty: &syn::Path, record: &Record, next: &mut impl Iterator<Item = TokenStream>) -> TokenStream {
    let fields: Vec<TokenStream> = record
        .fields
        .iter()
        .map(|field| {
            let name = &field.name;
            let value = match &field.kind {
                Kind::Plain(Ty::Usize) => {
                    let value = next.next();
                    quote!(#value as ::core::primitive::usize)
                }
                Kind::Plain(_) => {
                    let value = next.next();
                    quote!(#value)
                }
                // A nested struct is named through the type of its field only.
                Kind::Record(inner) => {
                    let path = syn::Path::from(inner.name.clone());
                    rebuild(&path, inner, next)
                }
            };
            quote!(#name: #value)
        })
        .collect();
    quote!(#ty { #(#fields),* })
}
