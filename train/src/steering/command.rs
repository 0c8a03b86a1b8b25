//! The study of a scene, for people.

use super::markdown;
use super::plan::Named;
use super::scene::Twin;
use super::study::{Curve, Study};
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended};
use crate::job::Flow;
use crate::report::searches::{self, Search};
use crate::{files, text};
use std::path::Path;
use std::time::Instant;

/// Searches, and writes `NAME.md`, `NAME.json` and `NAME.png` to `out`.
///
/// # Errors
/// When a launch fails or a file cannot be written.
pub fn run(scene: &Named, out: &Path, console: &mut dyn Console) -> Result<Ended> {
    let (begun, name) = (Instant::now(), &scene.name);
    let mut tell = |part: f64| match console.fraction(part, begun.elapsed().as_secs_f64()) {
        Flow::Stop => Err(Error::Interrupted),
        _ => Ok(()),
    };
    let study = match Study::new(name, &scene.plan, &mut tell) {
        Err(Error::Interrupted) => return Ok(Ended::Interrupted),
        study => study?,
    };
    console.finish();
    let [json, md, png] = ["json", "md", "png"].map(|extension| out.join(format!("{name}.{extension}")));
    std::fs::create_dir_all(out).map_err(|e| Error::write(out, e))?;
    files::write_json(&json, &study)?;
    let table = markdown::text(&study);
    files::write(&md, table.as_bytes())?;
    let of = |curve: &Curve| Search { group: usize::from(curve.twin == Twin::Naive), values: curve.outcome.clone() };
    let curves: Vec<Search> = study.curves.iter().map(of).collect();
    let groups = [Twin::TimeOfImpact, Twin::Naive].map(Twin::name);
    files::write(&png, &searches::curves(name, scene.plan.outcome().0, &groups, &curves)?)?;
    console.print(table.trim_end());
    console.say(&format!("wrote {}, {} and {}", text::path(&json), text::path(&md), text::path(&png)));
    Ok(Ended::Done)
}
