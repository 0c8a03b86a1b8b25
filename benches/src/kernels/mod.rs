//! Every kernel of `sim` and `render`, with inputs to time it on and inputs to check its gradient on.

#[macro_use]
mod case;
mod random;
mod render;
mod sim;
mod sources;

pub use case::{Case, Kernel, Size};
pub use sources::declared;

/// All kernels, those of `sim` first.
pub fn all() -> Vec<Kernel> {
    [sim::kernels(), render::kernels()].concat()
}
