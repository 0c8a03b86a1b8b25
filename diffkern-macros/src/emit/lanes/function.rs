//! A device function over packs: once for integers and truth values that are alike in all lanes, once for any.

use diffkern_ir::{Access, Func, Id, ParamKind, Ty};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::Lanes;
use super::kernel::callees;
use super::statements::packs;
use crate::emit::native::{array, rust_type, value};
use crate::source::Source;

/// `name_lanes` and, where it has integers among its arguments, `name_lanes_varying`.
pub fn functions(func: &Func, source: &Source, name: &str) -> TokenStream {
    if source.has_laws(func) {
        return quote!();
    }
    let [uniform, varying] = parameters(func);
    let first = function(func, source, &format!("{name}_lanes"), &uniform);
    let second =
        (uniform.len() < varying.len()).then(|| function(func, source, &format!("{name}_lanes_varying"), &varying));
    quote!(#first #second)
}

/// `const NAME_LANES: bool`: whether they can be called.
pub fn constants(func: &Func, source: &Source, name: &str) -> TokenStream {
    let constant = format_ident!("{}_LANES", name.to_uppercase());
    if source.has_laws(func) || parameters(func).iter().any(|varying| body(func, source, varying).is_none()) {
        return quote!();
    }
    let callees = callees(func, source);
    quote!(const #constant: bool = true #callees;)
}

/// The scalar parameters that vary: the reals, and all.
fn parameters(func: &Func) -> [Vec<Id>; 2] {
    let scalars = |real: bool| {
        func.params
            .iter()
            .filter_map(|param| match param.kind {
                ParamKind::Scalar { id, .. } if !real || func.ty(id).is_real() => Some(id),
                _ => None,
            })
            .collect()
    };
    [scalars(true), scalars(false)]
}

/// Statements, then the value.
fn body(func: &Func, source: &Source, varying: &[Id]) -> Option<TokenStream> {
    let lanes = Lanes::new(func, source, varying);
    for &id in varying {
        lanes.values.name(id);
    }
    let mut text = lanes.stacks();
    lanes.block(&func.body, &mut text)?;
    let mut results = TokenStream::new();
    for &id in &func.body.yields {
        let parts = lanes.parts(id, &mut text);
        results.extend(quote!([#(#parts),*],));
    }
    let flat = !func.body.yields.is_empty();
    let result = if flat { quote!((#results)) } else { quote!() };
    Some(quote!(#text #result))
}

fn function(func: &Func, source: &Source, name: &str, varying: &[Id]) -> TokenStream {
    let name = format_ident!("{name}");
    let args = func.params.iter().enumerate().flat_map(|(slot, param)| match &param.kind {
        ParamKind::Array { elem, access, .. } => {
            let (var, elem) = (array(slot), rust_type(*elem));
            vec![match access {
                Access::Add => quote!(#var: &mut ::diffkern::private::LaneAcc<'_, S, #elem>),
                Access::Read | Access::Store | Access::Take | Access::Update | Access::Fetch | Access::Unused => {
                    quote!(#var: ::diffkern::private::LaneIn<'_, S, #elem>)
                }
            }]
        }
        ParamKind::Scalar { id, .. } if varying.contains(id) => {
            let ty = func.ty(*id);
            let pack = match ty {
                Ty::Bool => quote!(S::M),
                ty if ty.is_int() => quote!(S::I),
                _ => quote!(S::R),
            };
            (0..ty.components())
                .map(|k| {
                    let name = format_ident!("v{}_{k}", id.0);
                    quote!(#name: #pack)
                })
                .collect()
        }
        ParamKind::Scalar { id, .. } => {
            let (var, ty) = (value(*id), rust_type(func.ty(*id)));
            vec![quote!(#var: #ty)]
        }
    });
    let args: Vec<_> = args.collect();
    let types = func.body.yields.iter().map(|&id| packs(func.ty(id)));
    let body = body(func, source, varying).unwrap_or_else(|| quote!(::core::unreachable!()));
    quote! {
        #[inline(always)]
        pub fn #name<F: ::diffkern::Float, S: ::diffkern::private::Lanes<F = F>>(
            self,
            m: S::M,
            bad: &mut S::M,
            #(#args),*
        ) -> (#(#types,)*) {
            #body
        }
    }
}
