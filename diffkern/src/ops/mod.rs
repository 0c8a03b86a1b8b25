//! Operations on whole arrays that neighbour lists, splats and contacts are made of, on every device: prefix sums, sorting,
//! gathering and scattering. They are kernels of the kernel language, so those of reals have their gradients.
//!
//! ```
//! use diffkern::prelude::*;
//! use diffkern::ops;
//!
//! let dev = Device::cpu();
//! let sorted = ops::sort(&dev.array(&[7u32, 3, 5])?)?;
//! assert_eq!((sorted.keys.to_vec()?, sorted.order.to_vec()?), (vec![3, 5, 7], vec![1, 2, 0]));
//! let values = ops::gather(&dev.array(&[70.0, 30.0, 50.0])?, &sorted.order)?;
//! assert_eq!(values.to_vec()?, [30.0, 50.0, 70.0]);
//! assert_eq!(ops::exclusive_sum(&values)?.to_vec()?, [0.0, 30.0, 80.0]);
//! # Ok::<(), Error>(())
//! ```

mod gather;
mod scan;
mod sort;

pub use gather::{gather, gather_u32, gather_vec3, scatter_add, scatter_add_vec3};
pub use scan::{exclusive_sum, exclusive_sum_u32};
pub use sort::{Sorted, sort};
