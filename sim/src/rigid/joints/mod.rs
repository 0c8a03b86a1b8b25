//! Joints between bodies, and between bodies and the world: balls and hinges, as constraints.
//!
//! In each step impulses at the joints, along the directions of its beginning, are those by which the joints are closed at its end (SHAKE). As forces and impulses act at positions of the
//! beginning, momentum and angular momentum stay to rounding, and with velocities half a step before positions the steps are of second order.
//!
//! The equations are solved by Newton's method with the matrix of the beginning of the step. An iteration solves it exactly, by elimination along the chains in blocks of six, and leaves of the
//! gap a part of the size of the turn in a step. With 5 iterations a double pendulum that turns over in steps of a millisecond is open by less than 1e-9 m at all times: gaps do not add up, as each step
//! closes them anew. An iteration costs some `5 + 3 n` launches where the longest chain has `n` joints. All of them are recorded: the gradient is that of the steps as they are computed.
//!
//! Bodies are in chains: a body has at most two joints, and no loop is closed. Where bodies do not fit at the start, the first step moves them together, and they keep that speed.
//! Friction is a torque `-(c + d / sqrt(w^2 + s^2)) w` by the angular velocity `w` between both bodies, about what is free: in proportion to it, and dry, of nearly the size `d` where
//! `w` is well above `s`. It is smooth, so a joint that sticks creeps: what turns it with a torque `T < d` turns it at `s T / sqrt(d^2 - T^2)`. It takes the velocities before the step and is
//! of first order; steps longer than `2 s I / d`, `I` the inertia about the axis, are unstable.
//!
//! Source: Ryckaert, Ciccotti, Berendsen: Numerical integration of the cartesian equations of motion of a system with constraints, 1977.
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern_sim::Step as _;
//! use diffkern_sim::collision::Pose;
//! use diffkern_sim::rigid::{Body, Joint, JointKind, Model};
//! use diffkern_sim::shape::{Cuboid, Primitive};
//!
//! // A rod that hangs from the origin by its upper end swings back from 0.2 rad.
//! let device = Device::cpu();
//! let rod = Body::new(Primitive::Cuboid(Cuboid { sides: [0.02, 0.02, 0.4] }).surface(1.0)?);
//! let axis = [0.0, 1.0, 0.0];
//! let hinge = Joint {
//!     parent: None,
//!     child: Some(0),
//!     parent_point: [0.0; 3],
//!     child_point: [0.0, 0.0, 0.2],
//!     kind: JointKind::Hinge { parent_axis: axis, child_axis: axis },
//!     friction: 1e-4, // N m s/rad
//!     dry: 2e-4,      // N m
//!     slip: 0.05,     // rad/s
//! };
//! let model = Model::<f64>::new(&device, &[rod], 1e-3, &[])?.with_joints(&[hinge], 5)?;
//! let params = model.params(700.0, [0.0, 0.0, -9.81])?;
//! let rotation = Quat::from_rotation_vector(Vec3::new(0.0, 0.2, 0.0));
//! let centre = rotation.rotate(Vec3::new(0.0, 0.0, -0.2));
//! let pose = Pose { centre, rotation, velocity: Vec3::zero(), spin: Vec3::zero() };
//! let start = model.start(&params, &device.array(&[pose])?)?;
//! let end = model.solver(&params, &start)?.advance(&start, 0, 500, Schedule::Auto)?;
//! let at = end.x.to_vec()?[0];
//! assert!(at.x > 0.0 && (at.norm() - 0.2).abs() < 1e-9);
//! # Ok::<(), Error>(())
//! ```

#[doc(hidden)]
pub mod kernels;
mod chain;
mod joint;
mod hold;

pub(super) use hold::Jointed;
pub(super) use joint::Joints;
pub use joint::{Joint, JointKind, JointParams};
