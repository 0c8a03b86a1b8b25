//! Differentiable simulators on `diffkern` kernels.
//!
//! A [`mpm::Model`] is constant, a [`mpm::State`] flows, a [`mpm::Solver`] steps: state in, state out, so a step may be
//! recorded, replayed and differentiated. SI units throughout.
//!
//! Where gradients are one-sided: at contact (a particle or node that touches or lets go) and where a particle crosses
//! half a cell the third derivative of the weights jumps, which no first-order gradient sees.

#![deny(missing_docs)]

mod error;
pub mod material;
pub mod mesh;
pub mod mpm;
pub mod scene;

pub use error::{Error, Result};
