//! Bodies that run several consecutive positions at once, one per lane of a pack.
//!
//! A pack is a prefix of the positions that are left, so the bits of a position's results do not depend on where packs
//! begin. Lanes that do not take part (the end of a chunk, the other side of a branch) are masked off: they neither
//! write nor count, and read elements that are there.
//!
//! What lanes do wrong is told as the scalar body tells it: where a pack notes a fault, the program's text is run at its positions.

mod acc;
mod acc_once;
mod chunk;
mod kept;
mod lines;
mod own;
mod stack;
mod views;

pub use acc::LaneAcc;
pub use acc_once::LaneAccOnce;
pub(super) use lines::Lines;
pub use own::LaneOwn;
pub use stack::LaneStack;
pub use views::{LaneIn, LaneOut, LaneTake, first, largest};

use crate::float::lanes::{element, memory, values};

#[cfg(all(test, target_arch = "x86_64"))]
mod acc_tests;
