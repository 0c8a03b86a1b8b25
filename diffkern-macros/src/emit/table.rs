//! The tables of a function that the library reads: parameters, text, device functions.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Ident;

use super::callee::callee_form;
use super::{Forms, text};
use crate::ir::{Access, Func, ParamKind, Ty};

/// The table of a device function.
pub(super) fn fn_def(name: &str, forms: &Forms) -> TokenStream {
    let [primal, replay, vjp, jvp] = [&forms.primal, &forms.replay, &forms.adjoint, &forms.tangent].map(program);
    let second = option(forms.second.as_ref().map(program));
    quote! {
        ::diffkern::private::FnDef {
            name: #name,
            primal: #primal,
            replay: #replay,
            vjp: #vjp,
            jvp: #jvp,
            second: #second,
        }
    }
}

/// The table of a function: parameters, text, device functions.
pub(super) fn program(func: &Func) -> TokenStream {
    let params = func.params.iter().map(|p| {
        let name = &p.name;
        let kind = match &p.kind {
            ParamKind::Array { elem, access, owned } => {
                let elem = variant(match elem {
                    Ty::Real => "Real",
                    Ty::U32 => "U32",
                    Ty::I32 => "I32",
                    Ty::Vec(2) => "Vec2",
                    Ty::Vec(3) => "Vec3",
                    Ty::Vec(_) | Ty::Quat => "Vec4",
                    Ty::Mat(2) => "Mat2",
                    _ => "Mat3",
                });
                let access = variant(match access {
                    Access::Read => "Read",
                    Access::Store => "Store",
                    Access::Add => "Add",
                    Access::Take => "Take",
                    Access::Update => "Update",
                    Access::Fetch => "Fetch",
                    Access::Unused => "Unused",
                });
                quote!(::diffkern::private::ParamKind::Array {
                    elem: ::diffkern::private::ElemTy::#elem,
                    access: ::diffkern::private::Access::#access,
                    owned: #owned,
                })
            }
            ParamKind::Scalar { id, comptime } => {
                // Parameters of device functions may be vectors; only the text, which has their types, is read there.
                let ty = variant(match func.ty(*id) {
                    Ty::U32 => "U32",
                    Ty::I32 => "I32",
                    Ty::Usize => "Usize",
                    Ty::Bool => "Bool",
                    _ => "Real",
                });
                quote!(::diffkern::private::ParamKind::Scalar {
                    ty: ::diffkern::private::ScalarKind::#ty,
                    comptime: #comptime,
                })
            }
        };
        quote!(::diffkern::private::ParamDef { name: #name, kind: #kind })
    });
    let (text, work) = (text::text(func), func.work());
    let callees = func.callees.iter().map(|path| callee_form(func, path, "def"));
    quote! {
        ::diffkern::private::Program {
            params: &[#(#params),*],
            text: #text,
            work: #work,
            callees: &[#(#callees),*],
        }
    }
}

pub(super) fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

fn variant(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
