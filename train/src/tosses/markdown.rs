//! A study as Markdown.

use super::cube::{HALF, STEPS};
use super::misfit::KNEE;
use super::search::SECANT;
use super::study::{Judged, PoseErrors, Study};
use std::fmt::Write as _;

fn named(horizon: Option<usize>) -> String {
    horizon.map_or("whole tosses".into(), |h| format!("{h} frames after the first touch"))
}

/// The text of a table.
pub(super) fn text(study: &Study) -> String {
    let mut out = String::from("# Tosses of a cube onto a table, measured\n\n");
    let [train, test] = [study.train, study.test].map(|[a, b, n]| format!("{n} (numbers {a} to {b})"));
    let _ = writeln!(
        out,
        "Fitted to {train}, judged on {test}. Pfrommer, Halm, Posa: ContactNets, CoRL 2020. Each toss is simulated from the pose and the \
         velocities at its first frame, by least squares over its flight, the same for all constants, by impulses at the time of impact, {STEPS} \
         steps a frame. Errors are in the lengths of the data.\n"
    );
    errors(&mut out, study);
    constants(&mut out, study);
    method(&mut out, study);
    out
}

fn errors(out: &mut String, study: &Study) {
    out.push_str("## Errors on tosses that were not fitted\n\n");
    out.push_str("| window | constants | position: mean [mm] | median [mm] | rotation: mean [rad] | median [rad] |\n|---|---|---|---|---|---|\n");
    let count = study.judged.first().map_or(0, |judged| judged.errors.len());
    for k in 0..count {
        for Judged { name, errors, constants } in &study.judged {
            let PoseErrors { horizon, position, rotation } = errors[k];
            let _ = writeln!(
                out,
                "| {} | {name} (mu {:.3}, e {:.3}, s {:.4}) | {:.2} | {:.2} | {:.4} | {:.4} |",
                named(horizon),
                constants.mu,
                constants.e,
                constants.s,
                1e3 * position[0],
                1e3 * position[1],
                rotation[0],
                rotation[1]
            );
        }
    }
    out.push('\n');
}

fn constants(out: &mut String, study: &Study) {
    let claims = &study.claims;
    out.push_str("## Constants, and what tosses show without a simulation\n\n| | found | 95 % interval, jackknife over tosses |\n|---|---|---|\n");
    let names = ["friction mu", "restitution e", "length scale s"];
    for (k, (name, value)) in names.into_iter().zip(study.found.to_array()).enumerate() {
        let interval = study.intervals.map_or("not determined".into(), |i| format!("{:.4} to {:.4}", i[k][0], i[k][1]));
        let _ = writeln!(out, "| {name} | {value:.4} | {interval} |");
    }
    let _ = writeln!(
        out,
        "\n| of the fitted tosses | median | quartiles | mean, standard error | count | says | median, simulated |\n|---|---|---|---|---|---|---|"
    );
    let made = &study.simulated;
    let simulated = [made.fall, made.left, made.rest, made.sliding];
    let rows = [
        ("acceleration in flight [m/s^2]", &claims.fall, format!("s = {:.4}", 9.81 / claims.fall.mean[0].max(1e-9))),
        ("what a parabola leaves of heights [m]", &claims.left, "noise".into()),
        ("height of rest [m]", &claims.rest, format!("s = {:.4}", HALF / claims.rest.median.max(1e-9))),
        ("deceleration of flat sliding, by gravity", &claims.sliding, format!("mu = {:.3}", claims.sliding.median)),
    ];
    for ((name, spread, says), simulated) in rows.into_iter().zip(simulated) {
        let [low, high] = spread.quartiles;
        let [mean, error] = spread.mean;
        let _ = writeln!(
            out,
            "| {name} | {:.4e} | {low:.4e} to {high:.4e} | {mean:.4e} +- {error:.1e} | {} | {says} | {:.4e} |",
            spread.median, spread.count, simulated.median
        );
    }
    out.push_str(
        "\nFlights and rest show the scale of lengths alone, slides friction alone. The search finds what brings impacts nearest, and makes up with its \
         three constants for what the model lacks: corners are sharp (a cube with round ones lands later, as a smaller one does), friction is the \
         same in slides and impacts, restitution at all speeds. Where its interval does not hold what a flight or a slide says, that is the model; the \
         jackknife sees the scatter of tosses alone.\n\n",
    );
}

fn method(out: &mut String, study: &Study) {
    let _ = writeln!(
        out,
        "## Method\n\nThe residual of a frame is the distance of the eight corners, root of the mean square: twelve numbers, the difference of the \
         centres and half a side ({HALF} m) times the difference of the matrices of rotation. It counts as its square up to {} mm and by its \
         size beyond (pseudo-Huber), the mean over the frames of each toss. After the first touches a motion is chaotic, so a window ends some frames \
         after the first. How many was chosen on the fitted tosses alone: each half fitted, from what the window before \
         says, and the distance of corners of the other half taken by that with the authors' constants, the mean over these four windows.\n\n| window | \
         other half, by the authors' |\n|---|---|",
        1e3 * KNEE
    );
    for (horizon, distance) in &study.validation {
        let chosen = if *horizon == study.horizon { " (chosen)" } else { "" };
        let _ = writeln!(out, "| {}{chosen} | {distance:.3} |", named(*horizon));
    }
    let [mu, e, s] = SECANT;
    let _ = writeln!(
        out,
        "\nThe derivative of the loss of a toss by forward mode through its impacts is exact for the motion as it is computed, and says less and \
         less of how the loss goes over a change of {mu}, {e} and {s}. Part of the fitted tosses where it has another sign, or differs by more \
         than a factor of two:\n\n| window | mu | e | s |\n|---|---|---|---|"
    );
    for useless in &study.useless {
        let [mu, e, s] = useless.part.map(|part| 100.0 * part);
        let _ = writeln!(out, "| {} | {mu:.0} % | {e:.0} % | {s:.0} % |", named(useless.horizon));
    }
    out.push_str(
        "\nSo the search is Levenberg-Marquardt with secants over these changes, from the constants of the authors, then one constant after the \
         other by parts of them, as far as the loss falls.\n",
    );
}
