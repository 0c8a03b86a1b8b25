//! The outcome of a search: values, intervals, pictures.

use super::adequacy::{self, Adequacy};
use super::frames::{FITTED, fitted};
use super::information::{Together, posterior, together};
use super::interval::{self, Covariances, SIGMAS, TELLS};
use super::observed::{self, observed};
use super::problem::{ByFrame, VideoProblem};
use super::refinement::Ended;
use crate::error::{Error, Result};
use crate::job::{Ending, IdentifyOptions, Outcome, Parameter, Shown, TrackFit};
use crate::program::{Failure, shots, simulable};
use crate::scene::{Measured, Name, Prior, Scene, Track};
use crate::search::{Parametrisation, Problem as _, REFINED, Reporter, Search, Stage, State};
use crate::text::rounded;
use crate::video::{Frame, Video};
use diffkern::Float;
use diffkern_optim::dense::NormalEquations;
use nalgebra::DMatrix;

/// Silhouettes that agree less than this (intersection over union) are of something else.
const EXPLAINS: f64 = 0.8;
/// Standard deviations that a value may be from what the scene says of it before something is said.
const BESIDE: f64 = 2.0;
/// So near to an end of the range (of its logarithm) a value is at the end.
const AT_END: f64 = 1e-3;

/// Puts the outcome together; the pictures are drawn unless the job was interrupted. A job that did not come to its end
/// gives the best so far. Beside the state stands what a refinement knows of it, if there was one.
pub(super) fn outcome<F: Float>(
    problem: &VideoProblem<'_, F>,
    search: &Search<'_>,
    (mut state, ended): (State, Option<Ended>),
    options: &IdentifyOptions,
    mut ending: Ending,
    reporter: &mut Reporter<'_>,
) -> Result<Outcome> {
    state.runs = search.runs();
    if ending == Ending::MaxIterations {
        state.go_to_best();
    }
    let (mut seen, mut strayed) = (None, Vec::new());
    if ending != Ending::Interrupted {
        reporter.drawing(search.runs());
        match simulable(problem.shown(&state.at, &mut |part| reporter.tick(part))) {
            Ok(Some(run)) => {
                seen = Some(run);
                match problem.strayed(&state.at, &mut |part| reporter.tick(part)) {
                    Ok(told) => strayed = told,
                    Err(Failure::Stopped) => ending = Ending::Interrupted,
                    Err(Failure::Unstable(error) | Failure::Fatal(error)) => return Err(error),
                }
            }
            Ok(None) => {
                state.warnings.push("the values found cannot be simulated to the end of the video".into());
                // Its loss is known, and all that follows is of one place.
                state.go_to_best();
            }
            Err(Failure::Stopped) => ending = Ending::Interrupted,
            Err(Failure::Unstable(error) | Failure::Fatal(error)) => return Err(error),
        }
    }
    let (mut told, mut adequacy) = (ByFrame::default(), Adequacy::default());
    let doubt = problem.parametrisation().doubt();
    let tangents = state.normals.last().filter(|normal| ending == Ending::Converged && normal.parameters() > 0);
    let prior = problem.parametrisation().has_prior();
    let known = tangents.is_some_and(|normal| interval::all_show(normal, &doubt, &prior));
    let shows = match &seen {
        _ if !known => Ok(None),
        Some(run) => {
            let shows = shots(problem.scene, problem.frames).into_iter().map(|shot| observed::shown(run, shot));
            Ok(Some(shows.collect::<diffkern::Result<_>>()?))
        }
        // The grid of the search may do more.
        None => simulable(problem.searched(&state.at, &mut |part| reporter.tick(part))),
    };
    let (derivatives, weights) = match ended {
        Some(Ended { derivatives, weights }) => (Some(derivatives).filter(|_| seen.is_some()), weights),
        None => (None, state.weights.clone().unwrap_or_else(|| problem.weights.clone())),
    };
    let by_frame = shows.and_then(|shows| {
        let at = (&*state.at, &*weights);
        let look = |shows| problem.by_frame(at, shows, derivatives, &mut |part| reporter.tick(part));
        simulable(shows.map(look).transpose())
    });
    match by_frame {
        Ok(Some(None)) => {}
        Ok(Some(Some(by_frame))) => {
            told = by_frame;
            if seen.is_some() && problem.refines() && told.coarser.is_none() {
                let unknown =
                    "the grid of the search cannot simulate the answer: intervals do not count what the grid leaves";
                state.warnings.push(unknown.into());
            }
        }
        Ok(None) => {
            let unknown = "values near the answer cannot be simulated: intervals count noise alone, and are too narrow";
            state.warnings.push(unknown.into());
        }
        Err(Failure::Stopped) => ending = Ending::Interrupted,
        Err(Failure::Unstable(error) | Failure::Fatal(error)) => return Err(error),
    }
    let torn = seen.as_ref().and_then(|run| run.torn);
    // Frames that the simulator has wrong say nothing about the scene.
    let sound = torn.unwrap_or(problem.scene.num_frames);
    let last_fitted = fitted(&weights);
    let fitted_frames = last_fitted.min(sound);
    state.warnings.extend(not_fitted(last_fitted, problem.frames));
    let agreement = |frames: usize| match &seen {
        Some(run) if frames > 0 => iou_of(problem, run, frames),
        _ => Ok(None),
    };
    let [near, whole] = [agreement(fitted_frames)?, agreement(sound)?];
    let explains = |iou: Option<f64>| iou.is_some_and(|iou| iou >= EXPLAINS);
    let differs = whole.is_some() && !explains(whole) && explains(near);
    if let Some(frame) = torn {
        let fitted = if frame < last_fitted { "; they were fitted, and the intervals do not hold" } else { "" };
        state.warnings.push(format!("{}{fitted}", self::torn(frame)));
    }
    if let Some(shown) = told.shown.take().filter(|_| problem.frames <= sound) {
        match adequacy::judge(problem, &state.at, shown, differs, &mut |part| reporter.tick(part)) {
            Ok(judged) => adequacy = judged,
            Err(Failure::Stopped) => ending = Ending::Interrupted,
            Err(Failure::Unstable(error) | Failure::Fatal(error)) => return Err(error),
        }
        state.warnings.extend(adequacy.said.clone());
    }
    let (loss, iou) = match &seen {
        Some(run) => (Some(mean_square(problem, run, &weights)?), agreement(problem.scene.num_frames)?),
        None => {
            // Its loss is known.
            state.go_to_best();
            let compared = problem.scene.films.iter().any(|film| film.weights[0] > 0.0);
            (state.best().map(|best| best.loss), compared.then_some(state.iou))
        }
    };
    let last_level = if problem.refines() { REFINED.to_owned() } else { search.last_level() };
    let at_last_level = state.best().is_some_and(|best| best.stage == last_level);
    let loss_initial = state.loss_initial.filter(|_| seen.is_some() || at_last_level);
    let parameters = parameters(problem, &mut state, (&told, &strayed), options)?;
    let rough = state.best().is_none_or(|best| best.stage.starts_with(Stage::Coarse.name()));
    if ending != Ending::Converged && rough {
        let how = if ending == Ending::Interrupted { "interrupted" } else { "ended by the limit of iterations" };
        state.warnings.push(format!("{how} on the coarse grid: values and loss are rough"));
    }
    let unexplained = adequacy.said.is_none() && ending != Ending::Interrupted;
    let judged = if seen.is_some() { whole } else { iou };
    if let Some(judged) = judged.filter(|_| unexplained) {
        let near = near.unwrap_or(judged);
        state.warnings.extend(not_explained(judged, near, [fitted_frames, sound], &adequacy.causes));
    }
    Ok(Outcome {
        parameters,
        loss_initial,
        loss,
        iterations: state.iteration,
        runs: state.runs,
        iou,
        outlines: adequacy.off,
        fitted_frames: last_fitted,
        ending,
        history: state.history,
        viscosity: problem.parametrisation().values(&state.at).extra,
        discretisation: problem.discretisation(),
        tracks: seen.as_ref().map(|run| tracks(problem.scene, run)).unwrap_or_default(),
        videos: seen.map(|run| videos(problem, run.films)).unwrap_or_default(),
        warnings: state.warnings,
    })
}

