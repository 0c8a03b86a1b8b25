//! Parameters and results that are structs.

use diffkern_ir::FuncKind;
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, Pat, Stmt, Type, parse_quote, parse_quote_spanned};

use super::def::Record;
use super::host;
use super::rewrite::{Rewrite, Var};
use super::values::{compose, leaf_name, parts, plain_type};
use crate::parse::{HostParam, HostSide};

impl Rewrite<'_> {
    pub(super) fn parameters(&mut self, item: &mut ItemFn, kind: FuncKind, side: &mut HostSide) -> Vec<Stmt> {
        let mut prelude = Vec::new();
        let mut inputs = syn::punctuated::Punctuated::new();
        for arg in std::mem::take(&mut item.sig.inputs) {
            let FnArg::Typed(typed) = &arg else {
                inputs.push(arg);
                continue;
            };
            let Pat::Ident(name) = &*typed.pat else {
                inputs.push(arg);
                continue;
            };
            let name = name.ident.clone();
            if let Some((record, elem, mutable)) = self.array_of(&typed.ty) {
                if let Some(field) = record.leaves().into_iter().find(|leaf| !leaf.ty.is_real()) {
                    let field = field.path.last().map(ToString::to_string).unwrap_or_default();
                    self.errors.at(
                        &typed.ty,
                        format!(
                            "an array holds structs of reals, and `{}` has the field `{field}`; keep `{field}` in an array \
                             of its own",
                            record.name
                        ),
                    );
                }
                let real = plain_type(diffkern_ir::Ty::Real, self.real.as_ref());
                inputs.push(parse_quote_spanned!(typed.ty.span()=> #name: & #mutable Array<#real>));
                let elem = self.with_f(elem);
                side.params.push(HostParam {
                    ty: quote!(&::diffkern::Array<#elem>),
                    args: vec![quote!(::diffkern::private::Arg::Array(#name.as_any()))],
                    name: name.clone(),
                });
                self.bind(&name, Some(Var::Array(record)));
            } else if let Some(record) = self.records.of(&typed.ty).cloned() {
                for leaf in record.leaves() {
                    let (var, ty) = (leaf_name(&name, &leaf.path), plain_type(leaf.ty, self.real.as_ref()));
                    if kind == FuncKind::Kernel && leaf.ty.is_compound() {
                        let real = plain_type(diffkern_ir::Ty::Real, self.real.as_ref());
                        let parts = parts(&var, leaf.ty);
                        for part in &parts {
                            inputs.push(parse_quote!(#part: #real));
                        }
                        let value = compose(leaf.ty, parts.iter().map(|p| parse_quote!(#p)).collect(), name.span());
                        prelude.push(parse_quote!(let #var = #value;));
                    } else {
                        let comptime = typed.attrs.iter().filter(|_| !leaf.ty.is_real());
                        inputs.push(parse_quote!(#(#comptime)* #var: #ty));
                    }
                }
                let args = match kind {
                    FuncKind::Kernel => host::scalars(&item.sig.ident, &name, &record),
                    FuncKind::DiffFn => host::fields(&quote!(#name), &record),
                };
                let ty = self.with_f(typed.ty.to_token_stream());
                side.params.push(HostParam { name: name.clone(), ty, args });
                self.bind(&name, Some(Var::Value(record)));
            } else {
                inputs.push(arg.clone());
            }
        }
        item.sig.inputs = inputs;
        prelude
    }

    /// The real type is called `F` in what is generated.
    fn with_f(&self, tokens: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
        match &self.real {
            Some(real) => crate::emit::replace_ident(tokens, &real.to_string(), "F"),
            None => tokens,
        }
    }

    /// `&Array<Body<F>>`: the struct, the tokens of its type, `mut`.
    fn array_of(&self, ty: &Type) -> Option<(Record, proc_macro2::TokenStream, Option<syn::Token![mut]>)> {
        let Type::Reference(r) = ty else { return None };
        let Type::Path(path) = &*r.elem else { return None };
        let last = path.path.segments.last().filter(|s| s.ident == "Array")?;
        let syn::PathArguments::AngleBracketed(args) = &last.arguments else { return None };
        let syn::GenericArgument::Type(elem) = args.args.first()? else { return None };
        Some((self.records.of(elem)?.clone(), elem.to_token_stream(), r.mutability))
    }

    /// For each value of a result, the struct that it is.
    pub(super) fn shapes(&self, ty: &Type) -> Vec<Option<Record>> {
        match ty {
            Type::Tuple(t) => t.elems.iter().map(|t| self.records.of(t).cloned()).collect(),
            Type::Paren(p) => self.shapes(&p.elem),
            other => vec![self.records.of(other).cloned()],
        }
    }

    pub(super) fn flat_types(&self, ty: &Type) -> Vec<Type> {
        let one = |ty: &Type| match self.records.of(ty) {
            Some(record) => record.leaves().iter().map(|leaf| plain_type(leaf.ty, self.real.as_ref())).collect(),
            None => vec![ty.clone()],
        };
        match ty {
            Type::Tuple(t) => t.elems.iter().flat_map(one).collect(),
            Type::Paren(p) => self.flat_types(&p.elem),
            other => one(other),
        }
    }

    pub(super) fn host_result(
        &self,
        ty: &Type,
        wants: &[Option<Record>],
    ) -> (proc_macro2::TokenStream, proc_macro2::TokenStream) {
        let count: usize = self.flat_types(ty).len();
        let mut next = (0..count).map(|k| {
            let k = syn::Index::from(k);
            if count == 1 { quote!(r) } else { quote!(r.#k) }
        });
        let types: Vec<&Type> = match ty {
            Type::Tuple(t) => t.elems.iter().collect(),
            other => vec![other],
        };
        let parts: Vec<_> = types
            .into_iter()
            .zip(wants)
            .map(|(ty, want)| match (ty, want) {
                (Type::Path(path), Some(record)) => {
                    let mut path = path.path.clone();
                    if let Some(last) = path.segments.last_mut() {
                        last.arguments = syn::PathArguments::None;
                    }
                    host::rebuild(&path, record, &mut next)
                }
                _ => next.next().unwrap_or_default(),
            })
            .collect();
        let value = match parts.as_slice() {
            [one] => one.clone(),
            all => quote!((#(#all),*)),
        };
        (self.with_f(ty.to_token_stream()), value)
    }
}
