//! Bodies of any shape, cut from a lattice of quadratic splines.
//!
//! Deformations are sums `x(X) = sum N_a(X) x_a` of the quadratic B-splines of a uniform lattice about the body at rest, `x_a` the control
//! points. The boundary of the body goes through the cells as it lies: integrals are over the part of a cell that is the body's. So no
//! mesh has to fit the body, and the stencil of every cell is the same.
//!
//! - Fields are continuous with their gradients, linear ones are exact, and quadratic fields do not lock in bending.
//! - Integration: eight points of positive weight in each cell; volume, centre and second moments are those of the part.
//! - Mass: a lumped one with a correction, which makes errors of frequencies of fourth order in the size of the cells and bodies turn with
//!   their right moments of inertia; further [corrections](Model::with_mass_corrections) where they have to be small.
//! - Steps: Störmer and Verlet, as half a drift, a kick and half a drift; of first order in viscosity. Friction of colliders stops what slides as all other forces of a step leave it, as in a blow, so that
//!   what it holds does not creep. Small parts of cells do not make stable steps small, as mass and
//!   stiffness vanish together; [`max_dt`](crate::Model::max_dt) finds the fastest frequency of the body itself.
//! - Contact: at points about half a cell apart and an eighth of a cell inside of the surface, as pressures by the [laws](crate::contact) of all solvers; [`floor`] gives
//!   the one that hardly shows in what is found for the body.
//! - Several bodies: an [`Assembly`] of them is one model with one state. Where they touch, a place of one is carried back through the lattice of the other to where its matter
//!   was at rest, and the [contact](BodyContact) is a law of the signed distance there.
//! - Free falls: known without steps until something is touched ([`Solver::fall`]).
//! - Material: one of the [laws](crate::material::Law), with a viscosity and a Maxwell branch ([`Relaxation`]) beside it where asked for.
//! - Impacts at a part of the speed of waves: a [bulk viscosity](crate::fem::bulk), where [asked for](Model::with_bulk_viscosity).
//! - Muscles: [fibres](Params::fibres) of each cell that [pull](Control::activation).
//! - Loads: point masses that hang on a body, of which the mass matrix is a sum too.
//! - Clamps: planes between cells, where control points on both sides move against each other, so that the plane stays where it is and slopes
//!   are free; they may be [driven](Control::drive).
//!
//! Gradients: all parameters and the initial state; one-sided where contact begins. Where a place of one body is outside of the cells of another, and passes from one that
//! carries it to the next, what it feels may jump by the square of its distance from the cells.
//!
//! Sources: Parvizian, Düster, Rank: Finite cell method, 2007; Leidinger: Explicit isogeometric B-Rep analysis for nonlinear dynamic crash
//! simulations, 2020; Stoter, Divi, van Brummelen, Larson, de Prenter, Verhoosel: Critical time-step size analysis and mass scaling by ghost-penalty
//! for immersogeometric explicit dynamics, 2023.
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern_sim::contact::Collider;
//! use diffkern_sim::fem::lattice::{Body, Model, Params, Skin, floor};
//! use diffkern_sim::material::Law;
//! use diffkern_sim::mesh::Pose;
//! use diffkern_sim::shape::{Cuboid, Primitive};
//! use diffkern_sim::{Model as _, Observe as _, Step as _};
//!
//! // A block of 10 cm falls on a floor. How does where it is at the end depend on its stiffness?
//! let device = Device::cpu();
//! let block = Primitive::Cuboid(Cuboid { sides: [0.1; 3] });
//! let body = Body { pose: Pose::at([0.0, 0.0, 0.052]), ..Body::new(block, 0.05) }.build()?;
//! let (mu, lambda) = (5e3, 1e4); // Pa
//! let floor = Collider::plane([0.0; 3], [0.0, 0.0, 1.0], floor(mu, lambda, 0.05)).with_friction(0.3);
//! let mut params = Params::uniform(&device, mu, lambda, 1e3, [0.0, 0.0, -9.81])?;
//! let start = body.state::<f64>(&device, [0.2, 0.0, -0.5], [0.0; 3])?;
//! let model = Model::new(&device, &body, Law::NeoHookean, 1.0, &[floor])?;
//! let dt = model.max_dt(&params, &start)?;
//! let model = model.with_dt(dt)?;
//!
//! params.mu = params.mu.requires_grad();
//! let skin = Skin::new(&device, &body)?;
//! let (tape, seen) = Tape::record_value(|| {
//!     let end = model.solver(&params, &start)?.advance(&start, 0, 20, Schedule::Auto)?;
//!     skin.vertices(&end) // what a camera sees
//! })?;
//! let up = device.full(seen.len(), Vec3::new(0.0, 0.0, 1.0))?;
//! tape.backward_from(&[(seen.as_any(), up.as_any())])?;
//! assert_ne!(params.mu.grad()?.to_vec()?[0], 0.0);
//! # Ok::<(), Error>(())
//! ```

#[doc(hidden)]
pub mod stencil;
#[doc(hidden)]
pub mod kernels;
#[doc(hidden)]
pub mod mass;
#[doc(hidden)]
pub mod loads;
#[doc(hidden)]
pub mod touch;
#[doc(hidden)]
pub mod press;
mod quadrature;
mod shape;
mod numbering;
mod cells;
mod surface;
mod body;
mod assembly;
mod surroundings;
mod block;
mod grid;
mod state;
mod skin;
mod stability;
mod targets;
mod between;
mod params;
mod contact;
mod control;
mod model;
mod inertia;
mod fall;
mod outside;
mod energy;

pub use crate::fem::relaxation::Relaxation;
pub use assembly::Assembly;
pub use between::{BodyContact, Surfaces};
pub use body::{Body, CutBody};
pub use cells::Clamp;
pub use control::Control;
pub use energy::Energy;
pub use fall::Changes;
pub use model::{Model, Solver};
pub(crate) use outside::Outside;
pub use params::Params;
pub use skin::Skin;
pub use state::State;
pub(crate) use targets::Targets;

use crate::contact::Contact;
use mass::HELD;

/// How much stiffer than a layer of one cell a floor is by default.
const FLOOR: f64 = 5.0;

/// How far inside of the surface contacts act, in cells: where what the body is stiffer for that, as the layer outside is not compressed, is the compliance of a
/// floor of the default stiffness. A load at the depth `s` makes it stiffer by some `2 s - 2.6 s^2` cells, more than `s`, as a spline has no kink there.
const DEPTH: f64 = 0.117;

/// Depth in cells up to which bodies that touch stiffen by default.
const WIDTH: f64 = 0.02;

/// Pressure per depth \[Pa/m\] of contacts that do not show, to first order in the cells, beside the compliance of a body with these Lamé parameters \[Pa\] and
/// cells \[m\]: what they give way is undone by where they act, a little inside of the surface.
pub fn contact_stiffness(mu: f64, lambda: f64, cell: f64) -> f64 {
    FLOOR * (lambda + 2.0 * mu) / cell
}

/// The contact that a body with these Lamé parameters \[Pa\] and cells \[m\] should have with a rigid one: of [`contact_stiffness`], and as a layer of the body that gives way so much, which
/// is a fifth of a cell thick.
pub fn floor(mu: f64, lambda: f64, cell: f64) -> Contact {
    Contact::Layer { stiffness: contact_stiffness(mu, lambda, cell), thickness: cell / FLOOR }
}
