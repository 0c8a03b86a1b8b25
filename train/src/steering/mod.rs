//! Scenes that numbers steer to a goal through impacts: a shot at billiard balls, walking robots of springs and of rigid bodies; with impacts at their time, and for whole
//! steps to compare with. Three springs have no impacts.

mod scene;
#[doc(hidden)]
pub mod network;
#[doc(hidden)]
pub mod billiards;
#[doc(hidden)]
pub mod robot;
#[doc(hidden)]
pub mod rigid_robot;
#[doc(hidden)]
pub mod triangle;
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
pub use network::Network;
pub use plan::{Kind, Named, Steering, catalogue, find};
pub use rigid_robot::{Actuator, Plate, RigidRobot, Tie};
pub use robot::Robot;
pub use scene::Twin;
pub use study::{Curve, Study};
pub use triangle::Triangle;
