//! The answer on a finer grid than that of its search.
//!
//! A step of Gauss and Newton needs what is seen to all its digits, but derivatives only to the few that say how fast it converges. So what is seen is of
//! the refined grid, how it moves is of the grid of the search, two runs for each coordinate, and serves until a step by it does not lower the misfit on the
//! refined grid. Each frame counts by how far it and those before are off what was observed and both grids are apart, where it begins and
//! again where it ends until that changes little (iteratively reweighted least squares, Holland and Welsch 1977). Motions are differences over as much as the answer may be off: those at a point follow vibrations so fast that steps by them are too short.

use super::differences::Motions;
use super::misfit::Misfit;
use super::problem::VideoProblem;
use crate::job::{Flow, Record};
use crate::program::{Coverage, Failure, Linear, Outcome, simulable};
use crate::search::{Evaluation, Priors, Problem as _, REFINED, Reporter, Search, State};
use diffkern::Float;
use diffkern_optim::dense::{LevenbergMarquardt, NormalEquations};

/// Most evaluations, and refused steps in a row at a level.
const EVALUATIONS: usize = 24;
const REFUSALS: usize = 2;
/// A level ends when a step lowers the misfit, or should by its derivatives, by less than this part.
const GAIN: f64 = 0.02;
/// Levels of the misfit before those that it goes through; once frames are weighed again it is the last alone.
const FIRST_LEVEL: usize = 1;
/// Most times that frames are weighed, and parts of the largest weight that none changes by any more when that is enough.
const ROUNDS: usize = 6;
const ALIKE: f64 = 0.1;
/// Part of a refinement that the motions of a place typically take.
const MOVING: f64 = 0.3;

/// What a refinement knows of the place that it ended at.
pub(super) struct Ended {
    /// Derivatives of what is seen, along each coordinate.
    pub(super) derivatives: Vec<Coverage>,
    /// How much each frame counted.
    pub(super) weights: Vec<f64>,
}

/// Moves a finished search to the best place on the refined grid, if there is one. What was found stays where the place cannot be simulated on it.
///
/// # Errors
/// When it is stopped, or something fails for good.
pub(super) fn refine<F: Float>(
    problem: &VideoProblem<'_, F>,
    search: &Search<'_>,
    state: &mut State,
    reporter: &mut Reporter<'_>,
) -> Outcome<Option<Ended>> {
    if !problem.refines() {
        return Ok(None);
    }
    let mut refinement = Refinement { problem, search, reporter, motions: None, evaluations: 0 };
    refinement.renew(&state.at)?;
    let Some(linear) = refinement.linearise(&state.at)? else {
        let problem = "what was found cannot be simulated on a finer grid, or what is near it on that of the search: it was not refined, and depends on the grid";
        state.warnings.push(problem.into());
        return Ok(None);
    };
    let start = refinement.shown(search.start())?;
    let mut here = linear;
    let mut weights = Vec::new();
    for round in 0..ROUNDS {
        let before = std::mem::replace(&mut weights, refinement.weights(&state.at, &here)?);
        if round > 0 && alike(&before, &weights) {
            weights = before;
            break;
        }
        let misfit = &problem.refined_misfit(&weights)?;
        state.loss_initial = start.as_ref().map(|start| loss(misfit, start)).transpose()?;
        refinement.go_to(state, state.at.clone(), problem.evaluated(misfit, &here)?)?;
        let first = if round == 0 { FIRST_LEVEL } else { state.normals.len() - 1 };
        if !refinement.round(misfit, first, state, &mut here)? {
            break;
        }
    }
    let derivatives = here.derivatives;
    state.runs = search.runs();
    Ok(Some(Ended { derivatives, weights }))
}

/// Mean squared residual at the last level.
fn loss(misfit: &Misfit, shown: &Coverage) -> diffkern::Result<f64> {
    let costs = misfit.costs(shown)?;
    Ok(costs.last().map_or(0.0, NormalEquations::mean_square))
}

