//! Jobs from their first check to the last picture.

mod claim;
mod outputs;

mod checkpoint;
mod meta;
mod metrics;

mod dir;

mod recorder;

mod identify;
mod noise;
mod simulate;

pub use checkpoint::Checkpoint;
pub use dir::{Former, RunDir};
pub use identify::{Finished, Prepared};
pub use meta::Meta;
pub use metrics::Metric;
pub use recorder::Screen;
pub use simulate::Simulation;

use crate::error::{Error, Result};

/// Shows that this build can run on the device named.
fn check_device(name: &str) -> Result<()> {
    diffkern::Device::by_name(name).map(drop).map_err(|e| Error::argument("device", format!("{name:?}: {e}")))
}
