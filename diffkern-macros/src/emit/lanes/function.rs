//! A device function over packs: once for integers and truth values that are alike in all lanes, once for any.
//!
//! ```text
//! fn stress(x: F, k: u32) -> F      primal_lanes(self, m, bad, v0_0: S::R, v1: u32) -> ([S::R; 1],)
//!                                   primal_lanes_varying(self, m, bad, v0_0: S::R, v1_0: S::I) -> ([S::R; 1],)
//! the same of a law                 __stress_primal_lanes(m, bad, ..), __stress_primal_lanes_varying(m, bad, ..)
//! ```

use diffkern_ir::{Access, Func, Id, ParamKind, Ty};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use super::Lanes;
use super::kernel::callees;
use super::lack::{Lack, first};
use super::statements::packs;
use crate::emit::native::{array, rust_type, value};
use crate::emit::signature::allow;
use crate::source::Source;

/// Whether integers and truth values vary among lanes; by this a form on packs has its name.
#[derive(Clone, Copy)]
enum Integers {
    Uniform,
    Varying,
}

impl Integers {
    fn name(self, form: &Ident) -> Ident {
        match self {
            Integers::Uniform => format_ident!("{form}_lanes"),
            Integers::Varying => format_ident!("{form}_lanes_varying"),
        }
    }
}

/// What has the forms as methods.
#[derive(Clone, Copy)]
pub enum Owner {
    /// A device function, in an `impl` of its own.
    Function,
    /// A type that implements a law.
    Law,
}

/// `form_lanes` and, where it has integers among its arguments, `form_lanes_varying`.
pub fn functions(func: &Func, source: &Source, form: &Ident, owner: Owner) -> TokenStream {
    let (before, receiver) = match owner {
        Owner::Function => (quote!(pub), quote!(self,)),
        Owner::Law => (quote!(), quote!()),
    };
    let [uniform, varying] = parameters(func);
    let mut forms = vec![(Integers::Uniform, &uniform)];
    if uniform.len() < varying.len() {
        forms.push((Integers::Varying, &varying));
    }
    let allow = allow();
    let forms = forms.into_iter().map(|(integers, ids)| {
        let function = function(func, source, &integers.name(form), &receiver, ids);
        quote!(#allow #[inline(always)] #before #function)
    });
    quote!(#(#forms)*)
}

/// `const NAME: Option<&str>`: what keeps them from being called, if anything does.
pub fn constant(func: &Func, source: &Source, name: &Ident) -> TokenStream {
    let lack = parameters(func).iter().find_map(|varying| body(func, source, varying).err());
    let words = lack.map_or_else(|| first(&callees(func, source)), Lack::words);
    quote! {
        #[allow(non_upper_case_globals)]
        const #name: ::core::option::Option<&'static ::core::primitive::str> = #words;
    }
}

/// What a law says of a form of a method on packs, by the types of its arguments and results: that there is none, unless an
/// implementation has it.
pub fn declared(form: &Ident, constant: &Ident, args: &[Ty], results: &[Ty]) -> TokenStream {
    let allow = allow();
    let method = |integers: Integers| {
        let name = integers.name(form);
        let args = args.iter().flat_map(|&ty| match integers {
            Integers::Uniform if !ty.is_real() => vec![rust_type(ty)],
            Integers::Uniform | Integers::Varying => vec![pack(ty); ty.components()],
        });
        let results = results.iter().map(|&ty| packs(ty));
        quote! {
            #[doc(hidden)]
            #allow
            fn #name<F: ::diffkern::Float, S: ::diffkern::private::Lanes<F = F>>(
                _: S::M,
                _: &mut S::M,
                #(_: #args),*
            ) -> (#(#results,)*) {
                ::core::unreachable!()
            }
        }
    };
    let uniform = method(Integers::Uniform);
    let varying = args.iter().any(|ty| !ty.is_real()).then(|| method(Integers::Varying));
    quote! {
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        const #constant: ::core::option::Option<&'static ::core::primitive::str> =
            ::core::option::Option::Some("a law by hand");
        #uniform
        #varying
    }
}

/// The type of one component that varies.
fn pack(ty: Ty) -> TokenStream {
    match ty {
        Ty::Bool => quote!(S::M),
        ty if ty.is_int() => quote!(S::I),
        _ => quote!(S::R),
    }
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
fn body(func: &Func, source: &Source, varying: &[Id]) -> Result<TokenStream, Lack> {
    let lanes = Lanes::new(func, source, varying);
    for &id in varying {
        lanes.values.name(id);
    }
    let mut text = lanes.stacks();
    lanes.statements(&func.body, &mut text)?;
    let mut results = TokenStream::new();
    for &id in &func.body.yields {
        let parts = lanes.parts(id, &mut text);
        results.extend(quote!([#(#parts),*],));
    }
    let flat = !func.body.yields.is_empty();
    let result = if flat { quote!((#results)) } else { quote!() };
    Ok(quote!(#text #result))
}

fn function(func: &Func, source: &Source, name: &Ident, receiver: &TokenStream, varying: &[Id]) -> TokenStream {
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
            let pack = pack(func.ty(*id));
            (0..func.ty(*id).components())
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
    let body = body(func, source, varying).unwrap_or_else(|_| quote!(::core::unreachable!()));
    quote! {
        fn #name<F: ::diffkern::Float, S: ::diffkern::private::Lanes<F = F>>(
            #receiver
            m: S::M,
            bad: &mut S::M,
            #(#args),*
        ) -> (#(#types,)*) {
            #body
        }
    }
}
