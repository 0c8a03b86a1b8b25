//! Elastic solids of linear tetrahedra: explicit by the semi-implicit Euler method, or implicit by backward Euler or the midpoint rule.
//! Decision: `docs/decisions/0054-implicit-steps-are-minima.md`.
//!
//! Linear tetrahedra are too stiff in bending and lock near incompressibility: a plain element, on the interface of all solvers.
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern_sim::Step as _;
//! use diffkern_sim::fem::{Method, Model, Params};
//! use diffkern_sim::material::Law;
//! use diffkern_sim::vertices::VertexState;
//!
//! // One tetrahedron of 1,000 kg/m^3 on three held vertices, under its weight.
//! let device = Device::cpu();
//! let rest = [[0.0; 3], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.1]];
//! let model = Model::<f64>::new(&device, &rest, &[[0, 1, 2, 3]], Law::NeoHookean, 0.05, &[0, 1, 2], &[])?
//!     .with_method(Method::BackwardEuler);
//! let params = Params::uniform(&device, 1e3, 1e3, 1e3, [0.0, 0.0, -9.81])?;
//! let start = VertexState::new(&device, &rest, &[[0.0; 3]; 4])?;
//! let end = model.solver(&params, &start)?.advance(&start, 0, 40, Schedule::Auto)?;
//! assert!(end.x.to_vec()?[3].z < 0.1);
//! # Ok::<(), Error>(())
//! ```

#[doc(hidden)]
pub mod kernels;
#[doc(hidden)]
pub mod curvature;
mod params;
mod implicit;
mod model;

pub(crate) use implicit::solve_to;
pub use model::{Method, Model, Solver};
pub(crate) use model::{check_orientation, least_height};
pub use params::Params;
