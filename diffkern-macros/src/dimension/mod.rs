//! One source for two and three dimensions. A function over the dimension becomes a function for each, before anything else
//! reads it:
//!
//! ```text
//! #[diff_kernel(dims(2, 3))]                               #[diff_kernel] fn drift_2d<F: Float>(x: &Array<Vec2<F>>, ..)
//! fn drift<F: Float, const D: usize>(                      #[diff_kernel] fn drift_3d<F: Float>(x: &Array<Vec3<F>>, ..)
//!     x: &Array<Vector<F, D>>, ..)                         fn drift<F: Float, D: Dimension>(.., x: &Array<D::Vector<F>>, ..)
//!
//! #[diff_fn(dims(2, 3))]                                   #[diff_fn] fn push_2d<F: Float>(x: Vec2<F>) -> Vec2<F>, and 3d
//! fn push<F: Float, const D: usize>(x: Vector<F, D>)       type push<D: Dimension> = push_2d or push_3d
//! ```
//!
//! An import of `drift` or `push` brings all instances: the host launches that of a [`Dimension`], and a kernel over the
//! dimension calls `push::<F, D>(x)`.

mod constant;
mod dims;
mod generic;
mod instance;
mod methods;
mod structs;
#[cfg(test)]
mod tests;

use diffkern_ir::FuncKind;
use proc_macro2::TokenStream;
use syn::{Ident, ItemFn};

use crate::diagnostics::Diagnostics;
use dims::Dims;
pub use dims::{ALL, mentions};

pub use methods::{Methods, methods};
pub use structs::{Struct, of_struct};

/// A function over the dimension.
pub struct Over {
    item: ItemFn,
    /// What the source calls the dimension.
    name: Ident,
    dims: Dims,
    errors: Diagnostics,
}

/// What the attribute of a function is called.
pub fn attribute(kind: FuncKind) -> &'static str {
    if kind == FuncKind::Kernel { "diff_kernel" } else { "diff_fn" }
}

/// The function over the dimension that an item is, or what its attribute says beside `dims`.
pub fn of(args: &TokenStream, item: &ItemFn, kind: FuncKind) -> Result<Over, (TokenStream, Diagnostics)> {
    let errors = Diagnostics::default();
    let name = dims::parameter(&item.sig.generics);
    match (Dims::take(args, &errors), name) {
        (Some(dims), Some(name)) => Ok(Over { item: item.clone(), name, dims, errors }),
        (Some(dims), None) => {
            dims::no_parameter(&dims, &errors);
            Err((dims.rest, errors))
        }
        (None, Some(name)) if dims::is_dimension(&name, |each| dims::paths(item, each)) => {
            dims::no_dims(&item.sig.generics, attribute(kind), &errors);
            let dims = Dims::both(name.span(), args.clone());
            Ok(Over { item: item.clone(), name, dims, errors })
        }
        (None, _) => Err((args.clone(), errors)),
    }
}

impl Over {
    /// Its instances, with the arguments of their attributes and what is wrong with each.
    pub fn instances(&self) -> impl Iterator<Item = (TokenStream, ItemFn, Diagnostics)> {
        self.dims.all.iter().map(|&d| {
            let errors = Diagnostics::default();
            let item = instance::instance(&self.item, &self.name, d, &errors);
            (generic::by_hand(self.dims.rest.clone(), d), item, errors)
        })
    }

    /// The one name for them.
    pub fn one_name(&self, kind: FuncKind) -> TokenStream {
        generic::one_name(&self.item, &self.name, &self.dims.all, kind)
    }

    /// What is wrong with the dimensions themselves.
    pub fn finish(self) -> Result<(), syn::Error> {
        self.errors.finish()
    }
}

/// The mistakes of all instances, each once: of a later one those at places where the ones before have none.
pub fn merged(found: Vec<Option<syn::Error>>) -> Option<syn::Error> {
    let place = |error: &syn::Error| {
        let (start, end) = (error.span().start(), error.span().end());
        (start.line, start.column, end.line, end.column)
    };
    let (mut all, mut before) = (Vec::<syn::Error>::new(), Vec::new());
    for errors in found.into_iter().flatten() {
        let new = errors.into_iter().filter(|error| !before.contains(&place(error)));
        // A loop over axes has its mistakes in each iteration.
        let mut here = Vec::<syn::Error>::new();
        for error in new {
            if !here.iter().any(|known| place(known) == place(&error)) {
                here.push(error);
            }
        }
        before.extend(here.iter().map(place));
        all.extend(here);
    }
    all.into_iter().reduce(|mut all, error| {
        all.combine(error);
        all
    })
}
