//! Two tennis balls that collide on a table and were filmed: restitution, friction, start, spin and camera.

mod film;
#[doc(hidden)]
pub mod balls;
mod study;
mod command;
#[cfg(test)]
mod tests;

pub use command::{NAME, run};
pub use film::{Film, read};
pub use study::{Found, Study};
