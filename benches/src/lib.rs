//! What the benchmarks and their tests share: workloads, how they are timed, the reference gradients they are held to,
//! and every kernel of the simulator and the renderer.
//!
//! # Modules
//! In the order in which data flows; each uses those above it.
//!
//! - `harness`: how workloads are timed
//! - `golden`: the reference gradients that workloads are held to
//! - `kernels`: every kernel of the simulator and the renderer
//! - `long`: a rollout of many steps
//! - `mpm`: particles and grid
//! - `saxpy`: `a x + y`
//! - `softras`: soft silhouettes
//! - `springs`: a net of springs
//! - `tets`: a block of linear tetrahedra
//! - `boxes`: rigid boxes on a plane
//! - `transfer`: what transfers of MPM lose
//! - `drawn`: scenes drawn at random, with videos of them

pub mod harness;
pub mod golden;
pub mod kernels;
pub mod long;
pub mod mpm;
pub mod saxpy;
pub mod softras;
pub mod springs;
pub mod tets;
pub mod boxes;
pub mod transfer;
pub mod drawn;
