//! Kernels as data: the text that the macro writes beside the native code, read into a typed representation.
//!
//! One statement per line, tokens separated by spaces, values `%N`. A backend that compiles at run time walks the
//! [`Func`] that [`parse`] returns; the native one never needs it.
//!
//! ```text
//! fn axpy
//! array 0 read real x
//! array 1 add real y owned
//! scalar 2 %0 real a
//! body
//! %1 : usize = pos
//! %2 : real = load 0 %1 @7
//! %3 : real = mul %0 %2
//! add 1 %1 %3 @7
//! ```

mod check;
mod parse;
#[cfg(test)]
mod tests;
mod types;

pub use parse::parse;
pub use types::{
    Access, BinaryOp, Block, Builtin, CallArg, CallMode, FaultKind, Func, Id, Lit, Op, ParamKind, Slot, Stmt, Ty,
    UnaryOp,
};

/// Version of the text form; part of the identity of every kernel built from it.
pub const FORMAT_VERSION: u32 = 2;
