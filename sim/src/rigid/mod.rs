//! Rigid bodies: any number of them, of any closed surface, under forces and impulses at their points, in contact with
//! [colliders](crate::contact::Collider) and [each other](Model::with_contact_between) by forces, with planes and among balls by impulses.
//!
//! A [`State`] has for each body the position of its centre of mass, its orientation, its velocity and its angular momentum. Mass, centre and
//! inertia are functions of vertices and density, so gradients reach these. Without torque the angular momentum stays to the bit.
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern_sim::Step as _;
//! use diffkern_sim::rigid::{Body, Impacts, Model, Plane, State};
//! # use diffkern_sim::collision::Pose;
//!
//! // A ball falls on a floor and comes back at six tenths of its speed. How high is it in the end, if it starts higher?
//! let device = Device::cpu();
//! let floor = Plane { normal: [0.0, 0.0, 1.0], offset: 0.0, restitution: 0.6, friction: 0.0 };
//! let model = Model::<f64>::new(&device, &[Body::ball(0.1, 0.05)?], 0.01, &[])?.with_impacts(Impacts::new(vec![floor]))?;
//! let params = model.params(1000.0, [0.0; 3])?; // kg/m^3, without gravity
//! let (centre, velocity) = (Vec3::new(0.0, 0.0, 0.5), Vec3::new(0.0, 0.0, -1.0));
//! let pose = Pose { centre, rotation: Quat::identity(), velocity, spin: Vec3::zero() };
//! let start = model.start(&params, &device.array(&[pose])?)?;
//! let x = start.x.requires_grad();
//! let start = State { x: x.clone(), ..start };
//! let (tape, end) = Tape::record_value(|| model.solver(&params, &start)?.advance(&start, 0, 100, Schedule::Auto))?;
//! tape.backward_from(&[(end.x.as_any(), device.array(&[Vec3::new(0.0, 0.0, 1.0)])?.as_any())])?;
//! assert!((end.x.to_vec()?[0].z - 0.46).abs() < 1e-12);
//! assert!((x.grad()?.to_vec()?[0].z + 0.6).abs() < 1e-12); // lower: it hits later
//! # Ok::<(), Error>(())
//! ```
//!
//! # Gradients of contact
//! Of a run with contact the gradient is exact for the steps as they are computed; what that says of the motion itself differs.
//!
//! | contact | gradient of the motion | zero |
//! |---|---|---|
//! | [`Penalty`](crate::contact::Penalty) | kinks where a point touches or lets go, of the size of the step | by stiffness and friction while nothing touches |
//! | [`SmoothPenalty`](crate::contact::SmoothPenalty), [`Hertz`](crate::contact::Hertz) | smooth | the same |
//! | [`HuntCrossley`](crate::contact::HuntCrossley) | kinks as a penalty | the same; by damping where a fast separation would pull |
//! | [`KelvinVoigt`](crate::contact::KelvinVoigt) | the force jumps at touch: what the time of touch does to that is missing | the same; by damping in every separation |
//! | [`Barrier`](crate::contact::Barrier) | smooth | beyond its width |
//! | [between bodies](Model::with_contact_between) | of the contact by forces that it is; it jumps where another face of a solid becomes the nearest to a point, and from cell to cell of samples | the same; there is none by the vertices of the surfaces |
//! | [`Impulse::Naive`] | lacks the time of impact: by the distance from which a ball comes back it is 1 in place of `-e` | by friction where nothing slides; by restitution below the speed of rest; by mass and density, of bodies under gravity and impacts with planes alone |
//! | [`Impulse::TimeOfImpact`] | that of the motion; it jumps with the motion where another point comes first, an impact is only grazed, or the approach is at the speed of rest | the same; by the height from which a body lands to rest |
//! | balls, [`Model::with_pairs`] | as of their [`Impulse`]; it jumps where they only graze | by masses, if all are scaled alike |
//!
//! Springs between bodies are smooth, but where the ends of one that has a length at rest meet.
//!
//! Bodies in chains of [`joints`] have the gradient of the steps as they are computed, with all their iterations; it is smooth.
//!
//! Friction by forces is `min(grip s, mu N)`: by `mu` the gradient is zero below the limit, by `grip` above it; the kink between them is
//! one-sided. Friction of impulses has a kink between sliding and sticking. Bodies that tumble forget where they came from: gradients
//! grow with the number of impacts, and say less and less.

#[doc(hidden)]
pub mod properties;
#[doc(hidden)]
pub mod kernels;
mod state;
#[doc(hidden)]
pub mod geometry;
mod loads;
#[doc(hidden)]
pub mod impact;
pub mod joints;
#[doc(hidden)]
pub mod springs;
mod params;
#[doc(hidden)]
pub mod contact;
#[doc(hidden)]
pub mod between;
mod model;
mod solver;
mod bind;
#[doc(hidden)]
pub mod touching;

pub use between::Between;
pub use geometry::Body;
pub use impact::{ImpactParams, Impacts, Impulse, Plane};
pub use joints::{Joint, JointKind, JointParams};
pub use kernels::Wrench;
pub use loads::{Control, Loads, Push, Pushes};
pub use model::{Integrator, Model};
pub use params::{Mass, Params};
pub use properties::MassProperties;
pub use solver::Solver;
pub use springs::{Spring, SpringParams};
pub use state::State;
pub use touching::SurfacePoints;
