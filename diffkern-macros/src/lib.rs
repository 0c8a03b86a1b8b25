//! Attribute macros of `diffkern`: the adjoint and the tangent of a kernel from its source.
//!
//! `parse` and `lower` turn the function into typed IR, `adjoint` and `tangent` are functions from IR to IR, `simplify`
//! removes dead code, `emit` writes Rust for the CPU and a text from which `diffkern` builds GPU kernels.
//!
//! # Modules
//! In the order in which data flows; each uses those above it.
//!
//! - `diagnostics`: all mistakes of an item, each on the token to change
//! - `names`: raw names, and names made of others
//! - `home`: where generated code finds `diffkern`
//! - `attribute`: what stands in the brackets of an attribute
//! - `cube`: names of CubeCL that are refused, with what to write
//! - `parse`: the signature: names, parameters, types
//! - `dimension`: one source for two and three dimensions, written out for each
//! - `source`: spans, and the paths of device functions, by the numbers that the IR carries
//! - `port`: what authors of CubeCL kernels write in another way, as the language has it
//! - `tuples`: tuples in tuples, laid flat
//! - `early`: `return` before the end, as the branches that it stands for
//! - `spell`: what may be written in two ways, in the one that is read
//! - `lower`: from syntax to IR
//! - `effects`: what the evaluation of an expression changes
//! - `builder`: appends statements to a function
//! - `rules`: the derivative of every operation, one row each
//! - `terms`: the terms that the components of products are sums of
//! - `activity`: which values carry a derivative
//! - `access`: how a generated function touches its arrays
//! - `simplify`: removes dead code
//! - `reach`: where an adjoint may be zero because the value was not chosen
//! - `guard`: tests of an adjoint against zero
//! - `adjoint`: the adjoint of a function
//! - `tangent`: the tangent of a function
//! - `directions`: a kernel with its tangents along several directions
//! - `custom`: derivatives written by hand
//! - `places`: which arrays of an adjoint may share memory
//! - `uniform`: which values all lanes of a pack have in common
//! - `writes`: which elements a kernel stores to
//! - `emit`: Rust for the CPU, texts for GPUs, the function that launches
//! - `record`: structs, enums and options: from source with them to source without
//! - `expand`: the whole way from an annotated function to what replaces it
//! - `law`: traits whose methods are device functions
//! - `resume`: an item goes on when one more struct is known
//! - `place`: where an item may stand

mod diagnostics;
mod names;
mod home;
mod attribute;
mod cube;
mod parse;
mod dimension;
mod source;
mod port;
mod tuples;
mod early;
mod spell;
mod lower;
mod effects;
mod builder;
mod rules;
mod terms;
mod activity;
mod access;
mod simplify;
mod reach;
mod guard;
mod adjoint;
mod tangent;
mod directions;
mod custom;
mod places;
mod uniform;
mod writes;
mod emit;
mod record;
mod expand;
mod law;
mod resume;
mod place;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod gradient_tests;

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
    resume::resume(input.into()).into()
}

/// Expands an item at the crate that the arguments say.
fn at_home(
    args: proc_macro::TokenStream,
    item: proc_macro::TokenStream,
    expand: impl FnOnce(TokenStream, TokenStream) -> TokenStream,
) -> proc_macro::TokenStream {
    home::at_home(args.into(), item.into(), expand).into()
}
