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
#![deny(missing_docs)]

// Generated code names this crate by its path, also inside it.
extern crate self as diffkern;

pub mod arith;
mod array;
mod backend;
mod buffer;
mod custom;
mod decompose;
mod device;
mod dimension;
mod domain;
mod element;
mod error;
#[doc(hidden)]
pub mod faults;
mod few;
mod float;
mod forward;
mod generated;
pub mod gradcheck;
mod ids;
pub mod implicit;
pub mod interrupt;
mod kernel;
mod launch;
mod linked;
mod macros;
mod math;
#[doc(hidden)]
pub mod memory;
pub mod ops;
pub mod rand;
pub mod reduce;
mod report;
mod rollout;
pub mod schedule;
mod tape;
#[cfg(feature = "trace")]
pub mod trace;
#[cfg(not(feature = "trace"))]
mod trace;
mod unoptimised;

pub use array::{AnyArray, Array, Label};
pub use decompose::{polar2, polar3, singular_values2, singular_values3, svd2, svd3};
pub use device::Device;
#[doc(hidden)]
pub use diffkern_macros::{__expand, __resume};
pub use dimension::{Dim2, Dim3, Dimension};
pub use domain::Domain;
pub use element::{Element, Scalar};
pub use error::{Error, Foreign, NotFinite, Origin, Result};
pub use float::Float;
pub use forward::{Direction, Tangents, jvp};
pub use gradcheck::GradcheckReport;
pub use macros::{diff_enum, diff_fn, diff_impl, diff_kernel, diff_struct, diff_trait};
pub use math::{Mat2, Mat3, Quat, Vec2, Vec3, Vec4};
pub use report::{Entry, Graph, KernelReport, Part, PathEnd, Report, RolloutReport, Use, ZeroGradient};
pub use rollout::{Given, Rollout, State, rollout, rollout_with};
pub use schedule::Schedule;
pub use tape::{Metric, Overwrite, Products, Recording, Tape, recompute};

#[cfg(feature = "cubecl")]
pub use backend::cubecl::shared;
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
        LaneStack, LaneTake, Lanes, Narrow, OneByOne, Out, OwnAcc, OwnIn, OwnOut, OwnTake, OwnTakeOnce, OwnUpdate,
        Take, Update, Wide, dispatch, first, in_place, largest, local_outside,
    };
    pub use crate::custom::{check_adjoint, check_tangent};
    pub use crate::dimension::{InPlane, InSpace, same};
    pub use crate::element::sealed::Sealed;
    pub use crate::generated::{ArrayOf, DiffFn, Real, Takes, first_lack, idiv, irem, sign, udiv, urem, with_names};
    pub use crate::gradcheck::kernel as gradcheck;
    pub use crate::gradcheck::on_device as devicecheck;
    pub use crate::gradcheck::{OnPacks, on_lanes as lanecheck, on_packs};
    pub use crate::kernel::{
        Access, Arg, Digit, ElemTy, Extent, FnDef, Indices, KernelDef, Native, NativeBody, ParamDef, ParamKind,
        Program, ScalarKind, ScalarTy, Term, Write,
    };
    pub use crate::launch::launch;
}
