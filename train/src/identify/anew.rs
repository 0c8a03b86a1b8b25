//! What a scene may say otherwise where no small step leads to it: with a wrong contact or frame rate a search may end far from where it would with the right one. So each is tried on the
//! coarse grid, wherever the best coordinates lie.

use super::misfit::Misfit;
use super::problem::VideoProblem;
use super::suspects::{ALIKE, Suspect};
use crate::program::{Outcome, simulable};
use crate::search::{Problem as _, SCANNED, Tick};
use diffkern::Float;
use diffkern_optim::dense::Bounds;

/// Part of the cost of the scene on the coarse grid below which another one is nearer to the video by far.
const NEARER: f64 = 0.5;
/// Points up to so many times the least cost of the scene are candidates about which less is looked for.
const CANDIDATE: f64 = 4.0;
/// Steps of a compass search about the best of points that were looked at, as parts of ranges.
const CLOSER: [f64; 3] = [1.0 / 16.0, 1.0 / 32.0, 1.0 / 64.0];

/// What the scene may say otherwise so that the coarse grid shows what is nearer to the videos by far, in words.
pub(super) fn searched_anew<F: Float>(
    problem: &VideoProblem<'_, F>,
    at: &[f64],
    tick: &mut Tick<'_>,
) -> Outcome<Vec<String>> {
    let suspects = Suspect::far(problem.scene, problem.fine.program.simulator());
    if suspects.is_empty() {
        return Ok(Vec::new());
    }
    let mut points = vec![at.to_vec()];
    points.extend(problem.parametrisation().spread(at, SCANNED));
    let tried = problem.tried()?;
    let (mut done, count) = (0.0, 1.0 + suspects.len() as f64);
    let mut least = |suspect: &Suspect, most: f64| {
        let least = least((problem, &tried), suspect, &points, most, &mut |part| tick((done + part) / count));
        done += 1.0;
        least
    };
    // The scene as it is.
    let Some(own) = least(&Suspect::FrameRate(1.0), f64::INFINITY)? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for suspect in suspects {
        let nearer = least(&suspect, CANDIDATE * own)?.filter(|least| *least < NEARER * own);
        found.extend(nearer.map(|least| (least, suspect)));
    }
    Ok(alike(found).map(|suspect| suspect.words(problem.scene, 1.0)).collect())
}

/// The least cost below `most` that a suspect has at `points` and about the best of them; nothing where there is none, or none can be simulated.
fn least<F: Float>(
    (problem, tried): (&VideoProblem<'_, F>, &Misfit),
    suspect: &Suspect,
    points: &[Vec<f64>],
    most: f64,
    tick: &mut Tick<'_>,
) -> Outcome<Option<f64>> {
    let parametrisation = problem.parametrisation();
    let other = |at: &[f64]| suspect.clone().otherwise(problem.scene, &parametrisation.values(at));
    let Some(first) = points.first() else { return Ok(None) };
    let program = problem.coarse_of(&other(first))?;
    let (mut done, whole) = (0.0, (points.len() + 2 * CLOSER.len() * first.len()) as f64);
    compass(points, &parametrisation.bounds(true), most, |at, most| {
        let tick = &mut |part| tick((done + part) / whole);
        let values = other(at).values;
        let cost = simulable(problem.coarse_cost((&program, tried), &values, most, tick))?;
        done += 1.0;
        Ok(cost)
    })
}

/// The least value below `most` that `cost` has at `points` and, within bounds, about the best of them. It is told what is of interest: below that alone it has to be right.
fn compass(
    points: &[Vec<f64>],
    bounds: &Bounds,
    most: f64,
    mut cost: impl FnMut(&[f64], f64) -> Outcome<Option<f64>>,
) -> Outcome<Option<f64>> {
    let (mut least, mut best) = (most, None);
    let mut look = |at: &[f64], least: &mut f64| -> Outcome<bool> {
        let less = cost(at, *least)?.filter(|cost| cost < least);
        *least = less.unwrap_or(*least);
        Ok(less.is_some())
    };
    for point in points {
        if look(point, &mut least)? {
            best = Some(point.clone());
        }
    }
    let Some(mut best) = best else { return Ok(None) };
    for share in CLOSER {
        for (k, (low, high)) in bounds.low.iter().zip(&bounds.high).enumerate() {
            for by in [-share, share] {
                let mut there = best.clone();
                there[k] = (there[k] + by * (high - low)).clamp(*low, *high);
                if look(&there, &mut least)? {
                    best = there;
                }
            }
        }
    }
    Ok(Some(least))
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
    fn what_is_less_is_looked_for_about_the_best_point() {
        let bounds = Bounds { low: vec![0.0, 0.0], high: vec![1.0, 16.0], trust: vec![1.0; 2] };
        let points = [vec![0.25, 8.0], vec![0.25, 10.0], vec![0.9, 10.5], vec![0.25, 15.0]];
        let found = |points: &[Vec<f64>], most: f64| {
            let (mut runs, mut within) = (0, true);
            let least = compass(points, &bounds, most, |at, _| {
                runs += 1;
                within &= at
                    .iter()
                    .zip(bounds.low.iter().zip(&bounds.high))
                    .all(|(x, (low, high))| (low..=high).contains(&x));
                Ok(valley(at))
            });
            assert!(within);
            (least.unwrap(), runs)
        };
        // The second point, then 1/16 along each coordinate, from where the parts of steps change little.
        let (least, runs) = found(&points, f64::INFINITY);
        assert!(least.is_some_and(|least| (0.01..0.0103).contains(&least)), "{least:?}");
        assert_eq!(runs, 4 + 12);
        assert_eq!(found(&points, 0.009), (None, 4));
        assert_eq!(found(&points[3..], f64::INFINITY), (None, 1));
        let edge = [vec![0.0, 11.0]];
        assert!(found(&edge, f64::INFINITY).0.is_some_and(|least| least < 0.05));
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
