//! Scenes that numbers steer to a goal through impacts: a shot at billiard balls, a walking robot of springs; with impacts at their time, and for whole
//! steps to compare with.

mod scene;
#[doc(hidden)]
pub mod billiards;
#[doc(hidden)]
pub mod robot;
mod descent;
mod plan;
mod study;
mod markdown;
mod landscape;
mod command;
#[cfg(test)]
mod tests;

pub use billiards::Billiards;
pub use command::run;
pub use descent::Descent;
pub use landscape::draw;
pub use plan::{Kind, Named, Steering, catalogue, find};
pub use robot::{Network, Robot};
pub use scene::Twin;
pub use study::{Curve, Study};
