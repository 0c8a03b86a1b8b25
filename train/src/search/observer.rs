//! What a running job tells.

use super::state::State;
use crate::error::Result;
use crate::job::{Flow, Progress, Stop};

/// Who listens to a running job.
pub trait Observer {
    /// The flag that ends the job at the next launch.
    fn stop(&self) -> Stop {
        Stop::default()
    }

    /// Called often; `Flow::Stop` when the user wants an end.
    fn progress(&mut self, progress: &Progress) -> Flow;

    /// Called after every finished iteration with all that is needed to go on from there.
    ///
    /// # Errors
    /// When it cannot be saved; the job ends with that error.
    fn checkpoint(&mut self, state: &State) -> Result<()>;
}
