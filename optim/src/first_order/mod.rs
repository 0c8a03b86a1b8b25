//! Rules that follow the gradient alone, with settings for each array of parameters.

pub(crate) mod adam;
mod group;
mod sgd;
#[cfg(test)]
mod tests;

pub use adam::{Adam, WeightDecay};
pub use group::Group;
pub use sgd::Sgd;
