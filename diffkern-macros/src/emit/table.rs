//! The tables of a function that the library reads: parameters, text, device functions.

use diffkern_ir::{Access, Func, ParamKind, Slot, Ty, print, work};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::Ident;

use super::Forms;
use super::callee::callee_form;
use crate::source::Source;
use crate::writes::{Digit, Extent, Indices, Term};

/// The table of a device function.
pub(super) fn fn_def(name: &str, forms: &Forms) -> TokenStream {
    let table = |func: &Func| program(func, &forms.source, &[], false);
    let [primal, replay, vjp, jvp] = [&forms.primal, &forms.replay, &forms.adjoint, &forms.tangent].map(table);
    let second = option(forms.second.as_ref().map(table));
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

/// The table of a function: parameters, text, device functions, and which stores the launcher has to look at.
pub(super) fn program(func: &Func, source: &Source, writes: &[(Slot, Indices)], promised: bool) -> TokenStream {
    let params = func.params.iter().map(|p| {
        let name = p.name.trim_start_matches("r#");
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
                    Ty::Mat(_) => "Mat3",
                    Ty::Usize | Ty::Bool => unreachable!("arrays of these are refused"),
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
                    Ty::Real | Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => "Real",
                });
                quote!(::diffkern::private::ParamKind::Scalar {
                    ty: ::diffkern::private::ScalarKind::#ty,
                    comptime: #comptime,
                })
            }
        };
        quote!(::diffkern::private::ParamDef { name: #name, kind: #kind })
    });
    let (text, work) = (print(func, &|node| source.line(node)), work(func));
    let writes = writes.iter().map(|(slot, indices)| write(*slot, indices, promised));
    let callees = func.callees.iter().map(|callee| callee_form(source, callee, "def"));
    quote! {
        ::diffkern::private::Program {
            file: ::core::file!(),
            params: &[#(#params),*],
            text: #text,
            work: #work,
            callees: &[#(#callees),*],
            writes: &[#(#writes),*],
        }
    }
}

fn write(slot: Slot, indices: &Indices, promised: bool) -> TokenStream {
    let indices = match indices {
        Indices::Digits(forms) => {
            let forms = forms.iter().map(|form| {
                let terms = form.iter().map(term);
                quote!(&[#(#terms),*])
            });
            quote!(Digits { forms: &[#(#forms),*] })
        }
        Indices::Listed { by, stride } => quote!(Listed { by: #by, stride: #stride }),
        Indices::Anywhere => quote!(Anywhere),
    };
    quote!(::diffkern::private::Write {
        slot: #slot,
        indices: ::diffkern::private::Indices::#indices,
        promised: #promised,
    })
}

fn term(term: &Term) -> TokenStream {
    let digit = match &term.digit {
        Digit::Pos => quote!(Pos),
        Digit::X => quote!(X),
        Digit::Y => quote!(Y),
        Digit::Z => quote!(Z),
        Digit::Quotient(by) => {
            let by = extent(by);
            quote!(Quotient(#by))
        }
        Digit::Remainder(by) => {
            let by = extent(by);
            quote!(Remainder(#by))
        }
        Digit::Below(end) => {
            let end = extent(end);
            quote!(Below(#end))
        }
    };
    let weight = term.weight.iter().map(extent);
    quote!(::diffkern::private::Term { digit: ::diffkern::private::Digit::#digit, weight: &[#(#weight),*] })
}

fn extent(extent: &Extent) -> TokenStream {
    let extent = match extent {
        Extent::Number(n) => quote!(Number(#n)),
        Extent::Scalar(slot) => quote!(Scalar(#slot)),
        Extent::Len(slot) => quote!(Len(#slot)),
    };
    quote!(::diffkern::private::Extent::#extent)
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