/// Whether the same frames count, and none by much more or less than before, beside the one that counts most.
fn alike(before: &[f64], after: &[f64]) -> bool {
    let most = |weights: &[f64]| weights.iter().copied().fold(0.0, f64::max);
    let (most_before, most_after) = (most(before), most(after));
    before.iter().zip(after).all(|(a, b)| (*a > 0.0) == (*b > 0.0) && (a / most_before - b / most_after).abs() < ALIKE)
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
    /// Goes through the levels of a misfit after the `first` ones, from what is seen `here` to where it ends. Whether it took a step.
    fn round(&mut self, misfit: &Misfit, first: usize, state: &mut State, here: &mut Linear) -> Outcome<bool> {
        let (problem, mut moved) = (self.problem, false);
        let parametrisation = problem.parametrisation();
        for level in first..state.normals.len() {
            let mut rule = LevenbergMarquardt::default();
            while self.evaluations < EVALUATIONS && rule.refused < REFUSALS {
                let priors = Priors::known(parametrisation, &state.normals[level]);
                let model = priors.added(&state.normals[level], &state.at)?;
                let Some(step) = rule.propose(&model, &parametrisation.bounds(true), &state.at)? else { break };
                let after: Vec<f64> = state.at.iter().zip(&step.change).map(|(x, change)| x + change).collect();
                let trial = parametrisation.inside(&after);
                let change: Vec<f64> = trial.iter().zip(&state.at).map(|(to, from)| to - from).collect();
                let before = state.normals[level].cost + priors.cost(&state.at);
                let worthwhile = |fall: f64| fall > GAIN * before;
                if !worthwhile(model.fall(&change)?) {
                    break;
                }
                let there = self.evaluate(misfit, &trial)?;
                let after = there.as_ref().map(|(there, _)| there.normals[level].cost + priors.cost(&trial));
                // NaN is refused too.
                match there.filter(|_| after.is_some_and(|after| after < before)) {
                    Some((there, linear)) => {
                        rule.accept();
                        (*here, moved) = (linear, true);
                        self.go_to(state, trial, there)?;
                        if !after.is_some_and(|after| worthwhile(before - after)) {
                            break;
                        }
                    }
                    None if self.is_beside(&state.at) && self.renew(&state.at)? => {
                        let Some((again, linear)) = self.evaluate(misfit, &state.at)? else { break };
                        (state.normals, *here) = (again.normals, linear);
                    }
                    None => {
                        rule.refuse();
                    }
                }
            }
        }
        Ok(moved)
    }

    /// With derivatives of what is seen. None where it cannot be simulated.
    fn evaluate(&mut self, misfit: &Misfit, at: &[f64]) -> Outcome<Option<(Evaluation, Linear)>> {
        let Some(linear) = self.linearise(at)? else { return Ok(None) };
        Ok(Some((self.problem.evaluated(misfit, &linear)?, linear)))
    }

    /// What is seen, and its derivatives along the last motions. None where it cannot be simulated.
    fn linearise(&mut self, at: &[f64]) -> Outcome<Option<Linear>> {
        self.report(1.0 / (1 + self.evaluations.max(super::cost::REFINING as usize)) as f64, at);
        self.evaluations += 1;
        let Some(motions) = &self.motions else { return Ok(None) };
        Ok(simulable(self.problem.refined(at, motions, &mut |part| self.reporter.tick(part)))?.flatten())
    }

    /// Looks how the grid of the search moves about a place. Where that cannot be simulated the last motions stay.
    fn renew(&mut self, at: &[f64]) -> Outcome<bool> {
        self.report(MOVING, at);
        let motions = simulable(self.problem.motions(at, &mut |part| self.reporter.tick(part)))?.flatten();
        let is_new = motions.is_some();
        self.motions = motions.or(self.motions.take());
        Ok(is_new)
    }

    /// Whether the last motions are those about another place.
    fn is_beside(&self, at: &[f64]) -> bool {
        self.motions.as_ref().is_some_and(|motions| motions.at != at)
    }

    fn report(&mut self, part: f64, at: &[f64]) {
        let coordinates = self.problem.parametrisation();
        self.reporter.refining(self.search.runs(), part, coordinates.named(&coordinates.values(at)));
    }

    /// What the grid of the search shows, which is near enough where it is to be compared with that of the answer. None where it cannot be simulated.
    fn shown(&mut self, at: &[f64]) -> Outcome<Option<Coverage>> {
        self.report(0.0, at);
        simulable(self.problem.searched(at, &mut |part| self.reporter.tick(part)))
    }

    /// How much frames count where the refined grid shows this: by what was observed alone where the grid of the search cannot simulate the place, and as before anything was known if no silhouettes are compared.
    fn weights(&mut self, at: &[f64], finer: &Linear) -> Outcome<Vec<f64>> {
        let wider = self.shown(at)?;
        let wider = wider.as_ref().map(|wider| (wider, self.problem.ratio()));
        let weights = self.problem.weights_where(&finer.coverage, wider)?;
        Ok(weights.unwrap_or_else(|| self.problem.weights.clone()))
    }

    /// Moves the search.
    fn go_to(&mut self, state: &mut State, at: Vec<f64>, there: Evaluation) -> Outcome<()> {
        let coordinates = self.problem.parametrisation();
        let last = there.normals.last();
        let record = Record {
            iteration: state.iteration,
            stage: REFINED.into(),
            loss: last.map_or(0.0, NormalEquations::mean_square),
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
    fn weights_are_alike_where_the_same_frames_count_and_none_by_much_more() {
        let before = [4.0, 2.0, 0.0];
        assert!(alike(&before, &before));
        // Only what they are beside the largest counts.
        assert!(alike(&before, &[2.0, 1.0, 0.0]));
        assert!(alike(&before, &[4.0, 2.39, 0.0]));
        assert!(!alike(&before, &[4.0, 2.41, 0.0]));
        assert!(!alike(&before, &[4.0, 1.59, 0.0]));
        // However little a frame counts that did not.
        assert!(!alike(&before, &[4.0, 2.0, 1e-6]));
        assert!(!alike(&[4.0, 2.0, 1e-6], &before));
    }
}
