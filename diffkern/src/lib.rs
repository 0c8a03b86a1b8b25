//! Automatic differentiation of GPU kernels.
//!
//! Write a kernel once under [`diff_kernel`]; its adjoint and its tangent are made from the source. A [`Tape`] records
//! launches and walks them backwards; [`rollout`] keeps long simulations within a budget of memory; [`jvp`] carries
//! tangents forward, without a tape. `Tape::hvp` and `Tape::gauss_newton` multiply second derivatives with directions;
//! [`implicit`] makes a converged solution one operation.
//!
//! ```
//! use diffkern::prelude::*;
//!
//! #[diff_kernel]
//! fn sum_of_squares<F: Float>(x: &Array<F>, loss: &mut Array<F>) {
//!     let i = ABSOLUTE_POS;
//!     loss[0] += x[i] * x[i];
//! }
//!
//! fn main() -> Result<()> {
//!     let dev = Device::cpu();
//!     let x = dev.array(&[1.0f32, 2.0, 3.0])?.requires_grad();
//!     let loss = dev.zeros::<f32>(1)?;
//!     let tape = Tape::record(|| sum_of_squares(x.len(), &x, &loss))?;
//!     tape.backward(&loss)?;
//!     assert_eq!(x.grad()?.to_vec()?, [2.0, 4.0, 6.0]);
//!     Ok(())
//! }
//! ```
//!
//! # What a gradient is here
//! The exact derivative of what the kernels compute, in the branch they take. It is one-sided at kinks (`abs`, `min`,
//! a branch on a real), zero through `floor`, `round` and integers, and it does not pass through values that the host
//! reads from one array and hands on as scalars.
//!
//! # Modules
//! In the order in which data flows; each uses those above it.
//!
//! - `few`: vectors of a few items, on the stack
//! - `sync`: locks
//! - `ids`: identities of arrays and what they are called
//! - `faults`: failures on demand
//! - `error`: everything that can go wrong
//! - `memory`: values on the host, and numbers of bytes
//! - `domain`: the indices that a launch runs over
//! - `interrupt`: ends asked for from outside, looked at by every launch
//! - `schedule`: checkpoint schedules, iterators of actions that know no arrays
//! - `trace`: spans, with the feature `trace`
//! - `unoptimised`: what is said of builds without optimisation
//! - `kernel`: what a kernel is: programs, parameters, where they store
//! - `macros`: the attributes
//! - `custom`: checks of derivatives written by hand
//! - `generated`: how a kernel finds the device functions it calls
//! - `linked`: a program with what it calls, parsed
//! - `element`: what an array may hold
//! - `float`: reals, and packs of them
//! - `math`: vectors, matrices and quaternions
//! - `dimension`: two and three dimensions as types
//! - `buffer`: blocks of memory, and the trait of all backends
//! - `position`: single positions of a launch, for the interpreter of its text
//! - `backend`: the backends: the CPU, and GPUs through CubeCL
//! - `device`: a backend by its name
//! - `array`: typed handles over shared, versioned memory
//! - `launch`: launches, writes and reads, with the stack of observers around them
//! - `decompose`: singular values and polar factors
//! - `arith`: sums and products of arrays
//! - `reduce`: sums over arrays
//! - `ops`: gathers, sorting, prefix sums
//! - `rand`: random numbers by counters
//! - `report`: what recordings cost, what they were, where no gradient flows
//! - `tangent`: the engine of tangents
//! - `tape`: what was launched, and sweeps over it: observers
//! - `shared`: memory shared with others who use CubeCL
//! - `forward`: tangents beside the launches: an observer
//! - `rollout`: steps under a schedule
//! - `implicit`: fixed points, roots and linear systems as one operation
//! - `gradcheck`: is a gradient right?
//! - `prelude`: what kernels and the programs around them need
//! - `private`: what generated code calls
#![deny(missing_docs)]

// Generated code names this crate by its path, also inside it.
extern crate self as diffkern;

