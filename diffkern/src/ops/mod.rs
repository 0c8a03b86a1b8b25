//! Operations on whole arrays that neighbour lists, splats and contacts are made of, on every device: prefix sums, sorting,
//! gathering and scattering. They are kernels of the kernel language, so those of reals have their gradients.

mod gather;
mod scan;
mod sort;

pub use gather::{gather, gather_u32, gather_vec3, scatter_add, scatter_add_vec3};
pub use scan::{exclusive_sum, exclusive_sum_u32};
pub use sort::{Sorted, sort};
