//! Folders of runs: who writes to one, what was asked, how far it is.

mod destination;
mod claim;
mod outputs;

mod checkpoint;
mod meta;
mod metrics;

mod dir;

mod recorder;

pub use checkpoint::Checkpoint;
pub(crate) use claim::Claim;
pub use destination::Destination;
pub use dir::{Former, RunDir};
pub use meta::Meta;
pub(crate) use meta::fingerprint;
pub use metrics::Metric;
pub(crate) use outputs::Outputs;
pub(crate) use recorder::Recorder;
pub use recorder::Screen;