mod few;
mod sync;
mod ids;
#[doc(hidden)]
pub mod faults;
mod error;
#[doc(hidden)]
pub mod memory;
mod domain;
pub mod interrupt;
pub mod schedule;
#[cfg(feature = "trace")]
pub mod trace;
#[cfg(not(feature = "trace"))]
mod trace;
mod unoptimised;

mod kernel;
mod macros;
mod custom;
mod generated;
mod linked;
mod element;
mod float;
mod math;
mod dimension;

mod buffer;
mod position;
mod backend;
mod device;
mod array;
mod launch;

mod decompose;
pub mod arith;
pub mod reduce;
pub mod ops;
pub mod rand;

mod report;
mod tangent;
mod tape;
#[cfg(feature = "cubecl")]
pub mod shared;
mod forward;
mod rollout;
pub mod implicit;
pub mod gradcheck;

pub use array::{AnyArray, Array};
pub use decompose::{polar2, polar3, singular_values2, singular_values3, svd2, svd3};
pub use device::Device;
#[doc(hidden)]
pub use diffkern_macros::{__expand, __resume};
pub use dimension::{Dim2, Dim3, Dimension};
pub use domain::Domain;
pub use element::{Element, Scalar};
pub use error::{Error, Foreign, NotFinite, Origin, Result};
pub use float::Float;
pub use forward::{Tangents, jvp};
pub use gradcheck::GradcheckReport;
pub use ids::Label;
pub use macros::{diff_enum, diff_fn, diff_impl, diff_kernel, diff_struct, diff_trait};
pub use math::{Mat2, Mat3, Quat, Vec2, Vec3, Vec4};
pub use report::{Entry, Graph, KernelReport, Part, PathEnd, Report, RolloutReport, Use, ZeroGradient};
pub use rollout::{Given, Rollout, State, rollout, rollout_with};
pub use schedule::Schedule;
pub use tangent::Direction;
pub use tape::{Metric, Overwrite, Products, Recording, Tape, recompute};

/// Number of threads that kernels use on the CPU. Results do not depend on it.
pub use backend::native::set_threads;

/// What kernels and the programs around them need.
pub mod prelude {
    pub use crate::{
        AnyArray, Array, Device, Dim2, Dim3, Dimension, Domain, Element, Error, Float, Mat2, Mat3, Quat, Result,
        Schedule, State, Tape, Vec2, Vec3, Vec4, diff_enum, diff_fn, diff_impl, diff_kernel, diff_struct, diff_trait,
        polar2, polar3, singular_values2, singular_values3, svd2, svd3,
    };
}

/// What generated code calls. Not for users: it changes without notice.
#[doc(hidden)]
pub mod private {
    pub use crate::backend::native::{
        Acc, AccOnce, Arrays, Body, Chunk, Covered, Fetch, In, Kind, LaneAcc, LaneAccOnce, LaneIn, LaneOut, LaneOwn,
        LaneStack, LaneTake, Narrow, Native, NativeBody, OneByOne, Out, OwnAcc, OwnIn, OwnOut, OwnTake, OwnTakeOnce,
        OwnUpdate, Take, Update, Wide, dispatch, first, in_place, largest, local_outside,
    };
    pub use crate::custom::{check_adjoint, check_tangent};
    pub use crate::dimension::{InPlane, InSpace, same};
    pub use crate::element::sealed::Sealed;
    pub use crate::float::integers::{idiv, irem, sign, udiv, urem};
    pub use crate::float::lanes::Lanes;
    pub use crate::generated::{ArrayOf, DiffFn, Real, Takes, alike, first_lack, with_names};
    pub use crate::gradcheck::kernel as gradcheck;
    pub use crate::gradcheck::on_device as devicecheck;
    pub use crate::gradcheck::{OnPacks, on_lanes as lanecheck, on_packs};
    pub use crate::kernel::{
        Access, Digit, Directions, ElemTy, Extent, FnDef, Indices, KernelDef, ParamDef, ParamKind, Program, ScalarKind,
        ScalarTy, Term, Write,
    };
    pub use crate::launch::{Arg, launch};
}
