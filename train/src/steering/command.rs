//! The study of a scene, for people.

use super::markdown;
use super::plan::Named;
use super::scene::Twin;
use super::study::{Curve, Study};
use crate::error::Result;
use crate::experiment::{Console, Ended, keep, tell};
use crate::report::searches::{self, Search};
use std::path::Path;
use std::time::Instant;

/// Searches, and writes `NAME.md`, `NAME.json` and `NAME.png` to `out`.
///
/// # Errors
/// When a launch fails or a file cannot be written.
pub fn run(scene: &Named, out: &Path, console: &mut dyn Console) -> Result<Ended> {
    let (begun, name) = (Instant::now(), &scene.name);
    let study = Study::new(name, &scene.plan, &mut |part| tell(console, begun, part));
    let curves = |study: &Study| {
        let group = |curve: &Curve| usize::from(curve.twin == Twin::Naive);
        let of = |curve: &Curve| Search { group: group(curve), values: curve.outcome.clone() };
        let curves: Vec<Search> = study.curves.iter().map(of).collect();
        // One twin alone needs no legend.
        let groups: Vec<&str> = match scene.plan.twins() {
            [_] => Vec::new(),
            twins => twins.iter().map(|twin| twin.name()).collect(),
        };
        Ok(vec![("png", searches::curves(name, scene.plan.outcome().0, &groups, &curves)?)])
    };
    keep((name, out), study, markdown::text, curves, console)
}
