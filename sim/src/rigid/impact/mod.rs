//! Impacts by impulses.

#[doc(hidden)]
pub mod plane;
#[doc(hidden)]
pub mod time;
#[doc(hidden)]
pub mod spot;
#[doc(hidden)]
pub mod sweep;
#[doc(hidden)]
pub mod pair;
mod rounds;

pub(super) use pair::Pairs;
pub use plane::{ImpactParams, Impacts, Impulse, Plane};
pub(super) use rounds::Bounced;
