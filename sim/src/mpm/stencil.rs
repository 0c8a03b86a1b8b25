//! Where the nodes of a particle are.
//!
//! The nodes of a stencil are in up to `2^D` blocks of the grid, numbered with the last bit that of the last axis. On each
//! axis the first node is in the near block, the third in the far one (the same or the next), and the second in one of them.

pub use crate::grid::GridShape;
