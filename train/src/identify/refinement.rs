//! The answer on a finer grid than that of its search.
//!
//! A step of Gauss and Newton needs what is seen to all its digits, but derivatives only to the few that say how fast it converges. So what is seen is of
//! the refined grid, how it moves is of the grid of the search, two runs for each coordinate, and serves until a step by it does not lower the misfit on the
//! refined grid. Each frame counts by how far both grids are apart where it begins. Motions are differences over as much as the answer may be off: those at a point follow vibrations so fast that steps by them are too short.

use super::differences::Motions;
use super::frames::weights_by_grids;
use super::misfit::Misfit;
use super::problem::{JUDGED, VideoProblem};
use crate::job::{Flow, IdentifyOptions, Record};
use crate::program::{Coverage, Failure, Linear, Outcome, simulable};
use crate::search::{Evaluation, Priors, Problem as _, REFINED, Reporter, Search, State};
use diffkern::Float;
use diffkern_optim::dense::LevenbergMarquardt;

/// Most evaluations, and refused steps in a row at a level.
const EVALUATIONS: usize = 16;
const REFUSALS: usize = 2;
/// A level ends when a step lowers the misfit, or should by its derivatives, by less than this part.
const GAIN: f64 = 0.02;
/// Levels of the misfit that it goes through.
const FIRST_LEVEL: usize = 1;
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
    options: &IdentifyOptions,
    reporter: &mut Reporter<'_>,
) -> Outcome<Option<Ended>> {
    if !problem.refines() {
        return Ok(None);
    }
    let parametrisation = problem.parametrisation();
    let mut refinement = Refinement { problem, search, reporter, motions: None, evaluations: 0 };
    refinement.renew(&state.at)?;
    let Some(linear) = refinement.linearise(&state.at)? else {
        let problem = "what was found cannot be simulated on a finer grid, or what is near it on that of the search: it was not refined, and depends on the grid";
        state.warnings.push(problem.into());
        return Ok(None);
    };
    let weights = refinement.weights(&state.at, &linear)?;
    let misfit = &problem.refined_misfit(&weights)?;
    state.loss_initial = refinement.loss(misfit, &parametrisation.at(&search.initial(options)))?;
    let (begin, mut derivatives) = (problem.evaluated(misfit, &linear)?, linear.derivatives);
    refinement.go_to(state, state.at.clone(), begin)?;
    for level in FIRST_LEVEL..state.normals.len() {
        let mut rule = LevenbergMarquardt::default();
        while refinement.evaluations < EVALUATIONS && rule.refused < REFUSALS {
            let priors = Priors::known(parametrisation, &state.normals[level]);
            let here = priors.added(&state.normals[level], &state.at)?;
            let Some(step) = rule.propose(&here, &parametrisation.bounds(true), &state.at)? else { break };
            let moved: Vec<f64> = state.at.iter().zip(&step.change).map(|(x, change)| x + change).collect();
            let trial = parametrisation.inside(&moved);
            let change: Vec<f64> = trial.iter().zip(&state.at).map(|(to, from)| to - from).collect();
            let before = state.normals[level].cost + priors.cost(&state.at);
            let worthwhile = |fall: f64| fall > GAIN * before;
            if !worthwhile(here.fall(&change)?) {
                break;
            }
            let there = refinement.evaluate(misfit, &trial)?;
            let after = there.as_ref().map(|(there, _)| there.normals[level].cost + priors.cost(&trial));
            // NaN is refused too.
            match there.filter(|_| after.is_some_and(|after| after < before)) {
                Some((there, moving)) => {
                    rule.accept();
                    derivatives = moving;
                    refinement.go_to(state, trial, there)?;
                    if !after.is_some_and(|after| worthwhile(before - after)) {
                        break;
                    }
                }
                None if refinement.is_beside(&state.at) && refinement.renew(&state.at)? => {
                    let Some((again, moving)) = refinement.evaluate(misfit, &state.at)? else { break };
                    (state.normals, derivatives) = (again.normals, moving);
                }
                None => {
                    rule.refuse();
                }
            }
        }
    }
    state.runs = search.runs();
    Ok(Some(Ended { derivatives, weights }))
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
    /// With derivatives of what is seen. None where it cannot be simulated.
    fn evaluate(&mut self, misfit: &Misfit, at: &[f64]) -> Outcome<Option<(Evaluation, Vec<Coverage>)>> {
        let Some(linear) = self.linearise(at)? else { return Ok(None) };
        Ok(Some((self.problem.evaluated(misfit, &linear)?, linear.derivatives)))
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

    /// On the grid of the search, which is near enough where it is to be compared with that of the answer. None where it cannot be simulated.
    fn loss(&mut self, misfit: &Misfit, at: &[f64]) -> Outcome<Option<f64>> {
        self.report(0.0, at);
        Ok(simulable(self.problem.rough_loss(misfit, at, &mut |part| self.reporter.tick(part)))?.flatten())
    }

    /// How much frames count where the refined grid shows this: as in the search where its own grid cannot simulate the place, or no silhouettes are compared.
    fn weights(&mut self, at: &[f64], finer: &Linear) -> Outcome<Vec<f64>> {
        self.report(0.0, at);
        let wider = simulable(self.problem.searched(at, &mut |part| self.reporter.tick(part)))?;
        let problem = self.problem;
        let weights = wider.map(|wider| -> diffkern::Result<_> {
            let misfit = Misfit::new(problem.scene, problem.videos, &vec![1.0; problem.frames], &[JUDGED])?;
            let apart = misfit.apart(problem.scene, problem.frames, &finer.coverage, &wider)?;
            Ok(weights_by_grids(&apart, problem.ratio()))
        });
        Ok(weights.transpose()?.flatten().unwrap_or_else(|| problem.weights.clone()))
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
