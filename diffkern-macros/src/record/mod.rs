//! Plain structs. A macro sees one item, so a struct also has a macro of its name, which hands its fields on:
//!
//! ```text
//! #[diff_struct] struct Body<F> { x: Vec3<F>, m: F }      the struct, and macro_rules! Body
//! #[diff_kernel] fn k<F: Float>(b: &Array<Body<F>>)       Body! { diff_kernel fn k .. }
//!                                                         __resume! { Body { x: Vec3<F>, m: F } diff_kernel fn k .. }
//!                                                         fn k<F: Float>(b: &Array<F>), reading b[4 * i], ..
//! ```
//! What follows is a translation of source to source: a value of a struct is a variable per field, an array of structs is
//! the array of their scalars. So the language itself, its adjoints and its backends know of no structs.

mod compounds;
mod declare;
mod def;
mod enums;
mod find;
mod host;
mod of_dimension;
mod options;
mod order;
mod parts;
mod rewrite;
mod shapes;
mod signature;
mod statements;
mod tail;
#[cfg(test)]
mod tests;
mod values;

pub use compounds::rewrite as rewrite_compounds;
pub use declare::{Resume, ask, declare, declare_with, is_cfg};
pub use def::Records;
pub use enums::{declare as declare_enum, rewrite as rewrite_enums};
pub use find::{ambiguous, missing};
pub use of_dimension::of_dimension;
pub use options::rewrite as rewrite_options;
pub use rewrite::rewrite;
