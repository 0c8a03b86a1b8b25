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

#![deny(missing_docs)]

mod cost;
mod func;
#[cfg(feature = "interpreter")]
pub mod interpret;
mod numbering;
mod op;
#[cfg(feature = "parser")]
mod parse;
mod print;
#[cfg(feature = "interpreter")]
mod rows;
mod stmt;
mod table;
mod ty;
mod typing;
mod verify;

pub use cost::work;
pub use func::{Access, ArgTy, CallTypes, Callee, Func, FuncKind, Param, ParamKind, Slot};
pub use numbering::{Key, Numbering};
pub use op::{Builtin, Lit, Op};
#[cfg(feature = "parser")]
pub use parse::{ParseError, parse};
pub use print::{print, with_names};
#[cfg(feature = "interpreter")]
pub use rows::{Row, rows};
pub use stmt::{Block, CallArg, CallMode, FaultKind, Node, Stmt, StmtKind};
pub use table::{BinaryOp, Kink, UnaryOp};
pub use ty::{Id, Ty};
pub use typing::{BinaryTyping, UnaryTyping};
pub use verify::{VerifyError, verify};

/// Version of the text form; part of the identity of every kernel built from it.
pub const FORMAT_VERSION: u32 = 3;
