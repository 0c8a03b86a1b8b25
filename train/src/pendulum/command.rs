//! The study of swings, for people.

use super::markdown;
use super::recording::{Recording, read};
use super::study::Study;
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended};
use crate::job::Flow;
use crate::{files, text};
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
    let mut tell = |part: f64| match console.fraction(part, begun.elapsed().as_secs_f64()) {
        Flow::Stop => Err(Error::Interrupted),
        _ => Ok(()),
    };
    let study = match Study::new(&recording, &mut tell) {
        Err(Error::Interrupted) => return Ok(Ended::Interrupted),
        study => study?,
    };
    console.finish();
    let [json, md] = ["json", "md"].map(|extension| out.join(format!("{NAME}.{extension}")));
    std::fs::create_dir_all(out).map_err(|e| Error::write(out, e))?;
    files::write_json(&json, &study)?;
    let table = markdown::text(&study);
    files::write(&md, table.as_bytes())?;
    console.print(table.trim_end());
    console.say(&format!("wrote {} and {}", text::path(&json), text::path(&md)));
    Ok(Ended::Done)
}
