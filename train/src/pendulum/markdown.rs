//! The table of a study.

use super::arms::{GRAVITY, LOWER_CENTRE, MASSES, SLIP, STEP};
use super::study::{Begin, EARLY, Found, Judged, Study};
use std::fmt::Write as _;

/// Names of constants with their units, and what they are multiplied with to be in them.
const CONSTANTS: [(&str, f64); 8] = [
    ("between the joints [mm]", 1e3),
    ("upper joint to upper centre of mass [mm]", 1e3),
    ("inertia of the upper arm [kg mm^2]", 1e6),
    ("inertia of the lower arm [kg mm^2]", 1e6),
    ("viscous friction, upper joint [uN m s/rad]", 1e6),
    ("viscous friction, lower joint [uN m s/rad]", 1e6),
    ("dry friction, upper joint [uN m]", 1e6),
    ("dry friction, lower joint [uN m]", 1e6),
];

/// The text of a table.
pub(super) fn text(study: &Study) -> String {
    let Study { dt, fitted: [swings, samples], judged: [others, length], .. } = study;
    let mut out = String::from("# A double pendulum that swings freely, measured\n\n");
    let _ = writeln!(
        out,
        "Fitted to {swings} swings of {:.2} s, judged on {others} of {:.2} s, angles every {} ms. Kaheman et al.: The Experimental Multi-Arm Pendulum on a \
         Cart, arXiv 2205.06231; the authors' division into swings to fit and to validate. The arms are rigid bodies with two hinges, steps of \
         {} ms at most.\n",
        (samples - 1) as f64 * dt,
        (length - 1) as f64 * dt,
        1e3 * dt,
        1e3 * STEP
    );
    errors(&mut out, study);
    constants(&mut out, study);
    out
}

fn errors(out: &mut String, study: &Study) {
    let count = study.judged[0];
    let heads: String = (1..=count).map(|k| format!(" swing {k} |")).collect();
    let _ = writeln!(
        out,
        "## Errors on swings that were not fitted\n\nOf each swing the root of the mean square over all samples and both angles [rad].\n\n\
         | constants | starts | median | mean |{heads}\n|---|---|---|---|{}",
        "---|".repeat(count)
    );
    for Found { name, judged, .. } in &study.found {
        for Judged { begin, errors, median, mean } in judged {
            let begin = match begin {
                Begin::Measured => "first sample".to_owned(),
                Begin::Early => format!("fitted to the first {EARLY} s"),
                Begin::Whole => "fitted to the swing".to_owned(),
            };
            let each: String = errors.iter().map(|e| format!(" {e:.4} |")).collect();
            let _ = writeln!(out, "| {name} | {begin} | {median:.4} | {mean:.4} |{each}");
        }
    }
    let _ = writeln!(
        out,
        "\nFrom the first sample nothing of a swing is fitted: angles and rates are those of the file, as the authors fit and judge theirs. Its rates were \
         smoothed by them and are off by up to a tenth of a radian a second, which no constants mend; so the other rows fit four numbers of each \
         swing, angles and rates of its start, to its beginning or to all of it. The last says how well constants can do, and predicts nothing. With half the step an error \
         from the first sample changes by {:.1e} rad at most.\n",
        study.step
    );
}

fn constants(out: &mut String, study: &Study) {
    let heads: String = study.found.iter().map(|found| format!(" {} |", found.name)).collect();
    let _ = writeln!(out, "## Constants\n\n| |{heads}\n|---|{}", "---|".repeat(study.found.len()));
    for (k, (name, unit)) in CONSTANTS.into_iter().enumerate() {
        let cell = |found: &Found| {
            let value = unit * found.constants.to_array()[k];
            match found.intervals[k] {
                Some([low, high]) => format!(" {value:.2} ({:.2} to {:.2}) |", unit * low, unit * high),
                None => format!(" {value:.2} |"),
            }
        };
        let _ = writeln!(out, "| {name} |{}", study.found.iter().map(cell).collect::<String>());
    }
    let row =
        |of: fn(&Found) -> String| study.found.iter().map(|found| format!(" {} |", of(found))).collect::<String>();
    let _ = writeln!(
        out,
        "| error of the fitted swings, from their best starts [rad] |{}",
        row(|f| format!("{:.5}", f.fitted))
    );
    let _ = writeln!(out, "| evaluations with derivatives |{}", row(|f| f.evaluations.to_string()));
    let [upper, lower] = MASSES;
    let _ = writeln!(
        out,
        "\nIntervals (95 %) are by the jackknife over swings. Held are masses of {:.1} and {:.1} g, {:.2} mm from the lower joint to the centre of mass of the lower arm, and \
         gravity of {GRAVITY:.4} m/s^2, all as the authors have them: a motion depends on ratios of inertias and torques alone, so for other masses and another \
         length other values of the rest move alike. Dry friction is `-d w / sqrt(w^2 + s^2)` with s = {SLIP} rad/s; that of the lower joint is by the angular \
         velocity of the arms against each other.\n\n\
         ## Method\n\nLevenberg-Marquardt with exact derivatives by forward mode through all steps, from the authors' constants and the measured first \
         samples. The angles of all samples count alike. The start of each fitted swing is unknown too: for each step of the constants it takes the change that \
         is best with it (variable projection).",
        1e3 * upper,
        1e3 * lower,
        1e3 * LOWER_CENTRE
    );
}
