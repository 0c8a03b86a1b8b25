//! How a function names the device functions that it calls.
//!
//! A call goes by way of what the source says that the function takes and gives. Where that is wrong, all forms of the
//! caller give rustc one and the same error, on the path, which it shows once.

use diffkern_ir::{ArgTy, CallTypes, Callee, Func, Ty};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::law::law_name;
use super::{Forms, native};
use crate::source::Source;

/// A form of a device function that `func` calls, or what else it is asked for: `<path as ..>::FUNCTION.vjp`, or
/// `<M>::__stress_vjp` for a method of a law.
pub(super) fn callee_form(source: &Source, callee: &Callee, form: &str) -> TokenStream {
    let path = source.path(callee);
    if let Some((owner, method)) = source.method_of(callee) {
        let mut name = law_name(&method, form);
        name.set_span(method.span());
        return quote_spanned!(owner.span()=> <#owner>::#name);
    }
    let name = Ident::new(form, Span::call_site());
    match form {
        "def" => quote!(<#path as ::diffkern::private::DiffFn>::def),
        "calls" => quote!(<#path as ::diffkern::private::DiffFn>::RECURSION_IS_REFUSED),
        _ => {
            let types = takes(&callee.call);
            let function = quote_spanned!(path.span()=> <#path as ::diffkern::private::#types>::FUNCTION);
            quote_spanned!(path.span()=> #function.#name)
        }
    }
}

/// What keeps bodies of lanes from calling that form of a device function, an `Option<&str>`.
pub(super) fn callee_lacks(source: &Source, callee: &Callee, form: &str) -> TokenStream {
    callee_constant(source, callee, &function_constant(form))
}

/// A constant that a device function has beside its forms.
fn callee_constant(source: &Source, callee: &Callee, name: &Ident) -> TokenStream {
    if let Some((owner, method)) = source.method_of(callee) {
        let name = law_name(&method, &name.to_string());
        return quote!(<#owner>::#name);
    }
    let path = source.path(callee);
    quote!(<#path as ::diffkern::private::DiffFn>::#name)
}

/// `BY_HAND`: see [`by_hand`].
pub(super) fn by_hand_constant() -> Ident {
    Ident::new("BY_HAND", Span::call_site())
}

/// Whether the values that a tangent goes on with are not those of the function itself but of another, written by hand, here
/// or in what it calls.
pub(super) fn by_hand(forms: &Forms) -> TokenStream {
    let below = forms.primal.callees.iter().map(|callee| callee_constant(&forms.source, callee, &by_hand_constant()));
    let own = forms.by_hand;
    quote!(#own #(|| #below)*)
}

/// `VJP_LACKS`: what keeps bodies of lanes from calling a form of a device function.
pub(super) fn function_constant(form: &str) -> Ident {
    Ident::new(&format!("{}_LACKS", form.to_uppercase()), Span::call_site())
}

/// `__stress_VJP_LACKS`: the same of a method of a law.
pub(super) fn law_constant(method: &Ident, form: &str) -> Ident {
    law_name(method, &function_constant(form).to_string())
}

/// `Takes<(Real, u32), Real>`
pub(super) fn takes(call: &CallTypes) -> TokenStream {
    let args = call.args.iter().map(|arg| match *arg {
        ArgTy::Value(ty) => shown_type(ty),
        ArgTy::Array(elem) => {
            let elem = shown_type(elem);
            quote!(::diffkern::private::ArrayOf<#elem>)
        }
    });
    let results: Vec<_> = call.results.iter().map(|&ty| shown_type(ty)).collect();
    let results = match results.as_slice() {
        [one] => one.clone(),
        all => quote!((#(#all),*)),
    };
    quote!(Takes<(#(#args,)*), #results>)
}

/// As `native::rust_type`, of no scalar in particular.
fn shown_type(ty: Ty) -> TokenStream {
    super::replace_ident_by(native::rust_type(ty), "F", &|_| quote!(::diffkern::private::Real))
}

/// How many device functions are below this one, each counted wherever it is called: without end, and so an error of the
/// compiler that names the way round, for one that calls itself.
pub(super) fn calls(func: &Func, source: &Source) -> TokenStream {
    let below = func.callees.iter().map(|callee| callee_form(source, callee, "calls"));
    quote!(1usize #(+ #below)*)
}
