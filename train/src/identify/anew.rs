//! What a scene may say otherwise where no small step leads to it: with a wrong contact or frame rate a search may end far from where it would with the right one. So each is tried on the
//! coarse grid, wherever the best coordinates lie; about an answer that is near the videos, which the coarse grid knows less well than that, beside what grids lack there (output space mapping,
//! Bandler et al. 2004).

use super::first_look::FirstLook;
use super::levels::{COARSE, JUDGED};
use super::misfit::Misfit;
use super::problem::VideoProblem;
use super::suspects::{ALIKE, Alternative, Suspect};
use crate::program::{Coverage, Outcome, Program, simulable};
use crate::search::{Problem as _, SCANNED, Stage, Tick};
use diffkern::Float;
use diffkern_optim::dense::Bounds;

/// Part of the cost of the scene on the coarse grid below which another one is nearer to the video by far.
const NEARER: f64 = 0.5;
/// Points up to so many times the least cost of the scene are candidates about which less is looked for.
const CANDIDATE: f64 = 4.0;
/// Steps of a compass search about the best of points that were looked at, as parts of ranges.
const CLOSER: [f64; 3] = [1.0 / 16.0, 1.0 / 32.0, 1.0 / 64.0];
/// The same about an answer that is near, as parts of those.
const NEAR: f64 = 0.5;
/// Part of the cost of such an answer below which another scene is nearer by far: what any scene leaves, noise and what a grid makes of outlines, is more of it.
const NEARER_BESIDE: f64 = 0.6;
/// So many times what is tried first are amounts tried, before a compass search and after it.
const AMOUNTS: [[f64; 4]; 2] = [[0.5, 0.7, 1.4, 2.0], [0.8, 0.9, 1.1, 1.25]];

/// What the scene may say otherwise so that the coarse grid shows what is nearer to the videos by far, in words.
pub(super) fn searched_anew<F: Float>(
    problem: &VideoProblem<'_, F>,
    at: &[f64],
    tick: &mut Tick<'_>,
) -> Outcome<Vec<String>> {
    let suspects = suspects(problem);
    if suspects.is_empty() {
        return Ok(Vec::new());
    }
    let (tried, closer) = (problem.tried(COARSE[0])?, CLOSER);
    let points = [vec![at.to_vec()], problem.parametrisation().spread(at, SCANNED)].concat();
    let search = Search { problem, stage: Stage::Coarse, tried, points, closer };
    // The scene as it is.
    let own = search.least(&Suspect::FrameRate(1.0), f64::INFINITY, tick)?;
    let Some(Found { cost: own, .. }) = own else { return Ok(Vec::new()) };
    let mut found = search.all(&suspects, CANDIDATE * own, tick)?;
    found.retain(|found| found.cost < NEARER * own);
    Ok(alike(found.into_iter().map(|found| (found.cost, found.suspect)).collect())
        .map(|suspect| suspect.words(problem.scene, 1.0))
        .collect())
}

/// The same of an answer that is near already, with what it shows: what is nearest about it on the coarse grid, if the grid of the search shows that it is nearer by far. What these lack
/// where the answer is they are taken to lack near it.
pub(super) fn searched_near<F: Float>(
    problem: &VideoProblem<'_, F>,
    at: &[f64],
    shown: &Coverage,
    tick: &mut Tick<'_>,
) -> Outcome<Vec<String>> {
    let suspects = suspects(problem);
    if suspects.is_empty() {
        return Ok(Vec::new());
    }
    let tried = || problem.tried(JUDGED);
    let own = tried()?.cost(0, shown)?;
    let mut points = vec![at.to_vec()];
    let search = |stage: Stage, points: &[Vec<f64>], tick: &mut Tick<'_>| {
        let Some(lacking) = simulable(problem.pictures(stage, at, problem.frames, tick))? else { return Ok(None) };
        let (tried, closer) = (tried()?.lacking(shown, &lacking)?, CLOSER.map(|share| NEAR * share));
        Outcome::Ok(Some(Search { problem, stage, tried, points: points.to_vec(), closer }))
    };
    let Some(coarse) = search(Stage::Coarse, &points, tick)? else { return Ok(Vec::new()) };
    // What is not nearer on the coarse grid is not by far on the other.
    let nearest = coarse.nearest(&suspects, CANDIDATE * own, tick)?.filter(|found| found.cost < own);
    let Some(Found { suspect, at: near, .. }) = nearest else { return Ok(Vec::new()) };
    points.push(near);
    let Some(finer) = search(Stage::Fine, &points, tick)? else { return Ok(Vec::new()) };
    let nearer = finer.least(&suspect, CANDIDATE * own, tick)?.filter(|found| found.cost < NEARER_BESIDE * own);
    Ok(nearer.map(|found| found.suspect.words(problem.scene, 1.0)).into_iter().collect())
}