/// The pictures of each film as a video.
fn videos<F: Float>(problem: &VideoProblem<'_, F>, pictures: Vec<Vec<Frame>>) -> Vec<Video> {
    let of = |(frames, own): (Vec<Frame>, &Video)| Video { width: own.width, height: own.height, frames, masks: None };
    pictures.into_iter().zip(problem.videos).map(of).collect()
}

fn parameters<F: Float>(
    problem: &VideoProblem<'_, F>,
    state: &mut State,
    (told, strayed): (&ByFrame, &[Vec<f64>]),
    options: &IdentifyOptions,
) -> Result<Vec<Parameter>> {
    let parametrisation = problem.parametrisation();
    let values = parametrisation.values(&state.at);
    let normal = if state.stage == Stage::Coarse { None } else { state.normals.last() };
    // A rule that follows gradients has them once it is done.
    let normal = normal.filter(|normal| normal.parameters() > 0);
    let free = parametrisation.free(&state.at);
    let covariances = normal.map(|normal| -> Result<_> {
        let covariances = interval::covariance(problem, (normal, told), (&state.at, free))?;
        Ok(covariances.map(|Covariances { noise, all }| Covariances {
            noise,
            all: strayed.iter().fold(all, |sum, strayed| interval::with(sum, strayed)),
        }))
    });
    let covariances = covariances.transpose()?;
    let mut parameters = Vec::with_capacity(options.unknowns.len());
    for name in &options.unknowns {
        let target = problem.scene.target(name).map_err(|problem| Error::argument("unknowns", problem))?;
        let found = values[target];
        let (low, high) = problem.scene.range(target).map_or((found, found), |range| (range.min, range.max));
        let scale = if target.quantity.is_positive() { Scale::Log } else { Scale::Linear };
        let by = |of: fn(&Covariances) -> &[f64]| {
            covariances.as_ref().map(|covariances| match covariances {
                Some(covariances) => {
                    let away = SIGMAS * parametrisation.deviation(&values, of(covariances), target);
                    scale.around(found, away, (low, high))
                }
                None => (low, high),
            })
        };
        let interval = by(|covariances| &covariances.all);
        let at_end = scale.share(low, found, (low, high)) < AT_END || scale.share(found, high, (low, high)) < AT_END;
        let tells = interval.is_none_or(|(from, to)| scale.share(from.max(low), to.min(high), (low, high)) < TELLS);
        if at_end {
            let problem =
                format!("{name} is at the end of its range, {found} {}: the answer may lie outside", name.unit());
            state.warnings.push(problem);
        }
        let prior = problem.scene.range(target).and_then(|range| range.prior);
        let is_beside = |prior: &Prior| prior.away(found, target.quantity.is_positive()).abs() > BESIDE;
        if let Some(Prior { center, deviation }) = prior.filter(is_beside) {
            state.warnings.push(format!(
                "the scene may be wrong: {name} is found as {}, where it says {}, with a standard deviation of {}",
                rounded(found),
                rounded(center),
                rounded(deviation)
            ));
        }
        if !tells {
            state
                .warnings
                .push(format!("{name} cannot be told from this video: its interval covers most of its range"));
        }
        parameters.push(Parameter {
            name: name.clone(),
            unit: name.unit().into(),
            initial: state.initial.get(name).copied().unwrap_or(found),
            found,
            interval,
            by_noise: by(|covariances| &covariances.noise),
            determined: tells && !at_end,
        });
    }
    let told = |parameter: &Parameter| Some((parameter.name.clone(), problem.scene.target(&parameter.name).ok()?));
    let unknowns: Vec<_> = parameters.iter().filter_map(told).collect();
    let open = |name: &Name| parameters.iter().any(|parameter| parameter.name == *name && !parameter.determined);
    // Residuals that do not fix all of them may yet fix what pairs make together.
    let fixed = covariances.flatten().map(|own| own.all).filter(|all| all.iter().all(|x| x.is_finite()));
    if let Some(covariance) = fixed.or_else(|| posterior_of(parametrisation, normal?)) {
        let say = |pair: &Together| {
            format!("this video tells {pair}, but not each of the two: give one of them, if you know it")
        };
        let pairs = together(parametrisation, &values, &covariance, &unknowns);
        state.warnings.extend(pairs.iter().filter(|pair| pair.names.iter().any(open)).map(say));
    }
    Ok(parameters)
}

