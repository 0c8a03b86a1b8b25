//! The study of beams, for people.

use super::study::{Effort, Estimated, Found, Study};
use crate::error::Result;
use crate::experiment::{Console, Ended, alone, keep};
use std::fmt::Write as _;
use std::path::Path;

/// The name of the study.
pub const NAME: &str = "beam";

/// Cells across the beam, before the refinement.
const CELLS: usize = 3;

/// Reads the recordings in `data`, finds stiffness, viscosity and loads, and writes `beam.md` and `beam.json` to `out`, scenes and runs to
/// `out/beam`.
///
/// # Errors
/// When a recording is wrong, a search fails, or a file cannot be written.
pub fn run(data: &Path, out: &Path, console: &mut dyn Console) -> Result<Ended> {
    let effort = Effort { cells: CELLS, frames: usize::MAX };
    let study = Study::new(data, &out.join(NAME), effort, console);
    keep((NAME, out), study, markdown, alone, console)
}

fn markdown(study: &Study) -> String {
    let mut out = String::from("# A silicone beam, seen by motion capture\n\n");
    out.push_str(
        "A beam of Dragon Skin 10, 100 x 30 x 30 mm, clamped at one end, held straight and let go (Dubied, Michelis, Spielberg, Katzschmann 2022), by \
         finite elements. Of the bare beam Young's modulus and a viscosity are unknown, of the loaded ones the mass, which hangs on the upper edge of the free end, \
         where the authors apply it, and a damping by mass, for what takes energy beside the beam. The authors' moduli are 264 kPa \
         from its sag and 283 kPa from its motion. Markers are measured to some 0.3 mm, and are as far off the beam at the release as the table says.\n\n",
    );
    out.push_str(
        "| recording | let go at frame | frames | markers off the beam [mm] | Young's modulus [kPa] | viscosity [Pa s] | load [g] | damping [1/s] | markers, RMS [mm] | \
         iterations | s |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let number = |value: &Option<Estimated>, factor: f64| match value {
        Some(Estimated { value, interval: Some((low, high)) }) => {
            format!("{:.1} ({:.1} to {:.1})", factor * value, factor * low, factor * high)
        }
        Some(Estimated { value, interval: None }) => format!("{:.1}", factor * value),
        None => String::new(),
    };
    for found in study.bare.iter().chain(&study.loaded) {
        let Found { name, release, frames, placed, young, viscosity, load, damping, distance, iterations, seconds } =
            found;
        let _ = writeln!(
            out,
            "| {name} | {release} | {frames} | {:.2} | {} | {} | {} | {} | {:.2} | {iterations} | {seconds:.0} |",
            1e3 * placed,
            number(young, 1e-3),
            number(viscosity, 1.0),
            number(load, 1e3),
            number(damping, 1.0),
            1e3 * distance
        );
    }
    out
}
