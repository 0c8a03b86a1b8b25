//! Whether a scene explains its video once it is fitted, and what of the scene may be wrong.
//!
//! Each [`Suspect`] is a scene that says one thing otherwise; what it shows beside what the scene shows is a direction in pictures. The step of Gauss and Newton along it and
//! all that was searched for, beside that along the latter alone, says how much of what is left it explains, and how wrong the scene would be (a score test, Rao 1948).

use super::anew::{searched_anew, searched_near};
use super::levels::JUDGED;
use super::misfit::{Misfit, Target};
use super::problem::VideoProblem;
use super::suspects::{ALIKE, Suspect};
use crate::job::Simulator;
use crate::program::{Coverage, Linear, Outcome, Seen, Shot, shots, simulable};
use crate::scene::Scene;
use crate::search::{Priors, Problem as _, Tick};
use diffkern::Float;
use diffkern_optim::dense::NormalEquations;

/// Outlines that are off by less are not asked about, and what explains less is no cause: part of the size of what is seen, root of the mean square.
const ASKED: f64 = 0.01;
/// Outlines that are off by more are of something else.
const UNEXPLAINED: f64 = 0.03;
/// Frames after one in which outlines are off by more are not in proportion to their cause \[pixels\].
const FAR: f64 = 3.0;
/// How many times what two grids say of their error it may be, in 95 of 100 cases (Roache 1994).
pub(super) const TWO_GRIDS: f64 = 3.0;
/// Less than this part of what is left is no explanation.
const EXPLAINS: f64 = 0.2;

/// How well an answer explains the videos.
#[derive(Debug, Clone, Default)]
pub(super) struct Adequacy {
    /// By how much outlines are off, root of the mean square \[pixels\]; none where no silhouette is compared.
    pub(super) off: Option<f64>,
    /// What a person should know.
    pub(super) said: Option<String>,
    /// What the scene may say wrongly where frames after those that were fitted show something else.
    pub(super) causes: Vec<String>,
}

/// Looks at what the answer at `at` shows, with its derivatives, and at what the next wider grid shows there. What frames show after those that were fitted may differ from the video.
pub(super) fn judge<F: Float>(
    problem: &VideoProblem<'_, F>,
    at: &[f64],
    (linear, wider): (Linear, Option<Coverage>),
    differs_later: bool,
    tick: &mut Tick<'_>,
) -> Outcome<Adequacy> {
    let misfit = Misfit::new(problem.scene, problem.videos, &problem.weights, &[JUDGED])?;
    let mut compared = Compared { problem, at, misfit: &misfit, linear: &linear, silhouettes: Vec::new() };
    let all = compared.all()?;
    let [cost, pixel] = sums(&all);
    if pixel == 0.0 {
        return Ok(Adequacy::default());
    }
    let size = (all.iter().map(|silhouette| silhouette.area).sum::<f64>() / all.len() as f64).sqrt();
    let off = (cost / pixel).sqrt();
    let mut adequacy = Adequacy { off: Some(off), ..Adequacy::default() };
    // What impacts take from energy by the material point method no grid of it shows.
    let keeps_energy = problem.fine.program.simulator() != Simulator::Mpm;
    let left = match &wider {
        Some(wider) => {
            let order = if keeps_energy { 2.0 } else { 1.0 };
            TWO_GRIDS * (compared.apart(&all, wider)? / pixel).sqrt() / (problem.ratio().powf(order) - 1.0)
        }
        None if problem.scene.is_rigid() => 0.0,
        // What the grid makes of it is not known.
        None => return Ok(adequacy),
    };
    let later = |tick: &mut Tick<'_>| if differs_later { searched_anew(problem, at, tick) } else { Ok(Vec::new()) };
    if off < ASKED * size {
        adequacy.causes = later(tick)?;
        return Ok(adequacy);
    }
    let explained = off <= left.max(UNEXPLAINED * size);
    // Of what is far off a step along what is near explains some, too.
    let mut causes = if explained { Vec::new() } else { searched_anew(problem, at, tick)? };
    if causes.is_empty() && off >= left {
        compared.silhouettes = near(&all);
        causes = named(&compared, left.max(ASKED * size), wider.filter(|_| problem.refines()), tick)?;
    }
    if explained && causes.is_empty() && keeps_energy {
        causes = searched_near(problem, at, &linear.coverage, tick)?;
    }
    if explained && causes.is_empty() {
        adequacy.causes = later(tick)?;
        return Ok(adequacy);
    }
    let head = if explained { "the scene may be wrong" } else { "this scene does not explain this video" };
    let cause = match causes.is_empty() {
        true => "nothing that was tried explains it".to_owned(),
        false => format!("it may be {}", causes.join(", or ")),
    };
    adequacy.said = Some(format!(
        "{head}: outlines are off by {off:.2} pixels, of which the grid may make {left:.2}, most of all in {}, which the intervals do not count; {cause}",
        worst(problem.scene, &all)
    ));
    Ok(adequacy)
}

