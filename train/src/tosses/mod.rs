//! Tosses of a cube onto a table that were measured: friction, restitution and length scale, and how far tosses that were not fitted are
//! from where these say that they go.

mod recording;
mod start;
mod cube;
mod misfit;
mod search;
mod claims;
mod study;
mod markdown;
mod command;
#[cfg(test)]
mod tests;

pub use claims::{Claims, Spread};
pub use command::{Numbers, Tosses};
pub use cube::Constants;
pub use recording::{Toss, read};
pub use study::{Judged, PoseErrors, Study, Useless};
