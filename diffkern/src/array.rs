//! Arrays on a device: typed handles over shared, versioned, copy-on-write memory. What moves their elements is in
//! [`launch`](crate::launch).

pub(crate) mod active;
mod any;
mod captured;
mod debug;
mod marks;
mod typed;

pub use any::AnyArray;
pub(crate) use any::{Blank, Cell, Dots};
pub(crate) use captured::Past;
pub use typed::Array;
