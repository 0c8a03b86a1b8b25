//! Elastic solids by finite elements.
//!
//! - [`lattice`]: bodies of any shape, cut from a lattice of quadratic splines; what to use.
//! - [`bulk`]: what cells cannot resolve of an impact is damped.
//! - [`tets`]: linear tetrahedra, explicit and implicit: a plain element, too stiff in bending and near incompressibility.
//!
//! Both have the [laws](crate::material::Law) of all solids. Decision: `docs/decisions/0034-bodies-are-cut-from-a-lattice-of-splines.md`.

#[doc(hidden)]
pub mod stress;
#[doc(hidden)]
pub mod relaxation;
#[doc(hidden)]
pub mod activation;
pub mod bulk;
pub mod tets;
pub mod lattice;

pub use tets::{Method, Model, Params, Solver};
