//! The study of a film, for people.

use super::film::read;
use super::study::{Found, Study};
use crate::error::Result;
use crate::experiment::{Console, Ended, alone, keep};
use std::fmt::Write as _;
use std::path::Path;

/// The name of the study.
pub const NAME: &str = "tennis";

/// Reads the film in `folder`, finds all unknowns, and writes `tennis.md` and `tennis.json` to `out`.
///
/// # Errors
/// When a file is wrong, a simulation fails, or a file cannot be written.
pub fn run(folder: &Path, out: &Path, console: &mut dyn Console) -> Result<Ended> {
    let study = read(folder).and_then(|film| Study::new(&film));
    keep((NAME, out), study, markdown, alone, console)
}

fn markdown(study: &Study) -> String {
    let mut out = String::from("# Two tennis balls that collide on a table, filmed\n\n");
    let _ = writeln!(
        out,
        "{} frames at 60 Hz of the film of Du et al.: DiffPD, ACM TOG 2021, by the centroids of both balls. Their simulator is 34.2 px off before the \
         search, mean over frames and balls, and 18.1 px after it. Balls slide and roll on the table by impulses with Coulomb's friction and collide with a coefficient of \
         restitution, without friction among each other and without resistance to rolling. Levenberg-Marquardt with exact derivatives by \
         forward mode; points of the calibration of the camera count a fifth of a centroid, as they are so much farther off.\n",
        study.frames
    );
    out.push_str(
        "| unknown beside places, velocities, restitution, friction | mean error [px] | largest [px] | calibration [px] | restitution | friction | \
         iterations |\n|---|---|---|---|---|---|---|\n",
    );
    for Found { name, error: [mean, most], clicked, restitution, friction, iterations, .. } in &study.found {
        let number = |[value, low, high]: &[f64; 3]| format!("{value:.3} ({low:.3} to {high:.3})");
        let _ = writeln!(
            out,
            "| {name} | {mean:.2} | {most:.1} | {clicked:.1} | {} | {} | {iterations} |",
            number(restitution),
            number(friction)
        );
    }
    let _ = writeln!(
        out,
        "\nIntervals (95 %) are by the scatter over frames. Noise of the centroids is {:.2} px (mean distance, by third differences of their paths).",
        study.noise
    );
    out.push_str(
        "What is left above it is the model's. The ball that lies still at first is found to spin: spins make up for what it lacks, friction of the balls \
         among each other and resistance to rolling, so that they, and friction with the table, are no measurements. Without spins the search \
         bends the camera in their place, far from where its points were clicked.\n",
    );
    for Found { name, velocity: [a, b], roll: [c, d], camera, .. } in &study.found {
        let pair = |[x, y]: &[f64; 2]| format!("({x:.3}, {y:.3})");
        let [p, q, r, x, y, z, zoom] = camera;
        let _ = writeln!(
            out,
            "\n- {name}: velocities {} and {} m/s, spins as velocities of rolling {} and {} m/s; camera turned by ({p:.4}, {q:.4}, {r:.4}) rad, \
             shifted by ({x:.4}, {y:.4}, {z:.4}) m, focal length times {:.4}.",
            pair(a),
            pair(b),
            pair(c),
            pair(d),
            zoom.exp()
        );
    }
    out
}