/// Covariance by residuals beside the ranges.
fn posterior_of(parametrisation: &Parametrisation, normal: &NormalEquations) -> Option<Vec<f64>> {
    let n = normal.parameters();
    let variance = normal.variance().filter(|variance| *variance > 0.0 && n == parametrisation.kinds().len())?;
    posterior(parametrisation, DMatrix::from_vec(n, n, normal.hessian.clone()) / variance)
}

/// How distances in a range are measured.
#[derive(Clone, Copy)]
enum Scale {
    /// Of values that differ by factors.
    Log,
    Linear,
}

impl Scale {
    /// What is within a distance of a value.
    fn around(self, found: f64, away: f64, (low, high): (f64, f64)) -> (f64, f64) {
        match self {
            Self::Log => (positive(found / away.exp(), low), positive(found * away.exp(), high)),
            Self::Linear if away.is_finite() => (found - away, found + away),
            Self::Linear => (low, high),
        }
    }

    /// The part of a range that lies between two values.
    fn share(self, from: f64, to: f64, (low, high): (f64, f64)) -> f64 {
        match self {
            Self::Log => (to / from).ln() / (high / low).ln(),
            Self::Linear => (to - from) / (high - low),
        }
    }
}

fn positive(x: f64, otherwise: f64) -> f64 {
    if x.is_finite() && x > 0.0 { x } else { otherwise }
}

