//! Second-order optimisation of few parameters.

mod lm;
mod normal;

pub use lm::{Bounds, Lm, Prior, Step};
pub use normal::Normal;
