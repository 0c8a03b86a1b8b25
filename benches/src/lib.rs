//! What the benches and their tests share.

#![deny(missing_docs)]

pub mod kernels;