/// What explains most of what is left where outlines are near, and what explains nearly as much, in words; of what explains an error of `least` pixels at least.
fn named<F: Float>(
    compared: &Compared<'_, F>,
    least: f64,
    searched: Option<Coverage>,
    tick: &mut Tick<'_>,
) -> Outcome<Vec<String>> {
    let problem = compared.problem;
    let suspects = Suspect::all(problem.scene, problem.fine.program.simulator());
    if suspects.is_empty() {
        return Ok(Vec::new());
    }
    let searched = match searched {
        Some(searched) => Some(searched),
        None => simulable(problem.searched(compared.at, tick))?,
    };
    let Some(searched) = searched else { return Ok(Vec::new()) };
    let [cost, pixel] = sums(&compared.silhouettes);
    let least = (EXPLAINS * cost).max(least * least * pixel);
    let mut found = Vec::new();
    let (values, count) = (problem.parametrisation().values(compared.at), suspects.len() as f64);
    for (done, suspect) in suspects.into_iter().enumerate() {
        let other = suspect.otherwise(problem.scene, &values);
        // What cannot be simulated otherwise is not the cause.
        let pictures = simulable(problem.otherwise(&other, &mut |part| tick((done as f64 + part) / count)))?;
        let Some(pictures) = pictures else { continue };
        let step = compared.along(&difference(&pictures, &searched))?;
        let step = step.filter(|(explained, by)| *explained > least && other.suspect.may_be(problem.scene, *by));
        found.extend(step.map(|step| (step, other.suspect)));
    }
    found.sort_by(|((a, _), _), ((b, _), _)| b.total_cmp(a));
    let best = found.first().map_or(0.0, |((explained, _), _)| *explained);
    let alike = found.iter().filter(|((explained, _), _)| *explained > ALIKE * best);
    Ok(alike.map(|((_, by), suspect)| suspect.words(problem.scene, *by)).collect())
}

/// Silhouettes that are off in proportion to their cause: of each film up to the first that is off by too much, which is the first of all if none is near.
fn near(all: &[Silhouette]) -> Vec<Silhouette> {
    let mut near: Vec<Silhouette> = Vec::new();
    for silhouette in all {
        let far = |other: &Silhouette| other.seen == silhouette.seen && other.cost > FAR * FAR * other.pixel;
        if !near.iter().any(far) {
            near.push(*silhouette);
        }
    }
    near
}

/// What silhouettes are off by in all, and what a shift of all by a pixel would cost.
fn sums(all: &[Silhouette]) -> [f64; 2] {
    all.iter().fold([0.0; 2], |[cost, pixel], silhouette| [cost + silhouette.cost, pixel + silhouette.pixel])
}

/// The frame that is most off, in words.
fn worst(scene: &Scene, all: &[Silhouette]) -> String {
    let off = |silhouette: &&Silhouette| silhouette.cost / silhouette.pixel.max(f64::MIN_POSITIVE);
    let worst = all.iter().max_by(|a, b| off(a).total_cmp(&off(b)));
    let film = |shot: &Silhouette| match shot.seen {
        Seen::Silhouette(film) if scene.films.len() > 1 => format!(" of {}", scene.films[film].name),
        _ => String::new(),
    };
    worst.map_or_else(String::new, |worst| format!("frame {}{}", worst.frame, film(worst)))
}

/// How far the outlines of a silhouette are off.
#[derive(Debug, Clone, Copy)]
struct Silhouette {
    /// In the order of [`shots`].
    place: usize,
    seen: Seen,
    frame: usize,
    /// Sum of squared differences.
    cost: f64,
    /// The same of a shift of what is shown by a pixel.
    pixel: f64,
    /// Of what is shown \[pixels\].
    area: f64,
}

/// An answer beside what was observed.
struct Compared<'a, F: Float> {
    problem: &'a VideoProblem<'a, F>,
    at: &'a [f64],
    misfit: &'a Misfit,
    linear: &'a Linear,
    /// Those that are asked.
    silhouettes: Vec<Silhouette>,
}

