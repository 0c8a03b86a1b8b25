//! Bodies made of vertices: their state, and the explicit step that springs and elements share.

#[doc(hidden)]
pub mod kernels;
mod motion;
mod state;
mod skin;

pub(crate) use motion::{Motion, held, one_or};
pub use skin::Skin;
pub use state::VertexState;
