//! From a video to the material that made it: reading scenes and frames, identification by least
//! squares with generated tangents or by generated adjoints, and the pictures and files that a run leaves behind.
//!
//! # Modules
//! In the order in which data flows; each uses those above it.
//!
//! - `text`: text of others in messages
//! - `error`: what can go wrong, in one line
//! - `limits`: time and memory that a job may take
//! - `files`: writes files whole or not at all
//! - `input`: reads files up to a size
//! - `table`: columns of numbers in CSV files
//! - `npz`: arrays of numbers in archives
//! - `mesh`: checks of the meshes that a scene names
//! - `scene`: what a video shows
//! - `picture`: files of pictures
//! - `depth`: depths that were measured
//! - `video`: its frames
//! - `optimizer`: which rule chooses the steps
//! - `job`: what goes into an identification and what comes out
//! - `program`: from the numbers of a scene to pictures, differentiable
//! - `search`: coarse to fine least squares
//! - `identify`: finds the material
//! - `plan`: ways to film a scene, and what they would tell
//! - `report`: numbers, curves, frames, an animation, a page
//! - `run`: folders of runs
//! - `experiment`: what the program can be asked for
//! - `experiments`: what comes with the program: drawn, observed and found again
//! - `steering`: scenes that numbers steer to a goal through impacts
//! - `solids`: elastic bodies under known forces, found from what a finer lattice shows
//! - `stiffness`: the modulus of each element of a block that is shaken
//! - `tosses`: a cube that was measured while it fell on a table
//! - `tennis`: two balls that were filmed while they collided on a table
//! - `beam`: a soft beam that swung before motion capture
//! - `pendulum`: a double pendulum that was measured while it swung
#![deny(missing_docs)]

pub mod text;

pub mod error;

pub mod limits;

pub use diffkern_optim::check;

pub mod files;

mod input;
mod table;
mod npz;
mod mesh;

pub mod scene;
mod picture;
mod depth;
pub mod video;

pub mod optimizer;

pub mod job;

mod program;
mod search;

pub mod identify;
mod plan;

pub mod report;
pub mod run;

pub mod experiment;
pub mod experiments;
pub mod steering;
pub mod solids;
pub mod stiffness;
pub mod tosses;
pub mod tennis;
pub mod beam;
pub mod pendulum;

pub use error::{Error, Result};