/// Mean squared difference over the frames that were fitted, as much as each number counts.
fn mean_square<F: Float>(problem: &VideoProblem<'_, F>, run: &Shown, weights: &[f64]) -> Result<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for shot in shots(problem.scene, problem.frames) {
        let shown = observed::shown(run, shot)?;
        let observed = observed(problem.scene, problem.videos, shot)?.weighted(weights[shot.frame])?;
        sum += observed.square(&shown);
        count += observed.differences();
    }
    Ok(sum / count.max(1) as f64)
}

/// Mean intersection over union of the silhouettes of the first frames.
fn iou_of<F: Float>(problem: &VideoProblem<'_, F>, run: &Shown, frames: usize) -> Result<Option<f64>> {
    let shots = shots(problem.scene, frames);
    Ok(observed::agreement(problem.videos, &shots, |_, shot| observed::shown(run, shot))?)
}

/// The warning for a body that MPM tears in `frame`.
pub(crate) fn torn(frame: usize) -> String {
    format!(
        "MPM tears a body in frame {frame} (numerical fracture: particles more than two grid cells apart hardly interact), which an elastic material does not; \
         frames from there on are wrong, expected --simulator fem where it can do the scene"
    )
}

/// What is said of frames that were compared and count for nothing.
fn not_fitted(fitted: usize, frames: usize) -> Option<String> {
    let size = 100.0 * FITTED;
    let told = || {
        format!(
            "frames {fitted} to {} were not fitted: outlines are off by {size} % of the size some frames before, and what comes after says nothing of its cause",
            frames - 1
        )
    };
    (fitted < frames).then(told)
}

/// What is said of silhouettes whose agreement over all frames is `iou`, over those that were `fitted` of all the other.
fn not_explained(iou: f64, fitted: f64, [frames, all]: [usize; 2], causes: &[String]) -> Option<String> {
    if iou >= EXPLAINS {
        return None;
    }
    let head = format!("the silhouettes of the answer and of the video have an IoU of {iou:.2} only");
    let cause = match causes.is_empty() {
        true => String::new(),
        false => format!("; it may be {}", causes.join(", or ")),
    };
    Some(match fitted >= EXPLAINS && frames < all {
        true => format!(
            "{head}, {fitted:.2} in the first {frames} of {all} frames, which were fitted: the answer does not explain what comes after them{cause}"
        ),
        false => format!("{head}: this scene does not explain this video, and the intervals do not hold{cause}"),
    })
}

/// How near each track is met.
fn tracks(scene: &Scene, run: &Shown) -> Vec<TrackFit> {
    let one = |(track, places): (&Track, &Vec<Vec<f64>>)| {
        let square = |row: &Measured| -> f64 {
            let place = &places[row.frame][3 * row.point..3 * row.point + 3];
            place.iter().zip(row.at).map(|(a, b)| (a - b).powi(2)).sum()
        };
        let measured = track.measured.as_deref().unwrap_or_default();
        let mean = measured.iter().map(square).sum::<f64>() / measured.len().max(1) as f64;
        TrackFit { name: track.name.clone(), distance: mean.sqrt(), places: places.clone() }
    };
    scene.tracks.iter().zip(&run.tracks).map(one).collect()
}

/// The outcome of a job that was interrupted before it had a place to go on from.
pub(super) fn nothing(search: &Search<'_>, options: &IdentifyOptions) -> Result<State> {
    let (initial, coordinates) = (search.initial(options), search.problem.parametrisation());
    Ok(State::new(coordinates.at(&initial), coordinates.named(&initial)))
}

/// A failed job's error; `None` when it was interrupted.
pub(super) fn error(failure: Failure) -> Option<Error> {
    match failure {
        Failure::Stopped => None,
        Failure::Unstable(error) | Failure::Fatal(error) => Some(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_is_blamed_for_what_was_fitted_alone() {
        assert_eq!(not_explained(0.85, 0.9, [24, 48], &[]), None);
        let after = not_explained(0.7, 0.93, [24, 48], &[]).unwrap();
        assert!(
            after.contains("an IoU of 0.70 only, 0.93 in the first 24 of 48 frames") && !after.contains("intervals")
        );
        for (fitted, frames) in [(0.75, 24), (0.7, 48)] {
            let cause = not_explained(0.7, fitted, [frames, 48], &["this".into(), "that".into()]).unwrap();
            assert!(cause.ends_with("; it may be this, or that"), "{cause}");
            let whole = not_explained(0.7, fitted, [frames, 48], &[]).unwrap();
            assert!(
                whole.ends_with("this scene does not explain this video, and the intervals do not hold"),
                "{whole}"
            );
        }
    }
}
