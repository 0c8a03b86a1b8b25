//! A silicone beam that was held straight, let go, and seen by motion capture: stiffness and damping of the bare one, then what hangs on the
//! others.

mod recording;
mod placed;
mod study;
mod command;
#[cfg(test)]
mod tests;

pub use command::{NAME, run};
pub use placed::{Placed, Unknown};
pub use recording::{Recording, read};
pub use study::{Estimated, Found, Study};