fn suspects<F: Float>(problem: &VideoProblem<'_, F>) -> Vec<Suspect> {
    Suspect::far(problem.scene, problem.fine.program.simulator())
}

/// What a suspect costs where it costs least.
struct Found {
    cost: f64,
    /// By the best amount.
    suspect: Suspect,
    at: Vec<f64>,
}

/// Where what is nearer is looked for.
struct Search<'a, F: Float> {
    problem: &'a VideoProblem<'a, F>,
    /// Whose grid is asked.
    stage: Stage,
    /// What its pictures are compared with.
    tried: Misfit,
    points: Vec<Vec<f64>>,
    /// Steps of a compass search about the best of them.
    closer: [f64; 3],
}

impl<'a, F: Float> Search<'a, F> {
    /// What the scene may say otherwise at a cost below `most`.
    fn all(&self, suspects: &[Suspect], most: f64, tick: &mut Tick<'_>) -> Outcome<Vec<Found>> {
        let (count, mut found) = (suspects.len() as f64, Vec::new());
        for (done, suspect) in suspects.iter().enumerate() {
            let tick = &mut |part| tick((done as f64 + part) / count);
            found.extend(self.least(suspect, most, tick)?);
        }
        Ok(found)
    }

    /// The least cost below `most` that a suspect has; nothing where there is none, or none can be simulated.
    fn least(&self, suspect: &Suspect, most: f64, tick: &mut Tick<'_>) -> Outcome<Option<Found>> {
        let mut runs =
            Progress { tick, done: 0.0, whole: self.beginning(suspect) + self.closer.len() as f64 * self.round() };
        let Some(mut trial) = self.begin(suspect, most, &mut runs)? else { return Ok(None) };
        for share in self.closer {
            trial.closer(share, &mut runs)?;
        }
        trial.amounts(AMOUNTS[1], &mut runs)?;
        Ok(Some(trial.found))
    }

    /// What costs least of what the scene may say otherwise, below `most`. Before each finer step the half that costs more is dropped.
    fn nearest(&self, suspects: &[Suspect], most: f64, tick: &mut Tick<'_>) -> Outcome<Option<Found>> {
        let beginning = suspects.iter().map(|suspect| self.beginning(suspect)).sum::<f64>();
        let mut runs = Progress { tick, done: 0.0, whole: beginning + suspects.len() as f64 * self.round() };
        let mut trials = Vec::new();
        for suspect in suspects {
            trials.extend(self.begin(suspect, most, &mut runs)?);
        }
        for share in self.closer {
            trials = best_half(trials, |trial| trial.found.cost);
            trials.iter_mut().try_for_each(|trial| trial.closer(share, &mut runs))?;
        }
        let Some(mut best) = trials.into_iter().min_by(|a, b| a.found.cost.total_cmp(&b.found.cost)) else {
            return Ok(None);
        };
        best.amounts(AMOUNTS[1], &mut runs)?;
        Ok(Some(best.found))
    }

    /// A suspect at the best of the points, by the best of the first amounts, where that costs less than `most`.
    fn begin(&self, suspect: &Suspect, most: f64, runs: &mut Progress<'_, '_>) -> Outcome<Option<Trial<'_, 'a, F>>> {
        let Some(first) = self.points.first() else { return Ok(None) };
        let program = self.problem.program_of(&self.other(suspect, first), self.stage)?;
        let found = Found { cost: most, suspect: suspect.clone(), at: first.clone() };
        let (mut trial, mut any) = (Trial { search: self, program, found }, false);
        for at in &self.points {
            if let Some(cost) = trial.cost(suspect, at, trial.found.cost, runs)? {
                (trial.found.cost, trial.found.at, any) = (cost, at.clone(), true);
            }
        }
        if !any {
            return Ok(None);
        }
        trial.amounts(AMOUNTS[0], runs)?;
        Ok(Some(trial))
    }

    /// The scene as a suspect has it.
    fn other(&self, suspect: &Suspect, at: &[f64]) -> Alternative {
        suspect.clone().otherwise(self.problem.scene, &self.problem.parametrisation().values(at))
    }

