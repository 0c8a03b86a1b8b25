//! Packs of reals and of integers, one per lane of a vector register, and what can be computed with them.

pub(crate) mod values;
pub(crate) mod element;
pub(crate) mod rows;
pub(crate) mod memory;
mod math;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod avx2;
pub(crate) mod portable;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use memory::Lanes;
pub use portable::Portable;

#[cfg(all(test, target_arch = "x86_64"))]
mod tests;
