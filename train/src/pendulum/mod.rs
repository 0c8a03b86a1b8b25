//! A double pendulum whose angles were measured: lengths, inertias and friction, and how far swings that were not fitted are from where
//! these say that they go.

mod recording;
#[doc(hidden)]
pub mod arms;
mod projected;
mod search;
mod study;
mod markdown;
mod command;
#[cfg(test)]
mod tests;

pub use arms::Constants;
pub use command::{NAME, run};
pub use recording::{Recording, Segment, read};
pub use study::{Begin, Found, Judged, Study};
