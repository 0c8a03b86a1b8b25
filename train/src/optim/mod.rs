//! Choices of steps: second-order for few parameters, by least squares or by products with the Hessian, and Adam.

mod adam;
mod choice;
mod lm;
mod newton_cg;
mod normal;

pub use adam::Adam;
pub use choice::Optimizer;
pub use lm::{Bounds, Lm, Prior, Step};
pub use newton_cg::{Inner, NewtonCg, NewtonStep};
pub use normal::Normal;
