//! Differentiable simulators on `diffkern` kernels.
//!
//! A [`mpm::Model`] is constant, a [`mpm::State`] flows, a [`mpm::Solver`] steps: state in, state out, so a step may be
//! recorded, replayed and differentiated. SI units throughout.
//!
//! Where gradients are one-sided: at contact, when a particle or node touches or lets go. Where a particle changes cells
//! the second derivative of the weights jumps; the gradient is continuous there.

#![deny(missing_docs)]

mod error;
pub mod material;
pub mod mesh;
pub mod mpm;
pub mod scene;

pub use error::{Error, Result};
