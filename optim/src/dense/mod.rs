//! Rules for few parameters, as numbers on the host: Levenberg-Marquardt on dense normal equations within bounds, and Adam.
//! They choose steps only: who evaluates, and on what, is elsewhere.

mod adam;
mod levenberg_marquardt;
mod normal_equations;

pub use adam::Adam;
pub use levenberg_marquardt::{Bounds, LevenbergMarquardt, Prior, Step};
pub use normal_equations::NormalEquations;
