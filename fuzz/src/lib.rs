//! Random kernels of the kernel language, and what they compute and differentiate to by an evaluator that shares nothing
//! with the macro.
//!
//! [`generate::kernel`] makes a well-typed kernel from a seed, [`mod@print`] writes it as source, [`eval`] runs it over dual
//! numbers and [`shrink`] proposes smaller ones. Two searches use them: the tests of `diffkern-macros` run the
//! transformations in their interpreter, and the binary `fuzz` compiles the kernels for the CPU.
//!
//! # Modules
//! In the order in which data flows; each uses those above it.
//!
//! - `ast`: kernels as trees
//! - `random`: numbers from a seed
//! - `case`: a kernel with its inputs
//! - `generate`: makes a kernel from a seed
//! - `print`: writes a kernel as source
//! - `dual`: numbers with a derivative
//! - `eval`: runs a kernel over them
//! - `judge`: compares what was found with what is right
//! - `shrink`: proposes smaller kernels
//! - `program`: runs the binary `diffkern`
//! - `documents`: scenes of the documented schema
//! - `sample`: inputs for it, good and broken

pub mod ast;
pub mod random;
pub mod case;
pub mod generate;
pub mod print;
pub mod dual;
pub mod eval;
pub mod judge;
pub mod shrink;
#[cfg(feature = "inputs")]
pub mod program;
#[cfg(feature = "inputs")]
pub mod documents;
#[cfg(feature = "inputs")]
pub mod sample;
