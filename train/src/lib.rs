//! From a video to the material that made it: reading scenes and frames, identification through
//! generated adjoints, and the pictures and files that a run leaves behind.
#![deny(missing_docs)]

pub mod text;

pub mod error;

pub mod limits;

pub use diffkern_optim::check;

pub mod files;

mod input;
mod mesh;

pub mod scene;
pub mod video;

pub mod optimizer;

pub mod identify;
pub mod job;

pub mod experiment;
pub mod report;
pub mod run;

pub use error::{Error, Result};
