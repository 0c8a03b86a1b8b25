//! Rules for few parameters, as numbers on the host: Levenberg-Marquardt on dense normal equations within bounds, and Adam.
//! They choose steps only: who evaluates, and on what, is elsewhere.
//!
//! ```
//! use diffkern_optim::Result;
//! use diffkern_optim::dense::{Bounds, LevenbergMarquardt, NormalEquations};
//!
//! // How fast does `exp(-k t)` decay, that was seen with k = 2?
//! let at = |k: f64| -> Result<NormalEquations> {
//!     let t = [0.2, 0.5, 1.0f64];
//!     let mut normal = NormalEquations::new(1);
//!     normal.add(&t.map(|t| (-k * t).exp() - (-2.0 * t).exp()), &[t.map(|t| -t * (-k * t).exp()).to_vec()])?;
//!     Ok(normal)
//! };
//! let bounds = Bounds { low: vec![0.1], high: vec![10.0], trust: vec![1.0] };
//! let (mut k, mut rule, mut here) = (5.0, LevenbergMarquardt::default(), at(5.0)?);
//! for _ in 0..20 {
//!     let Some(step) = rule.propose(&here, &bounds, &[k])? else { break };
//!     let there = at(k + step.change[0])?;
//!     if there.cost < here.cost {
//!         (k, here) = (k + step.change[0], there);
//!         rule.accept();
//!     } else {
//!         rule.refuse();
//!     }
//! }
//! assert!((k - 2.0).abs() < 1e-9);
//! # Ok::<(), diffkern_optim::Error>(())
//! ```

mod adam;
mod levenberg_marquardt;
mod normal_equations;
mod jackknife;

pub use adam::Adam;
pub use levenberg_marquardt::{Bounds, LevenbergMarquardt, Step};
pub use normal_equations::NormalEquations;
