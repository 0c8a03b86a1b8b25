//! The answer on a finer grid than that of its search.
//!
//! A step of Gauss and Newton needs what is seen to all its digits, but derivatives only to the few that say how fast it converges. So what is seen is of
//! the refined grid, how it moves is of the grid of the search, which costs half as much, and serves for all places near. A step that does not lower the
//! misfit on the refined grid is not taken.

use super::problem::{Motions, VideoProblem};
use crate::job::{Flow, IdentifyOptions, Record};
use crate::program::{Failure, Outcome, simulable};
use crate::search::{Evaluation, Priors, Problem as _, REFINED, Reporter, Search, State};
use diffkern::Float;
use diffkern_optim::dense::LevenbergMarquardt;

/// Most evaluations, and refused steps in a row at a level.
const EVALUATIONS: usize = 16;
const REFUSALS: usize = 2;
/// A level ends when a step is shorter than this in all coordinates, or lowers the misfit by less than this part.
const SHORT: f64 = 1e-4;
const GAIN: f64 = 0.02;
/// Levels of the misfit that it goes through.
const FIRST_LEVEL: usize = 1;
/// Coordinates about a place in which its motions serve.
const NEAR: f64 = 0.05;
/// Part of an evaluation that its motions take.
const MOVING: f64 = 0.5;
/// Most by which steps are stretched. Fast vibrations that a step does not explain make those of Gauss and Newton too short, by about as much each
/// time.
const LONGEST: f64 = 4.0;

/// Moves a finished search to the best place on the refined grid, if there is one, and gives the place before. What was found stays where the
/// place cannot be simulated on it.
///
/// # Errors
/// When it is stopped, or something fails for good.
pub(super) fn refine<F: Float>(
    problem: &VideoProblem<'_, F>,
    search: &Search<'_>,
    state: &mut State,
    options: &IdentifyOptions,
    reporter: &mut Reporter<'_>,
) -> Outcome<Option<Vec<f64>>> {
    if !problem.refines() {
        return Ok(None);
    }
    let parametrisation = problem.parametrisation();
    let mut refinement = Refinement { problem, search, reporter, motions: None, evaluations: 0 };
    let Some(begin) = refinement.evaluate(&state.at)? else {
        state.warnings.push("what was found cannot be simulated on a finer grid: it depends on the grid".into());
        return Ok(None);
    };
    let coarser = state.at.clone();
    let initial = parametrisation.at(&search.initial(options));
    state.loss_initial = refinement.loss(&initial)?;
    refinement.go_to(state, state.at.clone(), begin)?;
    for level in FIRST_LEVEL..state.normals.len() {
        let (mut rule, mut stretch) = (LevenbergMarquardt::default(), 1.0);
        while refinement.evaluations < EVALUATIONS && rule.refused < REFUSALS {
            let priors = Priors::known(parametrisation, &state.normals[level]);
            let here = priors.added(&state.normals[level], &state.at)?;
            let Some(step) = rule.propose(&here, &parametrisation.bounds(true), &state.at)? else { break };
            if step.change.iter().all(|change| (stretch * change).abs() < SHORT) {
                break;
            }
            let moved: Vec<f64> = state.at.iter().zip(&step.change).map(|(x, change)| x + stretch * change).collect();
            let trial = parametrisation.inside(&moved);
            let Some(there) = refinement.evaluate(&trial)? else {
                (stretch, _) = (1.0, rule.refuse());
                continue;
            };
            let before = state.normals[level].cost + priors.cost(&state.at);
            let after = there.normals[level].cost + priors.cost(&trial);
            let slope =
                2.0 * here.gradient.iter().zip(&trial).zip(&state.at).map(|((g, x), from)| g * (x - from)).sum::<f64>();
            // Not `after >= before`: NaN is refused too.
            if after.partial_cmp(&before) != Some(std::cmp::Ordering::Less) {
                (stretch, _) = (1.0, rule.refuse());
                continue;
            }
            rule.accept();
            stretch = (stretch * farther(before, slope, after)).clamp(1.0, LONGEST);
            refinement.go_to(state, trial, there)?;
            if before - after < GAIN * before {
                break;
            }
        }
    }
    state.runs = search.runs();
    Ok(Some(coarser))
}

/// How many times as far as a step the parabola has its bottom that the costs and the slope before give.
fn farther(before: f64, slope: f64, after: f64) -> f64 {
    let curvature = after - before - slope;
    if curvature > 0.0 { -0.5 * slope / curvature } else { LONGEST }
}

struct Refinement<'r, 'a, 'o, F: Float> {
    problem: &'r VideoProblem<'a, F>,
    search: &'r Search<'r>,
    reporter: &'r mut Reporter<'o>,
    /// The last.
    motions: Option<Motions>,
    evaluations: usize,
}

impl<F: Float> Refinement<'_, '_, '_, F> {
    /// None where it cannot be simulated.
    fn evaluate(&mut self, at: &[f64]) -> Outcome<Option<Evaluation>> {
        let coordinates = self.problem.parametrisation();
        let part = 1.0 / (1 + self.evaluations.max(super::cost::REFINING as usize)) as f64;
        self.reporter.refining(self.search.runs(), part, coordinates.named(&coordinates.values(at)));
        self.evaluations += 1;
        let near = |motions: &Motions| motions.at.iter().zip(at).all(|(from, to)| (to - from).abs() < NEAR);
        let fresh = !self.motions.as_ref().is_some_and(near);
        let share = if fresh { MOVING } else { 0.0 };
        if fresh {
            let moved = self.problem.motions(at, &mut |part| self.reporter.tick(share * part));
            self.motions = simulable(moved)?.flatten();
        }
        let Some(motions) = &self.motions else { return Ok(None) };
        let mut tick = |part| self.reporter.tick(share + (1.0 - share) * part);
        Ok(simulable(self.problem.refined(at, motions, &mut tick))?.flatten())
    }

    /// None where it cannot be simulated.
    fn loss(&mut self, at: &[f64]) -> Outcome<Option<f64>> {
        Ok(simulable(self.problem.refined_loss(at, &mut |part| self.reporter.tick(part)))?.flatten())
    }

    /// Moves the search.
    fn go_to(&mut self, state: &mut State, at: Vec<f64>, there: Evaluation) -> Outcome<()> {
        let coordinates = self.problem.parametrisation();
        let last = there.normals.last();
        let record = Record {
            iteration: state.iteration,
            stage: REFINED.into(),
            loss: last.map_or(0.0, |last| last.cost / last.residuals.max(1) as f64),
            values: coordinates.named(&coordinates.values(&at)),
        };
        state.refined(at, there, record);
        match self.reporter.told(state)? {
            Flow::Stop => Err(Failure::Stopped),
            Flow::Continue => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parabola_is_followed_to_its_bottom() {
        // `(x - 3)^2` from 0: a step of 1 is a third of the way.
        assert!((farther(9.0, -6.0, 4.0) - 3.0).abs() < 1e-12);
        // Cannot be told from a straight line.
        assert_eq!(farther(9.0, -6.0, 3.0), LONGEST);
    }
}
