//! Structs over the dimension: one type with the dimension as a parameter, whose fields kernels are told for each.
//!
//! ```text
//! #[diff_struct(dims(2, 3))]                        struct Ball<F: Float, D: Dimension> { x: D::Vector<F>, r: F }
//! struct Ball<F, const D: usize> {                  Ball! tells { x: Vec2, r: real } { x: Vec3, r: real }
//!     x: Vector<F, D>, r: F }
//! ```

use proc_macro2::TokenStream;
use syn::visit_mut::VisitMut;
use syn::{FieldsNamed, GenericParam, Ident, ItemStruct, parse_quote};

use super::dims::{self, Dims};
use super::generic::Host;
use super::instance::Instance;
use crate::diagnostics::Diagnostics;

/// What a struct over the dimension calls it.
pub struct Struct {
    name: Ident,
}

/// Takes the dimension out of the parameters of a struct, if it is over it; gives what else the arguments are.
pub fn of_struct(args: &TokenStream, item: &mut ItemStruct, errors: &Diagnostics) -> (Option<Struct>, TokenStream) {
    let (dims, name) = (Dims::take(args, errors), dims::parameter(&item.generics));
    let rest = dims.as_ref().map_or_else(|| args.clone(), |dims| dims.rest.clone());
    let Some(name) = name else {
        dims.iter().for_each(|dims| dims::no_parameter(dims, errors));
        return (None, rest);
    };
    let over = |each: &mut dyn FnMut(&syn::Path)| {
        item.fields.iter().for_each(|field| dims::paths_of_type(&field.ty, each));
    };
    match &dims {
        Some(dims) if dims.all.len() < dims::ALL.len() => {
            errors.error(dims.span, "a struct over the dimension is for both: write `dims(2, 3)`");
        }
        Some(_) => {}
        None if dims::is_dimension(&name, over) => dims::no_dims(&item.generics, "diff_struct", errors),
        None => return (None, rest),
    }
    dims::take_parameter(&mut item.generics);
    (Some(Struct { name }), rest)
}

impl Struct {
    pub fn name(&self) -> &Ident {
        &self.name
    }

    /// The fields for `d` dimensions.
    pub fn fields(&self, named: &FieldsNamed, d: u8, errors: &Diagnostics) -> FieldsNamed {
        let (mut named, errors_here) = (named.clone(), errors.apart());
        let mut instance = Instance::new(&self.name, d, String::new(), &errors_here);
        named.named.iter_mut().for_each(|field| instance.visit_type_mut(&mut field.ty));
        if !errors.found() {
            errors.take(errors_here);
        }
        named
    }

    /// The struct as the host has it.
    pub fn on_host(&self, item: &mut ItemStruct) {
        let name = &self.name;
        let mut host = Host::new(name.clone());
        item.fields.iter_mut().for_each(|field| host.visit_type_mut(&mut field.ty));
        for param in &mut item.generics.params {
            if let GenericParam::Type(t) = param {
                t.colon_token.get_or_insert_default();
                t.bounds = parse_quote!(::diffkern::Float);
            }
        }
        item.generics.params.push(parse_quote!(#name: ::diffkern::Dimension));
    }
}
