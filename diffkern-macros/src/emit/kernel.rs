//! What stands in place of an annotated kernel.
//!
//! `integrate` becomes the function `integrate(domain, arrays.., scalars..)`, which launches it, and the type `integrate`,
//! which has `integrate::gradcheck(..)`, `devicecheck(..)` and `lanecheck(..)`, `text()`, `adjoint_text()` and
//! `tangent_text()`.

use diffkern_ir::Func;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, ItemFn};

use super::callee::by_hand;
use super::checks::checks;
use super::imports::imports;
use super::signature::{Laws, allow, docs, host_real, launch_params, on_host, primitives, unseen};
use super::table::{option, program};
use super::texts::texts;
use super::{Forms, native};
use crate::attribute::Attribute;
use crate::names::{self, bare};
use crate::parse::Signature;
use crate::places::places;
use crate::source::Source;
use crate::writes::writes;

pub fn kernel(item: &ItemFn, sig: &Signature, forms: &Forms, attribute: &Attribute) -> TokenStream {
    let (name, vis) = (&item.sig.ident, &item.vis);
    let docs = docs(item);
    let (names, types, args) = launch_params(item, sig);
    let checks = checks(sig, &names, &types, &args);
    let texts = texts(forms, attribute);
    let (generics, scalar) = host_real(sig);
    let types: Vec<_> = types.into_iter().map(|ty| on_host(sig, ty)).collect();
    let Laws { names: law_names, params: laws, this, of_type, decl } = Laws::of(sig, name);
    // Of two kernels of one name each has its own, so that the name alone is an error.
    let hidden = names::hidden("kernel", name);
    let domain = unseen("domain");
    // Second derivatives are seldom launched, and not worth the time that bodies of lanes take to compile.
    let adjoint = kernel_form((&forms.adjoint, &forms.source), "__adjoint", OnLanes::Yes, attribute.vjp.as_ref(), sig);
    let tangent = kernel_form((&forms.tangent, &forms.source), "__tangent", OnLanes::Yes, attribute.jvp.as_ref(), sig);
    let directions =
        forms.directions.as_ref().map(|(count, func)| directions_form(*count, func, forms, attribute, sig));
    let Directions { body: directions_body, def: directions, native: directions_native, lanes: directions_lanes } =
        directions.unwrap_or_default();
    let clear = forms.clear.as_ref().map(|func| kernel_form((func, &forms.source), "__clear", OnLanes::Yes, None, sig));
    let clear_body = clear.as_ref().map(|form| &form.body);
    let clear_native = option(clear.as_ref().map(|form| &form.native));
    let clear = option(clear.as_ref().map(|form| &form.program));
    let second = forms.second.as_ref().map(|func| second_form((func, &forms.source), attribute.vjp.as_ref(), sig));
    let second_body = second.as_ref().map(|form| &form.body);
    let second_native = option(second.as_ref().map(|form| &form.native));
    let second = option(second.as_ref().map(|form| &form.program));
    let KernelForm {
        body: adjoint_body,
        program: adjoint,
        native: adjoint_native,
        lanes: adjoint_lanes,
        on_lanes: adjoint_on_lanes,
        lacks: adjoint_lacks,
    } = adjoint;
    let KernelForm {
        body: tangent_body,
        program: tangent,
        native: tangent_native,
        lanes: tangent_lanes,
        on_lanes: tangent_on_lanes,
        ..
    } = tangent;
    let by_hand = [(&attribute.vjp, "check_adjoint"), (&attribute.jvp, "check_tangent")].map(|(path, check)| {
        path.as_ref().map(|path| {
            let check = Ident::new(check, path.span());
            quote_spanned!(path.span()=> const _: () = ::diffkern::private::#check(&#name::DEF, &#path::DEF);)
        })
    });
    // An adjoint written by hand takes nothing.
    let places = if attribute.vjp.is_some() { Vec::new() } else { places(&forms.adjoint) };
    let places = places.iter().map(|(from, to)| {
        let (from, to) = (Literal::usize_unsuffixed(*from), Literal::usize_unsuffixed(*to));
        quote!((#from, #to))
    });
    let in_place = match attribute.vjp.is_some() {
        true => quote!(false),
        false => quote!(::diffkern::private::in_place::<__adjoint<F #(, #law_names)*>>()),
    };
    let native_of = quote! {
        ::diffkern::private::Native {
            scalar: <F as ::diffkern::Float>::SCALAR,
            primal: ::diffkern::private::dispatch::<__primal<F #(, #law_names)*>>,
            adjoint: #adjoint_native,
            tangent: #tangent_native,
            directions: #directions_native,
            clear: #clear_native,
            second: #second_native,
            in_place: #in_place,
            lacks: [<__primal<F #(, #law_names)*> as ::diffkern::private::Body>::LACKS, #adjoint_lacks],
        }
    };
    let natives = natives(&native_of, sig);
    let primal_body = native::kernel(&forms.primal, &forms.source, &format_ident!("__primal"), &sig.law_params, true);
    let primal = program(&forms.primal, &forms.source, &writes(&forms.primal), attribute.injective);
    let line = u32::try_from(name.span().start().line).unwrap_or(0);
    let name_text = bare(name);
    let (allow, primitives, imports) = (allow(), primitives(), imports(item));
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

        #[doc(hidden)]
        #allow
        #[allow(non_camel_case_types)]
        #vis type #name #of_type = #hidden #of_type;

        #[doc(hidden)]
        #allow
        #[allow(non_camel_case_types)]
        #vis enum #hidden #decl

        #allow
        #[allow(non_camel_case_types)]
        const _: () = {
            #primitives
            #primal_body
            #adjoint_body
            #tangent_body
            #directions_body
            #clear_body
            #second_body
            #(#by_hand)*

            impl<#(#laws),*> #hidden #of_type {
                #[doc(hidden)]
                pub const DEF: ::diffkern::private::KernelDef = ::diffkern::private::KernelDef {
                    name: #name_text,
                    file: ::core::file!(),
                    line: #line,
                    primal: #primal,
                    adjoint: #adjoint,
                    tangent: #tangent,
                    directions: #directions,
                    clear: #clear,
                    second: #second,
                    places: &[#(#places),*],
                };

                #[doc(hidden)]
                pub fn def() -> &'static ::diffkern::private::KernelDef {
                    const { &Self::DEF }
                }

                #natives

                /// Whether the kernel, its adjoint and its tangent run on packs of lanes.
                #[doc(hidden)]
                pub const LANES: [bool; 3] = [
                    <__primal<f32 #(, #law_names)*> as ::diffkern::private::Body>::LANES,
                    #adjoint_on_lanes,
                    #tangent_on_lanes,
                ];

                #[doc(hidden)]
                pub fn on_lanes<F: ::diffkern::Float, K: ::diffkern::private::Kind>() -> ::diffkern::private::Native {
                    ::diffkern::private::Native {
                        primal: K::run::<__primal<F #(, #law_names)*>>,
                        adjoint: #adjoint_lanes,
                        tangent: #tangent_lanes,
                        directions: #directions_lanes,
                        in_place: true,
                        ..Self::native::<F>()
                    }
                }

                #checks

                #texts
            }
        };

        #imports
    }
}

/// The host's bodies by scalar type. Those of a kernel without laws are compiled once, in the crate that defines it: the
/// functions are no generics, and never inlined elsewhere. Over a law they are compiled in the first crate that asks for that
/// law, and found there by those above it, as functions are that are never inlined. Of a kernel in one precision the other is
/// made where a gradient check asks for it.
fn natives(native_of: &TokenStream, sig: &Signature) -> TokenStream {
    let both = [("F32", "__single", "f32"), ("F64", "__double", "f64")];
    let compiled = both.iter().filter(|(_, _, real)| match &sig.real {
        Some(own) => !sig.concrete || own == real,
        None => true,
    });
    let (arms, functions): (Vec<_>, Vec<_>) = compiled
        .map(|(scalar, name, real)| {
            let [scalar, name, real] = [scalar, name, real].map(|name| format_ident!("{name}"));
            let function = quote! {
                #[inline(never)]
                fn #name() -> ::diffkern::private::Native {
                    type F = ::core::primitive::#real;
                    #native_of
                }
            };
            (quote!(::diffkern::private::ScalarTy::#scalar => Self::#name(),), function)
        })
        .unzip();
    let choice = match arms.is_empty() {
        true => native_of.clone(),
        false => quote! {
            match <F as ::diffkern::Float>::SCALAR {
                #(#arms)*
                _ => #native_of,
            }
        },
    };
    quote! {
        #[doc(hidden)]
        pub fn native<F: ::diffkern::Float>() -> ::diffkern::private::Native {
            #choice
        }

        #(#functions)*
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
    /// What keeps it from packs.
    lacks: TokenStream,
}

/// Whether a form also gets a body for packs of lanes.
#[derive(Clone, Copy, PartialEq)]
enum OnLanes {
    Yes,
    No,
}

fn kernel_form(
    (func, source): (&Func, &Source),
    name: &str,
    on_lanes: OnLanes,
    by_hand: Option<&syn::Path>,
    sig: &Signature,
) -> KernelForm {
    if let Some(path) = by_hand {
        return KernelForm {
            body: quote!(),
            program: quote_spanned!(path.span()=> #path::DEF.primal),
            native: quote_spanned!(path.span()=> #path::native::<F>().primal),
            lanes: quote_spanned!(path.span()=> #path::on_lanes::<F, K>().primal),
            on_lanes: quote_spanned!(path.span()=> #path::LANES[0]),
            lacks: quote_spanned!(path.span()=> #path::native::<F>().lacks[0]),
        };
    }
    let name = format_ident!("{name}");
    let laws: Vec<_> = sig.law_params.iter().map(|law| &law.ident).collect();
    KernelForm {
        body: native::kernel(func, source, &name, &sig.law_params, on_lanes == OnLanes::Yes),
        // It stores where the kernel has, if at all.
        program: program(func, source, &[], false),
        native: quote!(::diffkern::private::dispatch::<#name<F #(, #laws)*>>),
        lanes: quote!(K::run::<#name<F #(, #laws)*>>),
        on_lanes: quote!(<#name<f32 #(, #laws)*> as ::diffkern::private::Body>::LANES),
        lacks: quote!(<#name<F #(, #laws)*> as ::diffkern::private::Body>::LACKS),
    }
}

/// A kernel with its tangents along several directions, where there is that form: options of what a [`KernelForm`] has.
struct Directions {
    body: TokenStream,
    def: TokenStream,
    native: TokenStream,
    lanes: TokenStream,
}

impl Default for Directions {
    fn default() -> Self {
        let none = option(None::<TokenStream>);
        Directions { body: quote!(), def: none.clone(), native: none.clone(), lanes: none }
    }
}

/// It stores what the kernel does, so it is looked at like that. There is no body where packs run one of the three and do not
/// run another: the bits would differ; and none where a tangent goes on with other values than the kernel has.
fn directions_form(count: usize, func: &Func, forms: &Forms, attribute: &Attribute, sig: &Signature) -> Directions {
    let source = &forms.source;
    let KernelForm { body, native, lanes, .. } = kernel_form((func, source), "__directions", OnLanes::Yes, None, sig);
    let program = program(func, source, &writes(&forms.primal), attribute.injective);
    let laws: Vec<_> = sig.law_params.iter().map(|law| &law.ident).collect();
    let lacks = ["__primal", "__tangent", "__directions"].map(|name| {
        let name = format_ident!("{name}");
        quote!(<#name<F #(, #laws)*> as ::diffkern::private::Body>::LACKS)
    });
    let by_hand = by_hand(forms);
    let alike = |body: TokenStream| {
        quote! {
            if const { ::diffkern::private::alike(&[#(#lacks),*]) && !(#by_hand) } {
                ::core::option::Option::Some(#body as ::diffkern::private::NativeBody)
            } else {
                ::core::option::Option::None
            }
        }
    };
    let count = Literal::usize_unsuffixed(count);
    let def = quote!(::diffkern::private::Directions { count: #count, program: #program });
    Directions { body, def: option(Some(def)), native: alike(native), lanes: alike(lanes) }
}

/// The tangent of the adjoint. That of an adjoint written by hand is a tangent as any other: it leaves the bars alone.
fn second_form(form: (&Func, &Source), by_hand: Option<&syn::Path>, sig: &Signature) -> KernelForm {
    match by_hand {
        None => kernel_form(form, "__second", OnLanes::No, None, sig),
        Some(path) => KernelForm {
            body: quote!(),
            program: quote_spanned!(path.span()=> #path::DEF.tangent),
            native: quote_spanned!(path.span()=> #path::native::<F>().tangent),
            lanes: quote!(),
            on_lanes: quote!(),
            lacks: quote!(),
        },
    }
}
