//! The study for people.

use super::protocol::NAME;
use super::study::Study;
use std::fmt::Write as _;

/// The whole text.
pub(super) fn text(study: &Study) -> String {
    let p = &study.protocol;
    let (errors, guessed) = (study.errors(), study.guessed());
    let n = errors.len();
    let mut text = format!("# {}\n\n", NAME);
    let _ = writeln!(
        text,
        "{} elements, seed {}, diffkern {}; made by `diffkern run {} --seed {}` in {:.0} s. Errors of Young's modulus are relative to the truth.\n",
        n, study.seed, study.version, NAME, study.seed, study.seconds
    );
    text += "| | median | mean | nine in ten below | worst |\n|---|---|---|---|---|\n";
    for (name, errors) in [("found", &errors), ("middle of the range everywhere", &guessed)] {
        let at = |part: f64| errors[((n - 1) as f64 * part) as usize];
        let mean = errors.iter().sum::<f64>() / n as f64;
        let median = 0.5 * (errors[(n - 1) / 2] + errors[n / 2]);
        let _ = writeln!(text, "| {name} | {median:.4} | {mean:.4} | {:.4} | {:.4} |", at(0.9), errors[n - 1]);
    }
    let [x, y, z] = study.noise.map(|s| 1e6 * s);
    let _ = writeln!(
        text,
        "\nThe search of Levenberg and Marquardt has taken {} evaluations with derivatives by all moduli. The mean square of the residuals is {:.3} of that of the noise.\n",
        study.iterations, study.misfit
    );
    let _ = writeln!(
        text,
        "A block of {:?} m in {:?} cells of six linear tetrahedra (neo-Hookean, {} kg/m^3, Poisson's ratio {}), its side at the lower end of x held. The modulus of each element is drawn apart from all others, \
         its logarithm evenly from {:.1e} to {:.1e} Pa. Three loadings: the held side is accelerated by {} m/s^2 along x, y or z, for {} s from rest. Known are the places of all {} vertices at {} frames of each, with normal \
         noise on each coordinate of {} of the root of the mean square displacement of the free vertices of the loading ({x:.1}, {y:.1} and {z:.1} um). The search has the same mesh and steps ({} in each motion), as it is the elements \
         that are sought. It starts at the middle of the range, which with the standard deviation of the range is the prior of each logarithm.",
        p.sides,
        p.cells,
        p.density,
        p.poisson,
        p.young.0,
        p.young.1,
        p.acceleration,
        p.duration,
        study.vertices,
        p.frames,
        p.noise,
        study.steps
    );
    text
}
