//! Methods over the dimension, of a trait whose methods are device functions: one for each dimension.

use proc_macro2::TokenStream;
use syn::ItemFn;

use super::dims::{self, Dims};
use super::{instance, merged};
use crate::diagnostics::Diagnostics;

/// The dimensions of a trait or of its implementation.
pub struct Methods {
    dims: Option<Dims>,
    what: &'static str,
}

/// Takes `dims(..)` out of the arguments of an attribute; gives what else they are.
pub fn methods(args: &TokenStream, what: &'static str, errors: &Diagnostics) -> (Methods, TokenStream) {
    match Dims::take(args, errors) {
        Some(dims) => {
            let rest = dims.rest.clone();
            (Methods { dims: Some(dims), what }, rest)
        }
        None => (Methods { dims: None, what }, args.clone()),
    }
}

impl Methods {
    /// The methods that a method is: itself, or one for each dimension.
    pub fn of(&self, function: ItemFn, errors: &Diagnostics) -> Vec<ItemFn> {
        let Some(name) = dims::parameter(&function.sig.generics) else { return vec![function] };
        let all = match &self.dims {
            Some(dims) => dims.all.clone(),
            None if dims::is_dimension(&name, |each| dims::paths(&function, each)) => {
                dims::no_dims(&function.sig.generics, self.what, errors);
                dims::ALL.to_vec()
            }
            None => return vec![function],
        };
        all.into_iter().map(|d| instance::instance(&function, &name, d, errors)).collect()
    }

    /// The mistakes of all methods, each once.
    pub fn finish(&self, errors: Diagnostics) -> syn::Result<()> {
        match errors.finish() {
            Err(error) if self.dims.is_some() => merged(vec![Some(error)]).map_or(Ok(()), Err),
            other => other,
        }
    }
}
