//! What the benchmarks and their tests share: workloads, how they are timed, the reference gradients they are held to,
//! and every kernel of the simulator and the renderer.

pub mod golden;
pub mod harness;
pub mod kernels;
pub mod long;
pub mod mpm;
pub mod saxpy;
pub mod softras;
pub mod springs;
