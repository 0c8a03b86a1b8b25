//! The items that stand in place of an annotated function.
//!
//! A kernel `integrate` becomes the function `integrate(domain, arrays.., scalars..)`, which launches it, and the type
//! `integrate`, which has `integrate::gradcheck(..)` and `integrate::devicecheck(..)`. A device function `stress` stays callable on the host and becomes
//! the type `stress`, by which kernels of any crate find its primal, vjp and jvp.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, ItemFn};

use super::native::rust_type;
use super::{lanes, native, text};
use crate::attribute::Attribute;
use crate::ir::{Access, Func, ParamKind, Ty};
use crate::parse::{SigKind, Signature};

/// A function in its forms.
pub struct Forms {
    pub primal: Func,
    /// The primal as adjoints and tangents run it again.
    pub replay: Func,
    pub adjoint: Func,
    pub tangent: Func,
    /// Beside an adjoint kernel written by hand.
    pub clear: Option<Func>,
    /// The tangent of the adjoint, where second derivatives are asked for.
    pub second: Option<Func>,
}

pub fn kernel(item: &ItemFn, sig: &Signature, forms: &Forms, attribute: &Attribute) -> TokenStream {
    let (name, vis) = (&item.sig.ident, &item.vis);
    let docs = docs(item);
    let (names, types, args) = launch_params(item, sig);
    let checks = checks(sig, &names, &types, &args);
    let (generics, scalar) = host_real(sig);
    let types: Vec<_> = types.into_iter().map(|ty| on_host(sig, ty)).collect();
    let Laws { names: law_names, params: laws, this, of_type, decl } = Laws::of(sig, name);
    let domain = unseen("domain");
    // Tangents and second derivatives are seldom launched, and not worth the time that bodies of lanes take to compile.
    let adjoint = kernel_form(&forms.adjoint, "__adjoint", OnLanes::Yes, attribute.vjp.as_ref(), sig);
    let tangent = kernel_form(&forms.tangent, "__tangent", OnLanes::No, attribute.jvp.as_ref(), sig);
    let clear = forms.clear.as_ref().map(|func| kernel_form(func, "__clear", OnLanes::Yes, None, sig));
    let clear_body = clear.as_ref().map(|form| &form.body);
    let clear_native = option(clear.as_ref().map(|form| &form.native));
    let clear = option(clear.as_ref().map(|form| &form.program));
    let second = forms.second.as_ref().map(|func| second_form(func, attribute.vjp.as_ref(), sig));
    let second_body = second.as_ref().map(|form| &form.body);
    let second_native = option(second.as_ref().map(|form| &form.native));
    let second = option(second.as_ref().map(|form| &form.program));
    let KernelForm {
        body: adjoint_body,
        program: adjoint,
        native: adjoint_native,
        lanes: adjoint_lanes,
        on_lanes: adjoint_on_lanes,
    } = adjoint;
    let KernelForm { body: tangent_body, program: tangent, native: tangent_native, .. } = tangent;
    let by_hand = [(&attribute.vjp, "check_adjoint"), (&attribute.jvp, "check_tangent")].map(|(path, check)| {
        path.as_ref().map(|path| {
            let check = Ident::new(check, path.span());
            quote_spanned!(path.span()=> const _: () = ::diffkern::private::#check(&#name::DEF, &#path::DEF);)
        })
    });
    let primal_body = native::kernel(&forms.primal, &format_ident!("__primal"), &sig.law_params, true);
    let primal = program(&forms.primal);
    let line = u32::try_from(name.span().start().line).unwrap_or(0);
    let name_text = name.to_string();
    let type_doc = format!("The generated adjoint and tangent of [`{name}()`] and their check.");
    let allow = allow();
    quote! {
        #(#docs)*
        #allow
        #vis fn #name #generics(
            #domain: impl ::core::convert::Into<::diffkern::Domain>,
            #(#names: #types),*
        ) -> ::diffkern::Result<()> {
            ::diffkern::private::launch(
                #this::def(),
                #this::native::<#scalar>(),
                ::core::convert::Into::into(#domain),
                &[#(#args),*],
            )
        }

        #[doc = #type_doc]
        #[allow(non_camel_case_types)]
        #vis enum #name #decl

        #allow
        #[allow(non_camel_case_types)]
        const _: () = {
            #primal_body
            #adjoint_body
            #tangent_body
            #clear_body
            #second_body
            #(#by_hand)*

            impl<#(#laws),*> #name #of_type {
                #[doc(hidden)]
                pub const DEF: ::diffkern::private::KernelDef = ::diffkern::private::KernelDef {
                    name: #name_text,
                    file: ::core::file!(),
                    line: #line,
                    primal: #primal,
                    adjoint: #adjoint,
                    tangent: #tangent,
                    clear: #clear,
                    second: #second,
                };

                #[doc(hidden)]
                pub fn def() -> &'static ::diffkern::private::KernelDef {
                    const { &Self::DEF }
                }

                #[doc(hidden)]
                pub fn native<F: ::diffkern::Float>() -> ::diffkern::private::Native {
                    ::diffkern::private::Native {
                        scalar: <F as ::diffkern::Float>::SCALAR,
                        primal: ::diffkern::private::dispatch::<__primal<F #(, #law_names)*>>,
                        adjoint: #adjoint_native,
                        tangent: #tangent_native,
                        clear: #clear_native,
                        second: #second_native,
                    }
                }

                /// Whether the kernel and its adjoint run on packs of lanes.
                #[doc(hidden)]
                pub const LANES: [bool; 2] = [<__primal<f32 #(, #law_names)*> as ::diffkern::private::Body>::LANES, #adjoint_on_lanes];

                #[doc(hidden)]
                pub fn on_lanes<F: ::diffkern::Float, K: ::diffkern::private::Kind>() -> ::diffkern::private::Native {
                    ::diffkern::private::Native {
                        primal: K::run::<__primal<F #(, #law_names)*>>,
                        adjoint: #adjoint_lanes,
                        ..Self::native::<F>()
                    }
                }

                #checks
            }
        };
    }
}

/// The generics of what the host calls, and what `F` is in its body.
fn host_real(sig: &Signature) -> (TokenStream, TokenStream) {
    let laws = &sig.law_params;
    match &sig.real {
        Some(real) if sig.concrete => (quote!(<#(#laws),*>), quote!(#real)),
        Some(_) => (quote!(<F: ::diffkern::Float #(, #laws)*>), quote!(F)),
        // Without reals nothing depends on F.
        None => (quote!(<#(#laws),*>), quote!(f32)),
    }
}

/// How the type of a function with laws among its type parameters is written.
struct Laws {
    names: Vec<Ident>,
    params: Vec<syn::TypeParam>,
    /// `stress::<M>`
    this: TokenStream,
    /// `<M>`
    of_type: TokenStream,
    /// What follows the name in its declaration.
    decl: TokenStream,
}

impl Laws {
    fn of(sig: &Signature, name: &Ident) -> Laws {
        let params = sig.law_params.clone();
        let names: Vec<Ident> = params.iter().map(|p| p.ident.clone()).collect();
        if names.is_empty() {
            return Laws { names, params, this: quote!(#name), of_type: quote!(), decl: quote!({}) };
        }
        Laws {
            this: quote!(#name::<#(#names),*>),
            of_type: quote!(<#(#names),*>),
            decl: quote!(<#(#params),*> {
                #[doc(hidden)]
                __Never(::core::convert::Infallible, ::core::marker::PhantomData<fn() -> (#(#names,)*)>),
            }),
            names,
            params,
        }
    }
}

/// A type of what the host calls.
fn on_host(sig: &Signature, ty: TokenStream) -> TokenStream {
    match &sig.real {
        Some(real) if sig.concrete => replace_real(ty, real),
        _ => ty,
    }
}

/// A generated form of a kernel, or one written by hand.
struct KernelForm {
    body: TokenStream,
    program: TokenStream,
    native: TokenStream,
    /// As `native`, on a kind of packs.
    lanes: TokenStream,
    /// Whether it runs on packs.
    on_lanes: TokenStream,
}

/// Whether a form also gets a body for packs of lanes.
#[derive(Clone, Copy, PartialEq)]
enum OnLanes {
    Yes,
    No,
}

fn kernel_form(func: &Func, name: &str, on_lanes: OnLanes, by_hand: Option<&syn::Path>, sig: &Signature) -> KernelForm {
    if let Some(path) = by_hand {
        return KernelForm {
            body: quote!(),
            program: quote_spanned!(path.span()=> #path::DEF.primal),
            native: quote_spanned!(path.span()=> #path::native::<F>().primal),
            lanes: quote_spanned!(path.span()=> #path::on_lanes::<F, K>().primal),
            on_lanes: quote_spanned!(path.span()=> #path::LANES[0]),
        };
    }
    let name = format_ident!("{name}");
    let laws: Vec<_> = sig.law_params.iter().map(|law| &law.ident).collect();
    KernelForm {
        body: native::kernel(func, &name, &sig.law_params, on_lanes == OnLanes::Yes),
        program: program(func),
        native: quote!(::diffkern::private::dispatch::<#name<F #(, #laws)*>>),
        lanes: quote!(K::run::<#name<F #(, #laws)*>>),
        on_lanes: quote!(<#name<f32 #(, #laws)*> as ::diffkern::private::Body>::LANES),
    }
}

/// The tangent of the adjoint. That of an adjoint written by hand is a tangent as any other: it leaves the bars alone.
fn second_form(func: &Func, by_hand: Option<&syn::Path>, sig: &Signature) -> KernelForm {
    match by_hand {
        None => kernel_form(func, "__second", OnLanes::No, None, sig),
        Some(path) => KernelForm {
            body: quote!(),
            program: quote_spanned!(path.span()=> #path::DEF.tangent),
            native: quote_spanned!(path.span()=> #path::native::<F>().tangent),
            lanes: quote!(),
            on_lanes: quote!(),
        },
    }
}

/// Generic over the domain's type, so that whoever calls neither pays for neither.
fn checks(sig: &Signature, names: &[Ident], types: &[TokenStream], args: &[TokenStream]) -> TokenStream {
    let real = sig.real.as_ref().map(|_| {
        quote!(
            type F = f64;
        )
    });
    let double = Ident::new("f64", Span::call_site());
    let types: Vec<_> = types.iter().map(|t| replace_real(t.clone(), &double)).collect();
    let scalar = if sig.real.is_some() { quote!(f64) } else { quote!(f32) };
    let (domain, device) = (unseen("domain"), unseen("device"));
    quote! {
        /// Checks the adjoint and the tangent at the given point, in f64 on the CPU: the dot-product identity and
        /// finite differences.
        ///
        /// # Errors
        /// When a bound is missed; the message has the numbers.
        pub fn gradcheck(
            #domain: impl ::core::convert::Into<::diffkern::Domain>,
            #(#names: #types),*
        ) -> ::diffkern::Result<::diffkern::GradReport> {
            #real
            ::diffkern::private::gradcheck(
                Self::def(),
                Self::native::<#scalar>(),
                ::core::convert::Into::into(#domain),
                &[#(#args),*],
            )
        }

        /// Compares values, gradient and tangent on `device` with those on the CPU, in f32, at the given point. Returns
        /// the largest relative difference.
        ///
        /// # Errors
        /// When it is over 1e-4 and more than rounding; the message has the numbers.
        pub fn devicecheck(
            #device: &::diffkern::Device,
            #domain: impl ::core::convert::Into<::diffkern::Domain>,
            #(#names: #types),*
        ) -> ::diffkern::Result<f64> {
            #real
            ::diffkern::private::devicecheck(
                #device,
                Self::def(),
                (Self::native::<f32>(), Self::native::<f64>()),
                ::core::convert::Into::into(#domain),
                &[#(#args),*],
            )
        }

        /// Compares the bodies that run on packs of lanes with the scalar one, at the given point: values and gradient,
        /// for every kind of pack that this machine has. Returns the largest relative difference in f32.
        ///
        /// # Errors
        /// When it is more than rounding; the message has the numbers.
        pub fn lanecheck(
            #domain: impl ::core::convert::Into<::diffkern::Domain>,
            #(#names: #types),*
        ) -> ::diffkern::Result<f64> {
            #real
            ::diffkern::private::lanecheck(
                Self::def(),
                (
                    Self::on_lanes::<f32, ::diffkern::private::OneByOne>(),
                    Self::on_lanes::<#scalar, ::diffkern::private::OneByOne>(),
                ),
                &[
                    ::diffkern::private::on_packs::<::diffkern::private::Narrow>(
                        Self::on_lanes::<f32, ::diffkern::private::Narrow>,
                    ),
                    ::diffkern::private::on_packs::<::diffkern::private::Wide>(
                        Self::on_lanes::<f32, ::diffkern::private::Wide>,
                    ),
                ],
                ::core::convert::Into::into(#domain),
                &[#(#args),*],
            )
        }
    }
}

/// `F` as `real` in a type of the signature.
fn replace_real(tokens: TokenStream, real: &Ident) -> TokenStream {
    super::replace_ident(tokens, "F", &real.to_string())
}

pub fn function(item: &ItemFn, sig: &Signature, forms: &Forms, attribute: &Attribute) -> TokenStream {
    let (name, vis) = (&item.sig.ident, &item.vis);
    let docs = docs(item);
    let name_text = name.to_string();
    let all = [
        (&forms.primal, "primal", None),
        (&forms.replay, "replay", attribute.replay.as_ref()),
        (&forms.adjoint, "vjp", attribute.vjp.as_ref()),
        (&forms.tangent, "jvp", attribute.jvp.as_ref()),
    ];
    let generated = all.iter().map(|(func, name, _)| (*func, *name));
    let generated = generated.chain(forms.second.iter().map(|second| (second, "second")));
    let bodies: Vec<_> = generated.map(|(func, name)| native::function(func, &format_ident!("{name}"))).collect();
    let on_lanes = &all[..3];
    let lane_bodies = on_lanes.iter().map(|(func, name, _)| lanes::functions(func, name));
    let lane_constants = on_lanes.iter().map(|(func, name, _)| lanes::constants(func, name));
    let checks: Vec<_> = all.iter().filter_map(|(func, _, path)| Some(signature_check(func, (*path)?))).collect();
    let table = fn_def(&name_text, forms);
    let calls = super::calls(&forms.primal);
    let count = quote_spanned!(name.span()=> const RECURSION_IS_REFUSED: usize = #calls;);
    let Laws { params: laws, names: law_names, of_type, decl, .. } = Laws::of(sig, name);
    // Of a function with laws, each instance is asked for where it is called.
    let finite = law_names
        .is_empty()
        .then(|| quote!(const _: usize = <#name as ::diffkern::private::DiffFn>::RECURSION_IS_REFUSED;));
    let type_doc = format!("The generated adjoint and tangent of the device function `{name}`.");
    let allow = allow();
    let host = host_function(item, sig, forms, &docs);
    quote! {
        #host

        #[doc = #type_doc]
        #[allow(non_camel_case_types)]
        #vis enum #name #decl

        #allow
        const _: () = {
            #(#checks)*

            #finite

            #[doc(hidden)]
            impl<#(#laws),*> #name #of_type {
                #(#bodies)*
                #(#lane_bodies)*
            }

            impl<#(#laws),*> ::diffkern::private::DiffFn for #name #of_type {
                #count
                #(#lane_constants)*

                fn def() -> &'static ::diffkern::private::FnDef {
                    const { &#table }
                }
            }
        };
    }
}

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

/// Lets rustc compare what is written by hand with what is needed, on the path in the attribute.
fn signature_check(func: &Func, path: &syn::Path) -> TokenStream {
    let array = |access: &Access, elem: Ty| {
        let elem = rust_type(elem);
        match access {
            Access::Add => quote!(&::diffkern::private::Acc<'_, #elem>),
            _ => quote!(::diffkern::private::In<'_, #elem>),
        }
    };
    let args = func.params.iter().map(|param| match &param.kind {
        ParamKind::Array { elem, access, .. } => array(access, *elem),
        ParamKind::Scalar { id, .. } => rust_type(func.ty(*id)),
    });
    let results: Vec<_> = func.body.yields.iter().map(|&id| rust_type(func.ty(id))).collect();
    let output = match results.as_slice() {
        [one] => one.clone(),
        all => quote!((#(#all),*)),
    };
    quote_spanned! {path.span()=>
        const _: () = {
            fn signature<F: ::diffkern::Float>() {
                let _: fn(#(#args),*) -> #output = #path::primal::<F>;
            }
        };
    }
}

/// The function itself, for the host; one that takes arrays lives in kernels only.
fn host_function(item: &ItemFn, sig: &Signature, forms: &Forms, docs: &[TokenStream]) -> TokenStream {
    if sig.params.iter().any(|p| matches!(p.kind, SigKind::Array { .. })) {
        return quote!();
    }
    let (name, vis) = (&item.sig.ident, &item.vis);
    let (mut names, mut types, mut args) = (Vec::new(), Vec::new(), Vec::new());
    for name in parameter_names(item) {
        if let Some(param) = sig.host.params.iter().find(|p| p.name == name) {
            types.push(param.ty.clone());
            args.extend(param.args.iter().cloned());
        } else if let Some(param) = sig.params.iter().find(|p| p.name == name)
            && let SigKind::Scalar { ty, .. } = param.kind
        {
            types.push(rust_type(ty));
            args.push(quote!(#name));
        }
        names.push(name);
    }
    let results: Vec<_> = forms.primal.body.yields.iter().map(|&id| rust_type(forms.primal.ty(id))).collect();
    let (generics, scalar) = host_real(sig);
    let this = Laws::of(sig, name).this;
    let call = quote!(#this::primal::<#scalar>(#(#args),*));
    let (output, value) = match (&sig.host.result, results.as_slice()) {
        (Some((ty, value)), _) => (ty.clone(), quote!({ let r = #call; #value })),
        (None, [one]) => (one.clone(), call),
        (None, all) => (quote!((#(#all),*)), call),
    };
    let types: Vec<_> = types.into_iter().map(|ty| on_host(sig, ty)).collect();
    let output = on_host(sig, output);
    let allow = allow();
    quote! {
        #(#docs)*
        #allow
        #[must_use]
        #vis fn #name #generics(#(#names: #types),*) -> #output {
            #value
        }
    }
}

/// What stands in place of an item with mistakes, so that its uses are no mistakes as well.
pub fn fallback(item: &ItemFn, sig: Option<&Signature>, is_kernel: bool) -> TokenStream {
    let Some(sig) = sig else { return quote!() };
    let (name, vis) = (&item.sig.ident, &item.vis);
    let (generics, _) = host_real(sig);
    if !is_kernel {
        return quote!();
    }
    let (names, types, _) = launch_params(item, sig);
    let domain = unseen("domain");
    let types: Vec<_> = types.into_iter().map(|ty| on_host(sig, ty)).collect();
    quote! {
        #[allow(unused_variables, missing_docs)]
        #vis fn #name #generics(
            #domain: impl ::core::convert::Into<::diffkern::Domain>,
            #(#names: #types),*
        ) -> ::diffkern::Result<()> {
            ::core::unreachable!()
        }
    }
}

/// A parameter that an author's of the same name does not clash with.
fn unseen(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

pub(super) fn allow() -> TokenStream {
    quote!(#[allow(unused, clippy::all, clippy::pedantic, clippy::nursery, clippy::restriction)])
}

fn docs(item: &ItemFn) -> Vec<TokenStream> {
    item.attrs.iter().map(ToTokens::to_token_stream).collect()
}

/// Names, types and arguments of a launch, as the host sees them: a struct is one parameter with several arguments.
fn launch_params(item: &ItemFn, sig: &Signature) -> (Vec<Ident>, Vec<TokenStream>, Vec<TokenStream>) {
    let (mut names, mut types, mut args) = (Vec::new(), Vec::new(), Vec::new());
    for name in parameter_names(item) {
        if let Some(param) = sig.host.params.iter().find(|p| p.name == name) {
            types.push(param.ty.clone());
            args.extend(param.args.iter().cloned());
        } else if let Some(param) = sig.params.iter().find(|p| p.name == name) {
            types.push(launch_type(param.kind));
            args.push(launch_arg(&name, param.kind));
        } else {
            continue;
        }
        names.push(name);
    }
    (names, types, args)
}

fn parameter_names(item: &ItemFn) -> Vec<Ident> {
    let name = |arg: &syn::FnArg| match arg {
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(name) => Some(name.ident.clone()),
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    };
    item.sig.inputs.iter().filter_map(name).collect()
}

fn launch_type(kind: SigKind) -> TokenStream {
    match kind {
        SigKind::Array { elem, .. } => {
            let elem = rust_type(elem);
            quote!(&::diffkern::Array<#elem>)
        }
        SigKind::Scalar { ty: Ty::Usize, .. } => quote!(usize),
        SigKind::Scalar { ty, .. } => rust_type(ty),
    }
}

fn launch_arg(name: &Ident, kind: SigKind) -> TokenStream {
    match kind {
        SigKind::Array { .. } => quote!(::diffkern::private::Arg::Array(#name.any())),
        SigKind::Scalar { ty, .. } => match ty {
            Ty::U32 => quote!(::diffkern::private::Arg::U32(#name)),
            Ty::I32 => quote!(::diffkern::private::Arg::I32(#name)),
            Ty::Usize => quote!(::diffkern::private::Arg::usize(#name)?),
            Ty::Bool => quote!(::diffkern::private::Arg::Bool(#name)),
            _ => quote!(::diffkern::private::Arg::Real(::diffkern::Float::to_f64(#name))),
        },
    }
}

/// The table of a function: parameters, text, device functions.
fn program(func: &Func) -> TokenStream {
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
    let text = text::text(func);
    let callees = func.callees.iter().map(|path| super::callee_form(func, path, "def"));
    quote! {
        ::diffkern::private::Program {
            params: &[#(#params),*],
            text: #text,
            callees: &[#(#callees),*],
        }
    }
}

fn option(value: Option<impl ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote!(::core::option::Option::Some(#value)),
        None => quote!(::core::option::Option::None),
    }
}

fn variant(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
