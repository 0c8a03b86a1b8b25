//! Experiments that come with the program: what made a motion is drawn, the motion is observed, and what made it is found again.
//!
//! A new experiment is a RON file in `train/experiments`, a [`Protocol`], and its row in the catalogue. An observation of another kind is
//! a [`Supervision`]; an unknown of another kind is a [`Quantity`].
//!
//! Draws depend on the seed and the number of the instance alone. The search is least squares with exact derivatives by forward mode, in the
//! logarithms of the unknowns, on the first frames before it is on all.

mod quantity;
mod shape;
mod protocol;
mod mistakes;
mod catalogue;
mod instance;
mod sight;
mod program;
mod observation;
mod influence;
mod step;
mod fit;
mod cmaes;
mod method;
mod row;
mod table;
mod markdown;
mod tabulate;
mod trial;
mod landscape;
mod dataset;

pub(crate) use catalogue::source;
pub use catalogue::{Named, catalogue, find, is_protocol, is_word};
pub use dataset::{Dataset, Shard};
pub use fit::Found;
pub use influence::check;
pub use instance::Instance;
pub(crate) use instance::{normal, on_sphere, seeded};
pub use landscape::Landscape;
pub use method::Method;
pub use observation::{Bits, Observation};
pub use program::{Program, Supervision};
pub use protocol::{Protocol, View};
pub use quantity::Quantity;
pub use row::{Number, Row};
pub(crate) use sight::camera;
pub(crate) use step::within_trust;
pub(crate) use table::{Searched, Table};
pub use tabulate::Tabulate;
pub(crate) use tabulate::fill;
pub use trial::Trial;
