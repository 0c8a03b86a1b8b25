//! Kernels on the host CPU: bodies generated as Rust, run over chunks of the domain by a small pool of threads.
//!
//! The results do not depend on the number of threads: the chunks are a function of kernel and shapes, and what two
//! chunks add into one element is added up in chunk order.

mod accumulate;
mod args;
mod bodies;
mod chunk;
mod exec;
mod explain;
mod cpu;
mod lanes;
mod merge;
mod own;
mod parts;
mod pending;
mod pool;
mod scatter;
mod simd;
mod update;
mod views;
mod worth;

pub use bodies::{Native, NativeBody};
pub use chunk::Chunk;
pub use lanes::{LaneAcc, LaneAccOnce, LaneIn, LaneOut, LaneOwn, LaneStack, LaneTake, first, largest};
pub use own::{Covered, OwnAcc, OwnIn, OwnOut, OwnTake, OwnTakeOnce, OwnUpdate};
pub use pending::local_outside;
pub use pool::set_threads;
pub use simd::{Arrays, Body, Kind, Narrow, OneByOne, Wide, dispatch, in_place};
pub use update::{Fetch, Update};
pub use views::{Acc, AccOnce, In, Out, Take};

use args::{Fault, HostArg, HostArray};
pub(crate) use cpu::Cpu;
use exec::{Options, run};

#[cfg(test)]
mod tests;
