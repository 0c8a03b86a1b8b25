//! A differentiable solver and simulator of elastic bodies, as those who come from a tensor framework know them: arrays in, arrays out, a list of
//! states from a rollout, losses.
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern_sim::diffsim::{DifferentiableSolver, Elastic, Simulator, TetMesh, mse};
//!
//! // A block that hangs from its upper side: how does where it is depend on its stiffness?
//! let device = Device::cpu();
//! let mesh = TetMesh::block([1, 2, 1], [0.0, 0.3, 0.0], [0.1, 0.2, 0.1])?;
//! let mut material = Elastic::<f64>::uniform(&device, 1e4, 0.3)?; // E [Pa], nu
//! material.young = material.young.requires_grad();
//! let solver = DifferentiableSolver { use_implicit_diff: true, ..DifferentiableSolver::default() };
//! let block = Simulator::new(&mesh, material, solver, 1000.0, &device)?
//!     .with_fixed(&mesh.vertices_where(|[_, y, _]| y > 0.49))?;
//! let (tape, loss) = Tape::record_value(|| {
//!     let states = block.rollout(5, 10)?; // positions and velocities, the start first
//!     mse(&states[5].0, &block.mesh.rest)
//! })?;
//! tape.backward(&loss)?;
//! assert!(block.material.young.grad()?.to_vec()?[0] < 0.0); // stiffer: nearer to its rest
//! # Ok::<(), diffkern_sim::Error>(())
//! ```
//!
//! **y is up here**, as in most tensor simulators; in the [scenes](crate::scene) of this project it is z. A body of a scene is given with its axes
//! exchanged, `(x, y, z)` as `(y, z, x)`, which keeps it of a right hand.
//!
//! The law is [`QuadraticNeoHookean`](crate::material::QuadraticNeoHookean), on linear tetrahedra, which are too stiff in bending and near
//! incompressibility: for solids that are to be measured, [`fem::lattice`](crate::fem::lattice) is better. Gradients are one-sided nowhere but in
//! [`chamfer`]: the [`Ground`] and its friction are smooth. There is none by the numbers of [`DifferentiableSolver`]; gravity and damping are arrays of
//! the [`Simulator`] too, for which there is.

#[doc(hidden)]
pub mod kernels;
mod elastic;
mod ground;
mod mesh;
mod read;
mod solver;
mod substeps;
mod simulator;
mod energy;
mod loss;

pub use elastic::Elastic;
pub use energy::Energies;
pub use ground::Ground;
pub use loss::{chamfer, mse};
pub use mesh::{DeviceMesh, TetMesh};
pub use simulator::{Simulator, vertex_masses};
pub use solver::DifferentiableSolver;
pub use substeps::Pair;
