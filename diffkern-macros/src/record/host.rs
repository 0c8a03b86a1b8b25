//! What the host sees of a function with structs: its own signature.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use super::def::{Kind, Record};
use crate::ir::Ty;

/// A parameter as the host passes it.
pub struct HostParam {
    pub name: Ident,
    pub ty: TokenStream,
    /// The arguments of the launch, or of the function over the fields.
    pub args: Vec<TokenStream>,
}

/// The signature before it was rewritten.
#[derive(Default)]
pub struct HostSide {
    pub params: Vec<HostParam>,
    /// Type of the result, and how it is made from the values `r`.
    pub result: Option<(TokenStream, TokenStream)>,
}

/// The fields of `value`, all plain, as arguments of a device function.
pub fn fields(value: &TokenStream, record: &Record) -> Vec<TokenStream> {
    let leaf = |path: &[Ident]| quote!(#value #(.#path)*);
    record
        .leaves()
        .iter()
        .map(|leaf_of| match leaf_of.ty {
            Ty::Usize => {
                let field = leaf(&leaf_of.path);
                quote!((#field as u32))
            }
            _ => leaf(&leaf_of.path),
        })
        .collect()
}

/// The scalars of `value` as arguments of a launch.
pub fn scalars(value: &TokenStream, record: &Record) -> Vec<TokenStream> {
    let mut args = Vec::new();
    for leaf in record.leaves() {
        let path = &leaf.path;
        let field = quote!(#value #(.#path)*);
        match leaf.ty {
            Ty::Real => args.push(quote!(::diffkern::private::Arg::Real(::diffkern::Float::to_f64(#field)))),
            Ty::U32 => args.push(quote!(::diffkern::private::Arg::U32(#field))),
            Ty::I32 => args.push(quote!(::diffkern::private::Arg::I32(#field))),
            Ty::Usize => args.push(quote!(::diffkern::private::Arg::usize(#field)?)),
            Ty::Bool => args.push(quote!(::diffkern::private::Arg::Bool(#field))),
            Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => {
                for k in 0..leaf.ty.components() {
                    args.push(quote!(::diffkern::private::Arg::Real(::diffkern::Float::to_f64(#field.get(#k)))));
                }
            }
        }
    }
    args
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
                    quote!(#value as usize)
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
