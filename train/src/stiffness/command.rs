//! The study from the command line.

use super::markdown;
use super::protocol::{NAME, Protocol};
use super::study::Study;
use crate::error::Result;
use crate::experiment::{Console, Ended, alone, keep, tell};
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
    let mut progress = |_: usize, value: f64| {
        let first = *first.get_or_insert(value);
        let part = ((first / value).ln() / (first.ln() - END.ln()).max(1.0)).clamp(0.0, 0.99);
        tell(console, begun, part)
    };
    let study = Study::new(protocol, seed, &mut progress);
    keep((NAME, out), study, markdown::text, alone, console)
}

/// Cost of a search at its end, about: the number of coordinates that are seen.
const END: f64 = 3e4;
