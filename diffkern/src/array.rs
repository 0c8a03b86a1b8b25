//! Arrays on a device: typed handles over shared, versioned, copy-on-write memory.

mod any;
mod debug;
mod label;
mod marks;
mod typed;

pub use any::AnyArray;
pub(crate) use any::{Blank, Cell, Dots};
pub use label::Label;
pub(crate) use marks::forget;
pub use typed::Array;
