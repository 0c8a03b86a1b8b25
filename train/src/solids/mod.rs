//! Elastic beams and balls under known forces: mass and stiffness, and mass by element, found from states and pictures of a motion that a finer
//! lattice and shorter steps have made.
//!
//! What is drawn depends on the seed and the number of the instance alone. The search is least squares with exact derivatives by forward mode: in the
//! logarithms of the numbers, or in the coordinates of a Gaussian field, of which the prior is a part of the least squares.

mod protocol;
mod field;
mod instance;
mod load;
mod program;
mod observation;
mod fit;
mod row;
mod table;
mod markdown;
mod tabulate;
#[cfg(test)]
mod tests;

pub use observation::{Observation, Sought, Supervision};
pub use protocol::{NAME, Protocol};
pub use row::{Error, Row};
pub use tabulate::tabulate;