    /// Most runs of a suspect at points and by amounts.
    fn beginning(&self, suspect: &Suspect) -> f64 {
        let amounts = AMOUNTS.iter().flatten().filter(|many| suspect.times(**many).is_some()).count();
        (self.points.len() + amounts) as f64
    }

    /// Runs of a round of a compass search.
    fn round(&self) -> f64 {
        2.0 * self.points.first().map_or(0, Vec::len) as f64
    }
}

/// A suspect that is looked for, with the best of it until now.
struct Trial<'s, 'a, F: Float> {
    search: &'s Search<'a, F>,
    program: Program<f32>,
    found: Found,
}

impl<F: Float> Trial<'_, '_, F> {
    /// What a suspect costs at a point, if less than `most` and if it can be simulated.
    fn cost(&self, suspect: &Suspect, at: &[f64], most: f64, runs: &mut Progress<'_, '_>) -> Outcome<Option<f64>> {
        let Search { problem, tried, .. } = self.search;
        let values = self.search.other(suspect, at).values;
        let look = FirstLook::new(tried.level(0), false);
        let cost = runs.next(|tick| problem.first_cost(&self.program, look, &values, most, tick));
        simulable(cost).map(|cost| cost.filter(|cost| *cost < most))
    }

    /// So many times its amount, where that costs less.
    fn amounts(&mut self, many: [f64; 4], runs: &mut Progress<'_, '_>) -> Outcome<()> {
        let Found { cost, suspect, at } = &self.found;
        let found = amount((*cost, suspect), many, |by, most| self.cost(by, at, most, runs))?;
        (self.found.cost, self.found.suspect) = found;
        Ok(())
    }

    /// So far to each side along each coordinate, where that costs less.
    fn closer(&mut self, share: f64, runs: &mut Progress<'_, '_>) -> Outcome<()> {
        let bounds = self.search.problem.parametrisation().bounds(true);
        let Found { cost, suspect, at } = &self.found;
        let found = compass((*cost, at), share, &bounds, |at, most| self.cost(suspect, at, most, runs))?;
        (self.found.cost, self.found.at) = found;
        Ok(())
    }
}

/// How many runs of the simulator are made, of which `whole` are thought to be.
struct Progress<'r, 't> {
    tick: &'r mut Tick<'t>,
    done: f64,
    whole: f64,
}

