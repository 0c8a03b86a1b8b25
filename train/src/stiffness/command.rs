//! The study from the command line.

use super::markdown;
use super::protocol::{NAME, Protocol};
use super::study::Study;
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended};
use crate::job::Flow;
use crate::{files, text};
use std::path::Path;
use std::time::Instant;

/// Finds the moduli of a protocol, and writes `stiffness_field.md` and `stiffness_field.json` to `out`.
///
/// # Errors
/// When a motion goes wrong, or a file cannot be written.
pub fn run(protocol: &Protocol, seed: u64, out: &Path, console: &mut dyn Console) -> Result<Ended> {
    let begun = Instant::now();
    let mut first = None;
    // The logarithm of the value falls from that of the start to about that of the noise.
    let mut tell = |_: usize, value: f64| {
        let first = *first.get_or_insert(value);
        let part = ((first / value).ln() / (first.ln() - END.ln()).max(1.0)).clamp(0.0, 0.99);
        match console.fraction(part, begun.elapsed().as_secs_f64()) {
            Flow::Stop => Err(Error::Interrupted),
            _ => Ok(()),
        }
    };
    let study = match Study::new(protocol, seed, &mut tell) {
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

/// Cost of a search at its end, about: the number of coordinates that are seen.
const END: f64 = 3e4;
