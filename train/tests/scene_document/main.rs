//! Scenes of the documented schema, and the import of folders from before it.

#![allow(clippy::unwrap_used)] // a test that cannot make its input has to stop

#[path = "../common/mod.rs"]
mod common;

mod scenes;
mod docs;
mod reading;
mod refusals;
mod units;
mod import;
