//! From IR to what the user's crate is given: the host function that launches a kernel, and its generated parts.

mod items;
mod native;
mod text;

pub use items::{Forms, fallback, function, kernel};
#[cfg(test)]
pub use text::text;
