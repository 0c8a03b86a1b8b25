//! Networks of damped springs: vertices with masses, springs between them whose rest length may be actuated, held or driven vertices,
//! contact with [colliders](crate::contact::Collider). Explicit, by the semi-implicit Euler method.
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern_sim::Step as _;
//! use diffkern_sim::springs::{Model, Params};
//! use diffkern_sim::vertices::VertexState;
//!
//! // A kilogram hangs on a spring from a held vertex. How far it sinks in 50 ms, and how that depends on the stiffness:
//! let device = Device::cpu();
//! let model = Model::<f64>::new(&device, 2, &[[0, 1]], 1e-4, &[0], &[])?;
//! let mut params = Params::uniform(&device, 100.0, 1.0, 1.0, [0.0, 0.0, -9.81])?; // N/m, m, kg, m/s^2
//! params.stiffness = params.stiffness.requires_grad();
//! let start = VertexState::new(&device, &[[0.0; 3], [0.0, 0.0, -1.0]], &[[0.0; 3]; 2])?;
//! let (tape, end) = Tape::record_value(|| model.solver(&params, &start)?.advance(&start, 0, 500, Schedule::Auto))?;
//! let down = device.array(&[Vec3::zero(), Vec3::new(0.0, 0.0, 1.0)])?;
//! tape.backward_from(&[(end.x.as_any(), down.as_any())])?;
//!
//! let sunk = 0.0981 * (1.0 - (10.0f64 * 0.05).cos()); // m g / k (1 - cos(sqrt(k/m) t))
//! assert!((end.x.to_vec()?[1].z + 1.0 + sunk).abs() < 1e-4);
//! assert!(params.stiffness.grad()?.to_vec()?[0] > 0.0); // a stiffer spring holds it higher
//! # Ok::<(), Error>(())
//! ```

#[doc(hidden)]
pub mod kernels;
mod model;
mod params;
#[doc(hidden)]
pub mod touching;

pub use model::{Control, Model, Solver};
pub use params::Params;
pub use touching::VertexPoints;