impl<F: Float> Compared<'_, F> {
    /// All silhouettes.
    fn all(&self) -> Outcome<Vec<Silhouette>> {
        let shots = shots(self.problem.scene, self.problem.frames);
        let of = |(place, target): (usize, &Target)| {
            let (Shot { seen, frame }, image) = (shots[place], &self.linear.coverage[place]);
            let cost = target.residual(image)?.iter().map(|r| r * r).sum();
            Ok(Silhouette { place, seen, frame, cost, pixel: target.shifted(image)?, area: image.iter().sum() })
        };
        let level = self.misfit.level(0).targets();
        level.filter(|(place, _)| matches!(shots[*place].seen, Seen::Silhouette(_))).map(of).collect()
    }

    /// Sum of squared differences between what the answer's grid shows and what another one does, beside what the coordinates of the search make of it.
    fn apart(&self, all: &[Silhouette], other: &Coverage) -> Outcome<f64> {
        let apart = difference(other, &self.linear.coverage);
        let normal = self.normal(all, None, |place, target| target.of(&apart[place]))?;
        let fall = normal.minimum().map_or(Ok(0.0), |step| normal.fall(&step))?;
        Ok((normal.cost - fall).max(0.0))
    }

    /// The normal equations of some silhouettes for a residual of each, in the coordinates of the search and along another direction.
    fn normal(
        &self,
        of: &[Silhouette],
        direction: Option<&Coverage>,
        residual: impl Fn(usize, &Target) -> diffkern::Result<Vec<f64>>,
    ) -> Outcome<NormalEquations> {
        let mut normal = NormalEquations::new(self.linear.derivatives.len() + usize::from(direction.is_some()));
        for (place, target) in self.misfit.level(0).targets() {
            if of.iter().any(|silhouette| silhouette.place == place) {
                let directions = self.linear.derivatives.iter().chain(direction);
                let along = directions.map(|d| target.of(&d[place])).collect::<diffkern::Result<Vec<_>>>()?;
                normal.add(&residual(place, target)?, &along)?;
            }
        }
        Ok(normal)
    }

    /// How much of what is left a direction of all pictures explains beside the coordinates of the search, and by which step along it.
    fn along(&self, direction: &Coverage) -> Outcome<Option<(f64, f64)>> {
        let n = self.linear.derivatives.len();
        let left = |place: usize, target: &Target| target.residual(&self.linear.coverage[place]);
        let all = self.normal(&self.silhouettes, Some(direction), left)?;
        let parametrisation = self.problem.parametrisation();
        let bounds = parametrisation.bounds(true);
        // Frames before anything touches fix no material: a range counts as what is known beforehand, with its standard deviation.
        let variance = all.mean_square();
        let mut all = Priors::known(parametrisation, &all.first(n)?).added(&all, self.at)?;
        for (k, (low, high)) in bounds.low.iter().zip(&bounds.high).enumerate() {
            let mut slope = vec![0.0; n + 1];
            slope[k] = f64::sqrt(12.0) / (high - low).max(f64::MIN_POSITIVE);
            all.add_prior(0.0, &slope, variance)?;
        }
        let searched = all.first(n)?;
        let (Some(without), Some(with)) = (searched.minimum(), all.minimum()) else { return Ok(None) };
        let explained = all.fall(&with)? - searched.fall(&without)?;
        Ok(with.last().map(|by| (explained, *by)))
    }
}

/// What pictures show beside others.
fn difference(these: &Coverage, those: &Coverage) -> Coverage {
    let of = |(these, those): (&Vec<f64>, &Vec<f64>)| these.iter().zip(those).map(|(a, b)| a - b).collect();
    these.iter().zip(those).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_after_one_that_is_far_off_are_not_asked() {
        let of = |place: usize, film: usize, off: f64| {
            let seen = Seen::Silhouette(film);
            Silhouette { place, seen, frame: place / 2, cost: 4.0 * off * off, pixel: 4.0, area: 9.0 }
        };
        // The first film is far off in its third frame, the second in none; nothing of the first is in its last picture.
        let mut all = [(0, 0.1), (1, 0.2), (0, 2.9), (1, 0.1), (0, 3.1), (1, 2.0), (0, 0.3), (1, 0.4), (0, 0.0)]
            .into_iter()
            .enumerate()
            .map(|(place, (film, off))| of(place, film, off))
            .collect::<Vec<_>>();
        (all[8].cost, all[8].pixel) = (1.0, 0.0);
        let places: Vec<usize> = near(&all).iter().map(|silhouette| silhouette.place).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 7]);
    }
}
