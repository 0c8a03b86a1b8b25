//! Programs of diffkern as operations of [Burn](https://burn.dev): tensors in, a tensor out, and gradients through Burn's
//! autodiff.
//!
//! ```
//! use burn::backend::{Autodiff, NdArray};
//! use burn::tensor::Tensor;
//! use diffkern::prelude::*;
//!
//! #[diff_kernel]
//! fn square<F: Float>(x: &Array<F>, y: &mut Array<F>) {
//!     y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * x[ABSOLUTE_POS];
//! }
//!
//! # fn main() -> Result<()> {
//! type B = Autodiff<NdArray<f64>>;
//! let place = Default::default();
//! let x = Tensor::<B, 1>::from_data([1.0, 2.0, 3.0], &place).require_grad();
//! let y = diffkern_burn::apply(&Device::cpu(), [x.clone()], |[x]| {
//!     let y = x.device().zeros(x.len())?;
//!     square(x.len(), x, &y)?;
//!     Ok(y)
//! })?;
//! let loss = (y * x.clone()).sum();                      // x cubed: a part by diffkern, a part by Burn
//! let grads = loss.backward();
//! let slope = x.grad(&grads).map(|g| g.to_data().to_vec::<f64>().unwrap_or_default());
//! assert_eq!(slope, Some(vec![3.0, 12.0, 27.0]));
//! # Ok(())
//! # }
//! ```
//!
//! The tape is kept by the thread that called [`apply`]. When Burn walks back on another thread, the program is run again
//! there; so it has to be pure. Where tensors and arrays are on the same GPU they share their memory, elsewhere they are copied
//! through the host: [`Share`] says where that is so.

mod operation;
mod share;
mod tapes;

pub use operation::apply;
pub use share::Share;
