//! Adjoints and tangents against differences and against each other, on the IR alone.

mod control;
mod kinks;
mod leaving;
mod locals;
mod memory;
mod random;
mod rules;
mod structure;
pub mod support;
mod tokens;
mod updates;
mod work;
