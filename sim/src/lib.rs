//! Differentiable simulators on `diffkern` kernels.
//!
//! A [`Model`] is constant, a state flows, a [`Step`] takes it to the next: state in, state out, so a step may be recorded,
//! replayed and differentiated. [`Params`] lists the parameters by path. SI units throughout.
//!
//! Where gradients are one-sided: at contact, when a particle or node touches or lets go. Where a particle changes cells
//! the second derivative of the weights jumps; the gradient is continuous there.
//!
//! # Example
//! A block falls on a floor; how does where it is at the end depend on its stiffness?
//! ```
//! use diffkern::prelude::*;
//! use diffkern_sim::Step as _;
//! use diffkern_sim::mpm::{Contact, HalfSpace, mean_square_distance};
//! use diffkern_sim::scene::BlockSpec;
//!
//! let device = Device::cpu();
//! let floor = HalfSpace::through([0.0; 3], [0.0, 0.0, 1.0], Contact::Separating).with_friction(0.3);
//! let spec = BlockSpec {
//!     min: [-0.05, -0.05, 0.01],
//!     max: [0.05, 0.05, 0.11],
//!     gravity: [0.0, 0.0, -9.81],
//!     half_spaces: vec![floor],
//!     cells: 2,
//!     duration: 0.1,
//!     ..BlockSpec::default()
//! };
//! let scene = spec.build::<f64>(&device)?;
//! let mut params = scene.params(&device, 5e3, 1e4)?; // mu and lambda [Pa]
//! params.mu = params.mu.requires_grad();
//! let (tape, loss) = Tape::record_value(|| {
//!     let solver = scene.model.solver(&params, scene.state.len())?;
//!     let end = solver.advance(&scene.state, 0, 3 * scene.steps_per_frame, Schedule::Auto)?;
//!     mean_square_distance::<diffkern_sim::mpm::Dim3, f64>(&end.x, [0.0, 0.0, 0.05])
//! })?;
//! tape.backward(&loss)?;
//! assert_ne!(params.mu.grad()?.to_vec()?[0], 0.0);
//! # Ok::<(), Error>(())
//! ```
//!
//! # Modules
//! In the order in which data flows; each uses those above it.
//!
//! - `fault`: why triangles enclose no body
//! - `error`: what can go wrong
//! - `params`: parameters by path
//! - `rounding`: how exact numbers of a device are
//! - `step`: model, state, step; runs, frames, the step at which a run went wrong
//! - `coupled`: models that act on each other
//! - `observe`: surfaces that follow a state
//! - `grid`: regular grids, as kernels take them
//! - `mesh`: surfaces: reading and checking them, what they enclose, particles that carry them
//! - `collision`: shapes and how far points are from them
//! - `contact`: what a solid does to what touches it
//! - `vertices`: what bodies made of vertices share
//! - `springs`: networks of springs
//! - `material`: constitutive models
//! - `shape`: bodies of any shape, and the particles that fill them
//! - `rigid`: rigid bodies: mass properties, motion, contact, impacts
//! - `fem`: finite elements: bodies of any shape cut from lattices of splines, linear tetrahedra
//! - `coupling`: contact between bodies of different models
//! - `diffsim`: solver and simulator of tetrahedra as tensor frameworks have them
//! - `mpm`: the simulator of particles and grid
//! - `scene`: blocks and bodies to start from
//! - `instances`: kernels over laws and shapes, compiled with this crate

#![deny(missing_docs)]

mod fault;
mod error;
mod params;
mod rounding;
mod step;
mod coupled;
mod observe;
mod grid;
pub mod mesh;
pub mod collision;
pub mod contact;
pub mod vertices;
pub mod springs;
pub mod material;
pub mod shape;
pub mod rigid;
pub mod fem;
pub mod coupling;
pub mod diffsim;
pub mod mpm;
pub mod scene;
#[doc(hidden)]
pub mod instances;

pub use coupled::{At, Both, Coupled, Exchange, WithSecond};
pub use error::{Error, Result};
pub use observe::Observe;
pub use params::{Bounds, Group, Params};
pub use step::{Model, Span, Step, Tick};
