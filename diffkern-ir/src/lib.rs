//! The intermediate representation of `diffkern`'s kernels.
//!
//! Structured static single assignment: every value is defined once, a mutable variable of the source has become the
//! results of the `If`s and `For`s that change it. So adjoints and tangents are plain functions from [`Func`] to
//! [`Func`], and compose.
//!
//! ```text
//! source -> Func -> adjoint, tangent: Func -> Rust for the host
//!                                          -> text ([`print`]) -> Func ([`parse`]) -> a GPU's kernel
//! ```
//!
//! The macros of `diffkern` build it and `diffkern` reads its text; nothing else should name this crate, whose versions
//! are those of `diffkern` and change with them. The operations are the rows of one table ([`UnaryOp`], [`BinaryOp`]);
//! what a function must obey is [`verify()`], what it costs [`work()`].
//!
//! # Modules
//! In the order in which data flows; each uses those above it.
//!
//! - `ty`: types, and the numbers of values and parameters
//! - `typing`: which types an operation takes and gives
//! - `table`: one row per operation: name, operands and result, work, kinks of the derivative
//! - `op`: pure operations
//! - `stmt`: statements and blocks
//! - `func`: functions and their parameters
//! - `cost`: the work of a position
//! - `numbering`: which statements compute the same
//! - `verify`: what a function must obey
//! - `print`: the text form
//! - `parse`: reads the text form, with the feature `parser`
//! - `interpret`: runs a function at one position, with the feature `interpreter`
//! - `rows`: a kernel for each operation, with the feature `interpreter`

#![deny(missing_docs)]

mod ty;
mod typing;
mod table;
mod op;
mod stmt;
mod func;
mod cost;
mod numbering;
mod verify;
mod print;
#[cfg(feature = "parser")]
mod parse;
#[cfg(feature = "interpreter")]
pub mod interpret;
#[cfg(feature = "interpreter")]
mod rows;

pub use cost::work;
pub use func::{Access, ArgTy, CallTypes, Callee, Func, FuncKind, Param, ParamKind};
pub use numbering::{Key, Numbering};
pub use op::{Builtin, Lit, Op};
#[cfg(feature = "parser")]
pub use parse::{ParseError, parse};
pub use print::{print, with_names};
#[cfg(feature = "interpreter")]
pub use rows::{Row, rows};
pub use stmt::{Block, CallArg, CallMode, FaultKind, Node, StackKind, Stmt, StmtKind};
pub use table::{BinaryOp, Kink, UnaryOp};
pub use ty::{Id, Slot, Ty};
pub use typing::{BinaryTyping, UnaryTyping};
pub use verify::{VerifyError, verify};

/// Version of the text form; part of the identity of every kernel built from it.
pub const FORMAT_VERSION: u32 = 3;
