//! Contact models: what a solid does to what touches it.
//!
//! A model by forces is a type that implements [`ContactModel`], the normal force by gap and its rate; [friction](coulomb) is
//! Coulomb's for all of them. Kinds that act on velocities are [projections](contact_velocity). A new model by forces is one file, one
//! row of the list of [`Contact`], and its row below.
//!
//! | contact | acts on | gradient |
//! |---|---|---|
//! | `Sticky` | velocity in the solid | zero by what was before: nothing of it is left |
//! | `Slip`, `Separating` | velocity in the solid | one-sided where contact begins and ends, and between sliding and sticking |
//! | `Penalty` | force in the solid | one-sided at touch |
//! | `SmoothPenalty` | force in the solid | smooth; its slope has kinks at touch and at its width |
//! | `Layer` | force in the solid | smooth; its slope has kinks at touch and at a tenth of its thickness |
//! | `KelvinVoigt` | force in the solid, damped | jumps at touch by the damping, and its gradient lacks what the time of touch does to that; zero by the damping in separation |
//! | `HuntCrossley` | force in the solid, damped | one-sided at touch; zero by the damping where a separation is too fast to push |
//! | `Hertz` | force in the solid, damped | as `HuntCrossley`, but smooth at touch |
//! | `Barrier` | force before touch | smooth; none beyond its width; in implicit steps too, with friction by the normal force at the beginning of the step, which has its gradient by the state there |

mod barrier;
mod collider;
mod friction;
mod hertz;
mod hunt_crossley;
mod kelvin_voigt;
mod penalty;
mod smooth_penalty;
mod layer;
#[doc(hidden)]
pub mod kernels;
mod list;
mod projection;
mod obstacles;
#[doc(hidden)]
pub mod implicit;

pub use barrier::{Barrier, barrier_energy, barrier_stiffness};
pub use collider::Collider;
pub use friction::{
    coulomb, coulomb_2d, coulomb_3d, sharp_coulomb, sharp_coulomb_2d, sharp_coulomb_3d, stopping_coulomb,
    stopping_coulomb_2d, stopping_coulomb_3d,
};
pub use hertz::Hertz;
pub use hunt_crossley::HuntCrossley;
pub(crate) use implicit::{Barriers, longest};
pub use kelvin_voigt::KelvinVoigt;
pub use layer::Layer;
pub use list::Contact;
pub(crate) use list::{each_contact, with_contact};
pub(crate) use obstacles::{Ahead, BoundObstacles, Facing, SLIP_SPEED, Vertices};
pub use obstacles::{Contacts, Obstacles};
pub use penalty::Penalty;
pub use projection::{contact_velocity, contact_velocity_2d, contact_velocity_3d};
pub use smooth_penalty::SmoothPenalty;

use diffkern::prelude::*;

/// A contact model by forces.
#[diff_trait]
pub trait ContactModel {
    /// Normal force \[N\] of the `gap` \[m\], negative in the solid, and its `rate` \[m/s\]; `q` is stiffness \[N/m\], damping
    /// \[s/m\], width \[m\] and the coefficient of friction.
    fn force<F: Float>(gap: F, rate: F, q: Vec4<F>) -> F;
}
