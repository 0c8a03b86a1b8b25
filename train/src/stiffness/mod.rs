//! Young's modulus of each element of a block that is shaken along three axes, from the places of all its vertices, which are noisy.

mod protocol;
mod kernels;
mod block;
mod study;
mod markdown;
mod command;
#[cfg(test)]
mod tests;

pub use command::run;
pub use protocol::{NAME, Protocol};
pub use study::Study;
