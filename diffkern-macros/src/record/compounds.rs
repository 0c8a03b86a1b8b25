//! Vectors, matrices and quaternions by value among the parameters of a kernel: their scalars.
//!
//! | source | becomes |
//! |---|---|
//! | `fn k<F: Float>(g: Vec2<F>) { .. }` | `fn k<F: Float>(g_0: F, g_1: F) { let g = Vec2::new(g_0, g_1); .. }` |

use diffkern_ir::Ty;
use quote::quote;
use syn::{FnArg, ItemFn, Pat, Stmt, parse_quote, parse_quote_spanned};

use super::host;
use super::values::{compose, parts};
use crate::diagnostics::Diagnostics;
use crate::names::bare;
use crate::parse::HostParam;
use crate::parse::{real_of, value_type};

/// Rewrites a kernel with such parameters as one without; gives what the host sees of them.
pub fn rewrite(item: &mut ItemFn) -> Vec<HostParam> {
    let Some(real) = real_of(item) else { return Vec::new() };
    let (mut params, mut lets) = (Vec::new(), Vec::<Stmt>::new());
    let mut inputs = syn::punctuated::Punctuated::new();
    for arg in std::mem::take(&mut item.sig.inputs) {
        let compound = match &arg {
            FnArg::Typed(typed) => match &*typed.pat {
                Pat::Ident(name) if typed.attrs.is_empty() => {
                    value_type(&typed.ty, Some(&real), &Diagnostics::default())
                        .filter(|ty| matches!(ty, Ty::Vec(_) | Ty::Mat(_) | Ty::Quat))
                        .map(|ty| (name.ident.clone(), ty))
                }
                _ => None,
            },
            FnArg::Receiver(_) => None,
        };
        let Some((name, ty)) = compound else {
            inputs.push(arg);
            continue;
        };
        let parts = parts(&name, ty);
        for part in &parts {
            inputs.push(parse_quote_spanned!(name.span()=> #part: #real));
        }
        let value = compose(ty, parts.iter().map(|part| parse_quote!(#part)).collect(), name.span());
        lets.push(parse_quote!(let #name = #value;));
        params.push(HostParam {
            ty: crate::emit::rust_type(ty),
            args: host::plain(&item.sig.ident, &bare(&name), &quote!(#name), ty),
            name,
        });
    }
    item.sig.inputs = inputs;
    item.block.stmts.splice(0..0, lets);
    params
}
