//! Optimizers over arrays of any device, on `diffkern`: the parameters stay where they are, and nothing but inner products
//! comes to the host.
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern::{arith, reduce};
//! use diffkern_optim::{Ended, Lbfgs, Stop, Taped, minimise};
//!
//! let dev = Device::best();
//! let seen = dev.array(&[1.0f32, 3.0, 2.0])?;
//! let mut x = vec![dev.zeros::<f32>(3)?];
//! // |x - seen|^2 + |x|^2 / 2, differentiated by a tape
//! let mut loss = Taped::new(|x: &[Array<f32>]| {
//!     let misfit = reduce::squared_norm(&arith::sub(&x[0], &seen)?)?;
//!     arith::scaled_sum(&[(1.0, &misfit), (0.5, &reduce::squared_norm(&x[0])?)])
//! });
//! let found = minimise(&mut Lbfgs::new(10), &mut loss, &mut x, &Stop { gradient: 1e-5, steps: 100 })?;
//! assert_eq!(found.ended, Ended::Converged);
//! assert!((x[0].to_vec()?[1] - 2.0).abs() < 1e-5);
//! # Ok::<(), diffkern_optim::Error>(())
//! ```
//!
//! # Which one
//! | rule | needs | for |
//! |---|---|---|
//! | [`Sgd`], [`Adam`] (and AdamW) | gradients, noisy ones too | many parameters, many cheap steps |
//! | [`Lbfgs`] | exact gradients | smooth functions of many parameters: the first to try |
//! | [`NewtonCg`] | gradients and Hessian products | valleys and saddles; few evaluations |
//! | [`LevenbergMarquardt`] | residuals on a tape ([`TapedResiduals`]), or products with `J^T J` | least squares of many parameters |
//! | [`dense`] | residuals with all their derivatives | least squares of few parameters, within bounds |
//!
//! # One interface
//! A [`Rule`] is its state and plain data; an [`Objective`] gives value, gradient and products at a point; parameters are a
//! [`Vector`]: arrays of `f32` or `f64` on a device ([`Arrays`]), or numbers of the host (`Vec<f64>`). A step takes what was
//! evaluated where the parameters are, changes them in place, and gives what was evaluated where they are then. The rules that
//! need a gradient alone also take one directly ([`Sgd::update`], [`Adam::update`]), with settings for each array ([`Group`]).
//!
//! With the feature `serde` states are serialisable; those that hold arrays are numbers by `to_host`, and `from_host` goes on from
//! them to the same bits. With `second-order`, [`Taped`] has products with the Hessian.
//!
//! # What a gradient must be
//! Exact: L-BFGS and the line search compare changes of values with slopes. At kinks, where it is one-sided, they may end early
//! ([`Ended::Exhausted`]); gradient descent goes on. Gradients that are not finite are errors, and leave the parameters alone.
//!
//! # Modules
//! In the order in which data flows; each uses those above it.
//!
//! - `check`: checks of states that come from a file
//! - `error`: what can go wrong
//! - `vector`: parameters, gradients and directions
//! - `objective`: value, gradient and products at a point
//! - `taped`: an objective that is a program under a tape
//! - `rule`: the interface of all rules, and the loop around them
//! - `first_order`: gradient descent and Adam
//! - `lbfgs`: L-BFGS and its line search
//! - `newton_cg`: truncated conjugate gradients in a trust region
//! - `levenberg_marquardt`: the same, damped
//! - `dense`: rules for few parameters within bounds
#![deny(missing_docs)]

pub mod check;
mod error;
mod vector;

mod objective;
mod taped;

mod rule;

mod first_order;
mod lbfgs;
mod newton_cg;
mod levenberg_marquardt;

pub mod dense;

pub use check::Fault;
pub use error::{Error, Result};
pub use first_order::{Adam, Group, Sgd, WeightDecay};
pub use lbfgs::{Lbfgs, Wolfe};
pub use levenberg_marquardt::LevenbergMarquardt;
pub use newton_cg::{Inner, NewtonCg, NewtonStep};
pub use objective::{AtPoint, Evaluation, Objective, WithProducts, with_products};
pub use rule::{Ended, Minimum, Rule, Stepped, Stop, minimise};
pub use taped::{Recorded, Taped, TapedResiduals};
pub use vector::{Arrays, Host, Vector};
