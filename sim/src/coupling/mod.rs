//! Contact between bodies of different models: points of one press on the surface of another.
//!
//! [`SurfaceContact`] is an [`Exchange`](crate::Exchange) of a [`Coupled`](crate::Coupled). Its points are those of [rigid](crate::rigid) bodies, spread
//! over their surfaces, or vertices of [springs](crate::springs); the surface is that of bodies of [finite elements](crate::fem::lattice). As among these, a
//! contact is a law of the distance that the matter at a point had from the surface at rest. So the forces have a potential but for damping and friction, and what a
//! point feels its matter feels with the opposite sign and at the same place: momentum and angular momentum stay to rounding.
//!
//! Steps of rigid bodies and of springs take their forces at their beginning, those of finite elements after half a drift. Forces are those of the positions
//! at which each takes them. So finite elements lag behind by half a step, and in this clock all positions are of one time and all velocities of one time half a
//! step before: a leapfrog of second order.
//!
//! # Gradients
//! To all parameters of both models and of the contact, and to both states, exact for the steps as they are computed.
//!
//! | contact, by pressure | gradient | zero |
//! |---|---|---|
//! | [`SmoothPenalty`](crate::contact::SmoothPenalty), [`Hertz`](crate::contact::Hertz) | smooth; its slope has kinks at touch | by stiffness, damping and friction while nothing touches |
//! | [`Barrier`](crate::contact::Barrier) | smooth; also its slope | beyond its width |
//! | [`Penalty`](crate::contact::Penalty), [`HuntCrossley`](crate::contact::HuntCrossley) | kinks where a point touches or lets go, of the size of the step | while nothing touches; by damping where a separation is too fast to push |
//! | [`KelvinVoigt`](crate::contact::KelvinVoigt) | the force jumps at touch: what the time of touch does to that is missing | the same |
//! | friction | smooth between sticking and sliding, but stiff: one step stops what slides, and what slides slower than that creeps instead | by the coefficient, where nothing presses |
//!
//! The areas for which points stand are constants. Where a point is outside of all cells, and passes from one that carries it to the next, what it feels may jump by the square of
//! its distance from the cells; in the body it does not.

mod points;
mod rigid;
mod springs;
mod params;
mod contact;

pub use contact::SurfaceContact;
pub use params::Params;
pub use points::{ContactPoints, Spread};
