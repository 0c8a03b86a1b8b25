//! The study of swings, for people.

use super::markdown;
use super::recording::{Recording, read};
use super::study::Study;
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended, alone, keep, tell};
use std::path::Path;
use std::time::Instant;

/// The name of the study.
pub const NAME: &str = "pendulum";

/// Reads swings from `data`, and those to judge on from `other` where it is given, finds all unknowns, and writes `pendulum.md` and
/// `pendulum.json` to `out`.
///
/// # Errors
/// When a file is wrong, a simulation fails, or a file cannot be written.
pub fn run(data: &Path, other: Option<&Path>, out: &Path, console: &mut dyn Console) -> Result<Ended> {
    let mut recording = read(data)?;
    if let Some(file) = other {
        let Recording { dt, judged, .. } = read(file)?;
        if (dt / recording.dt - 1.0).abs() > 1e-6 {
            let problem = format!("samples are {dt} s apart, expected {} s, as in --data", recording.dt);
            return Err(Error::argument("test-data", problem));
        }
        recording.judged = judged;
    }
    let begun = Instant::now();
    let study = Study::new(&recording, &mut |part| tell(console, begun, part));
    keep((NAME, out), study, markdown::text, alone, console)
}
