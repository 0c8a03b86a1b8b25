//! Jobs from their first check to the last picture.

mod dir;
mod identify;
mod meta;
mod noise;
mod recorder;
mod simulate;

pub use dir::{Checkpoint, Metric, RunDir};
pub use identify::{Finished, Prepared};
pub use meta::Meta;
pub use recorder::Screen;
pub use simulate::Simulation;

use crate::error::{Error, Result};

/// Shows that this build can run on the device named.
fn check_device(name: &str) -> Result<()> {
    diffkern::Device::by_name(name).map(drop).map_err(|e| Error::argument("device", format!("{name:?}: {e}")))
}
