//! The whole way from an annotated function to what replaces it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

use crate::diagnostics::Diagnostics;
use crate::emit::{self, Forms};
use crate::ir::{Func, FuncKind};
use crate::{adjoint, lower, parse, simplify, tangent};

pub fn expand(args: TokenStream, item: TokenStream, kind: FuncKind) -> TokenStream {
    let item: ItemFn = match syn::parse2(item) {
        Ok(item) => item,
        Err(e) => return e.into_compile_error(),
    };
    let errors = Diagnostics::default();
    if !args.is_empty() {
        errors.at(args, "this attribute takes no arguments");
    }
    let sig = parse::signature(&item, kind, &errors);
    let forms = sig.as_ref().map(|sig| forms(lower::lower(&item, sig, kind, &errors), &errors));
    match (errors.finish(), sig, forms) {
        (Ok(()), Some(sig), Some(Some(forms))) => match kind {
            FuncKind::Kernel => emit::kernel(&item, &sig, &forms),
            FuncKind::DiffFn => emit::function(&item, &sig, &forms),
        },
        (result, sig, _) => {
            let error = result.err().map(syn::Error::into_compile_error);
            let rest = emit::fallback(&item, sig.as_ref(), kind == FuncKind::Kernel);
            quote!(#error #rest)
        }
    }
}

/// Primal, adjoint and tangent, if the primal has no mistakes.
pub fn forms(mut primal: Func, errors: &Diagnostics) -> Option<Forms> {
    if errors.found() {
        return None;
    }
    let [mut adjoint, mut tangent] = [adjoint::adjoint(&primal), tangent::tangent(&primal)];
    for func in [&mut primal, &mut adjoint, &mut tangent] {
        simplify::simplify(func);
    }
    Some(Forms { primal, adjoint, tangent })
}
