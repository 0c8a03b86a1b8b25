//! Random kernels of the kernel language, and what they compute and differentiate to by an evaluator that shares nothing
//! with the macro.
//!
//! [`generate::kernel`] makes a well-typed kernel from a seed, [`mod@print`] writes it as source, [`eval`] runs it over dual
//! numbers and [`shrink`] proposes smaller ones. Two searches use them: the tests of `diffkern-macros` run the
//! transformations in their interpreter, and the binary `fuzz` compiles the kernels for the CPU.

pub mod ast;
pub mod case;
pub mod dual;
pub mod eval;
pub mod generate;
pub mod judge;
pub mod print;
#[cfg(feature = "inputs")]
pub mod program;
pub mod random;
#[cfg(feature = "inputs")]
pub mod sample;
pub mod shrink;
