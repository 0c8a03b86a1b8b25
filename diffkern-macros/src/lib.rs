//! Attribute macros of `diffkern`.
mod ir;
