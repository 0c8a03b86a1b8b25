//! From the text of a scene to typed values: JSON and RON are two ways to write one tree.

mod fault;
mod node;
mod syntax;
mod values;
mod place;

pub(super) use fault::{Fault, among};
pub(super) use node::Node;
pub(super) use place::place;
pub(super) use syntax::{Syntax, json};
pub(super) use values::typed;