impl Progress<'_, '_> {
    fn next<T>(&mut self, run: impl FnOnce(&mut Tick<'_>) -> T) -> T {
        let result = run(&mut |part| (self.tick)((self.done + part) / self.whole));
        self.done += 1.0;
        result
    }
}

/// The half that costs least, and what stands in the middle.
fn best_half<T>(mut all: Vec<T>, cost: impl Fn(&T) -> f64) -> Vec<T> {
    all.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    all.truncate(all.len().div_ceil(2));
    all
}

/// The least value that `cost` has of a suspect, with its value, and of so many times its amount, where it gives one below what it is told.
fn amount(
    (mut least, suspect): (f64, &Suspect),
    many: [f64; 4],
    mut cost: impl FnMut(&Suspect, f64) -> Outcome<Option<f64>>,
) -> Outcome<(f64, Suspect)> {
    let mut best = suspect.clone();
    for by in many.iter().filter_map(|many| suspect.times(*many)) {
        if let Some(less) = cost(&by, least)? {
            (least, best) = (less, by);
        }
    }
    Ok((least, best))
}

/// The least value that `cost` has, within bounds, about a point with its value, so much of a range to each side along each coordinate, where it gives one below what it is told.
fn compass(
    (mut least, start): (f64, &[f64]),
    share: f64,
    bounds: &Bounds,
    mut cost: impl FnMut(&[f64], f64) -> Outcome<Option<f64>>,
) -> Outcome<(f64, Vec<f64>)> {
    let mut best = start.to_vec();
    for (k, (low, high)) in bounds.low.iter().zip(&bounds.high).enumerate() {
        for by in [-share, share] {
            let mut there = best.clone();
            there[k] = (there[k] + by * (high - low)).clamp(*low, *high);
            if let Some(less) = cost(&there, least)? {
                (least, best) = (less, there);
            }
        }
    }
    Ok((least, best))
}

/// What costs least, and what cannot be told from it; of frame rates one.
fn alike(mut found: Vec<(f64, Suspect)>) -> impl Iterator<Item = Suspect> {
    found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let best = found.first().map_or(0.0, |(least, _)| *least);
    let mut rates = 0;
    found.into_iter().filter(move |(least, _)| *least < best / ALIKE).filter_map(move |(_, suspect)| {
        rates += usize::from(matches!(suspect, Suspect::FrameRate(_)));
        (rates < 2 || !matches!(suspect, Suspect::FrameRate(_))).then_some(suspect)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A valley whose bottom lies between the points, beyond a wall that is no scene.
    fn valley(at: &[f64]) -> Option<f64> {
        let [x, y] = [at[0] - 0.3, at[1] - 11.0];
        (at[1] < 12.0).then_some(0.01 + x * x + 1e-2 * y * y)
    }

    #[test]
    fn what_is_less_is_looked_for_about_a_point() {
        let bounds = Bounds { low: vec![0.0, 0.0], high: vec![1.0, 16.0], trust: vec![1.0; 2] };
        let found = |start: [f64; 2]| {
            let (mut runs, mut within) = (0, true);
            let value = valley(&start).unwrap_or(f64::INFINITY);
            let mut cost = |at: &[f64], most: f64| {
                runs += 1;
                within &= at
                    .iter()
                    .zip(bounds.low.iter().zip(&bounds.high))
                    .all(|(x, (low, high))| (low..=high).contains(&x));
                Ok(valley(at).filter(|cost| *cost < most))
            };
            let (least, _) = CLOSER.iter().fold((value, start.to_vec()), |(least, at), share| {
                compass((least, &at), *share, &bounds, &mut cost).unwrap()
            });
            assert!(within);
            (least, runs)
        };
        // 1/16 along each coordinate, from where the parts of steps change little.
        let (least, runs) = found([0.25, 10.0]);
        assert!((0.01..0.0103).contains(&least), "{least:?}");
        assert_eq!(runs, 12);
        assert!(found([0.0, 11.0]).0 < 0.05);
        // Beyond the wall there is nothing.
        assert_eq!(found([0.25, 15.0]).0, f64::INFINITY);
    }

    /// The cost of halves that differ by `by` where they should by 1.2.
    #[test]
    fn the_amount_that_costs_least_is_kept() {
        let cost = |by: &Suspect| match by {
            Suspect::Homogeneity(0, 2, by) => (by / 1.2).ln().powi(2),
            other => panic!("{other:?}"),
        };
        let found = |by: f64| {
            let suspect = Suspect::Homogeneity(0, 2, by);
            amount((cost(&suspect), &suspect), AMOUNTS[0], |by, most| Ok(Some(cost(by)).filter(|cost| *cost < most)))
        };
        let (least, by) = found(1.35).unwrap();
        assert_eq!(by, Suspect::Homogeneity(0, 2, 1.35f64.powf(0.7)));
        assert_eq!(least, cost(&by));
        // None is nearer than what it begins with.
        assert_eq!(found(1.2).unwrap().1, Suspect::Homogeneity(0, 2, 1.2));
        let rate = Suspect::FrameRate(1.1);
        assert_eq!(amount((3.0, &rate), AMOUNTS[0], |_, _| panic!("it has no amount")).unwrap(), (3.0, rate));
    }

    #[test]
    fn half_of_what_is_looked_for_is_left() {
        let half = |all: &[f64]| best_half(all.to_vec(), |cost| *cost);
        assert_eq!(half(&[3.0, 1.0, f64::NAN, 2.0, 5.0]), [1.0, 2.0, 3.0]);
        assert_eq!(half(&[2.0, 1.0]), [1.0]);
        assert_eq!(half(&[2.0]), [2.0]);
        assert!(half(&[]).is_empty());
    }

    #[test]
    fn what_costs_least_is_named_with_what_cannot_be_told_from_it() {
        let found = vec![
            (1.2, Suspect::FrameRate(1.1)),
            (1.05, Suspect::FrameRate(1.05)),
            (1.1, Suspect::Damping(0)),
            (1.3, Suspect::Damping(1)),
            (1.0, Suspect::Damping(2)),
        ];
        let named: Vec<String> = alike(found).map(|suspect| format!("{suspect:?}")).collect();
        assert_eq!(named, ["Damping(2)", "FrameRate(1.05)", "Damping(0)"]);
        assert_eq!(alike(Vec::new()).count(), 0);
    }
}
