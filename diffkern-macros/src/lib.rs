//! Attribute macros of `diffkern`: the adjoint and the tangent of a kernel from its source.
//!
//! `parse` and `lower` turn the function into typed IR, `adjoint` and `tangent` are functions from IR to IR, `simplify`
//! removes what nobody reads, `emit` writes Rust for the CPU and a text from which `diffkern` builds GPU kernels.

mod access;
mod activity;
mod adjoint;
mod attribute;
mod builder;
mod cube;
mod custom;
mod diagnostics;
mod dimension;
mod early;
mod effects;
mod emit;
mod expand;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod gradient_tests;
mod guard;
mod home;
mod law;
mod lower;
mod names;
mod parse;
mod place;
mod places;
mod port;
mod reach;
mod record;
mod rules;
mod simplify;
mod source;
mod spell;
mod tangent;
mod tuples;
mod uniform;
mod writes;

use proc_macro2::TokenStream;

/// A kernel: runs once for each index of a launch domain. See the kernel language in the documentation of `diffkern`.
#[proc_macro_attribute]
pub fn diff_kernel(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    place::placed("diff_kernel", args.into(), item.into()).into()
}

/// A device function: called from kernels and from other device functions, with the type of its result written at the
/// call.
#[proc_macro_attribute]
pub fn diff_fn(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    place::placed("diff_fn", args.into(), item.into()).into()
}

/// A law: a trait whose methods are device functions. Kernels and device functions may have a type parameter that
/// implements it.
#[proc_macro_attribute]
pub fn diff_trait(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    at_home(args, item, law::expand_trait)
}

/// The implementation of a law for a type.
#[proc_macro_attribute]
pub fn diff_impl(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    at_home(args, item, law::expand_impl)
}

/// A plain struct of the kernel language: reals, vectors, matrices, integers, truth values, other such structs. It gets
/// `repr(C)`, `Clone`, `Copy`, `Debug` and `PartialEq`; one of reals alone can be an element of an array.
#[proc_macro_attribute]
pub fn diff_struct(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    at_home(args, item, record::declare)
}

/// A choice among names, for kernels and device functions: an enum without fields. In a kernel it is a number.
#[proc_macro_attribute]
pub fn diff_enum(args: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    at_home(args, item, record::declare_enum)
}

/// Expands a kernel or device function where it has been found to stand in a module. Not for users.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn __expand(args: proc_macro::TokenStream, _: proc_macro::TokenStream) -> proc_macro::TokenStream {
    place::expand(args.into()).into()
}

/// How the macro of a struct hands its fields on. Not for users.
#[doc(hidden)]
#[proc_macro]
pub fn __resume(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    record::resume(input.into()).into()
}

/// Expands an item at the crate that the arguments say.
fn at_home(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
    expand: impl FnOnce(TokenStream, TokenStream) -> TokenStream,
) -> proc_macro::TokenStream {
    home::at_home(args.into(), item.into(), expand).into()
}
