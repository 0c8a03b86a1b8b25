//! The search: least squares in the logarithms of the unknowns, on the first frames before it is on all.

use super::instance::Instance;
use super::observation::{Misfit, Observed};
use super::program::Program;
use super::protocol::Protocol;
use super::quantity::Unknown;
use super::step::within_trust;
use crate::error::{Error, Result};
use crate::identify::{SIGMAS, TELLS};
use diffkern_optim::dense::{Bounds, LevenbergMarquardt};

/// Most iterations of a search.
pub(super) const MOST: usize = 100;
/// A search leaves a range by so much of its width (of logarithms) at most.
const BEYOND: f64 = 0.5;
/// Longest step, of logarithms.
const TRUST: f64 = 0.7;
/// No step is taken that is shorter, of logarithms: on the first frames, and on all.
const SHORTEST: [f64; 2] = [1e-3, 1e-13];
/// Nor one that is to lower the cost by less than this part, where the observed motion takes the same steps and where it takes others: then
/// the cost has jumps, as touches move from step to step.
const LEAST: [f64; 2] = [1e-9, 1e-6];
/// Refused steps in a row that end a search.
const REFUSALS: usize = 6;
/// Searches from other places where one has ended elsewhere.
const RESTARTS: usize = 4;

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// One value for each unknown.
    pub values: Vec<f64>,
    /// 95 % interval of each.
    pub intervals: Vec<(f64, f64)>,
    /// Whether the interval tells anything: it covers less than half of the range.
    pub determined: Vec<bool>,
    /// Evaluations with derivatives but the first ones of each number of frames, over all starts.
    pub iterations: usize,
    /// Starts in all.
    pub starts: usize,
    /// Whether what is left may be errors of the observation.
    pub explained: bool,
    /// The largest residual.
    pub largest: f64,
}

/// A place that was evaluated.
pub(super) struct Place {
    pub(super) at: Vec<f64>,
    pub(super) misfit: Misfit,
}

/// A search under way.
pub(super) struct Search<'a> {
    pub(super) program: &'a Program,
    pub(super) observed: &'a Observed,
    pub(super) protocol: &'a Protocol,
    pub(super) most: usize,
    /// The same with twice as many steps, where the motion that was observed takes others.
    pub(super) halved: Option<&'a Program>,
}

impl Search<'_> {
    /// From the start of the instance, and from others while none explains what was observed.
    ///
    /// # Errors
    /// When no motion can be simulated, or the search is interrupted.
    pub(super) fn run(&self, instance: &Instance) -> Result<Found> {
        let (mut drawn, mut start) = (instance.clone(), instance.start.clone());
        let (mut best, mut iterations, mut starts): (Option<Place>, usize, usize) = (None, 0, 0);
        loop {
            starts += 1;
            let found = self.from(&start, &mut iterations)?;
            // A motion whose cost is no number is worse than any other.
            let cost = |place: &Place| {
                if place.misfit.normal.cost.is_nan() { f64::INFINITY } else { place.misfit.normal.cost }
            };
            if best.as_ref().is_none_or(|best| cost(&found) < cost(best)) {
                best = Some(found);
            }
            let explained = best.as_ref().is_some_and(|best| self.observed.explained_by(&best.misfit));
            if explained || starts > RESTARTS || iterations >= self.most {
                break;
            }
            start = drawn.other_start(&self.protocol.unknowns);
        }
        let Some(best) = best else { return Err(Error::Compute("a search without a start".into())) };
        let left = self.left_by_steps(&best)?;
        Ok(self.answer(&best, left.as_deref(), iterations, starts))
    }

    /// What the steps leave of each logarithm: twice what half the step changes, as the motion is of first order.
    fn left_by_steps(&self, best: &Place) -> Result<Option<Vec<f64>>> {
        let Some(halved) = self.halved else { return Ok(None) };
        let values: Vec<f64> = best.at.iter().map(|x| x.exp()).collect();
        let frames = self.protocol.frames.count;
        let here = self.program.linearise(&values, frames)?;
        let normal = Observed::of_motion(halved.seen(&values, frames)?).misfit(&here)?.normal;
        let plain = LevenbergMarquardt { damping: 0.0, refused: 0 };
        let free = Bounds {
            low: vec![f64::MIN; values.len()],
            high: vec![f64::MAX; values.len()],
            trust: vec![f64::MAX; values.len()],
        };
        let step = plain.propose(&normal, &free, &best.at)?;
        Ok(step.map(|step| step.change.iter().map(|change| 2.0 * change).collect()))
    }

    fn from(&self, start: &[f64], iterations: &mut usize) -> Result<Place> {
        let mut at: Vec<f64> = start.iter().map(|x| x.ln()).collect();
        let (last, first) = self.protocol.horizons.split_last().unwrap_or((&0, &[]));
        for &frames in first {
            at = self.descend(at, frames, SHORTEST[0], iterations)?.at;
        }
        self.descend(at, *last, SHORTEST[1], iterations)
    }

    /// With derivatives.
    pub(super) fn evaluate(&self, at: &[f64], frames: usize) -> Result<Misfit> {
        let values: Vec<f64> = at.iter().map(|x| x.exp()).collect();
        self.observed.misfit(&self.program.linearise(&values, frames)?)
    }

    /// The cost on all frames, without derivatives.
    pub(super) fn cost(&self, at: &[f64]) -> Result<f64> {
        let values: Vec<f64> = at.iter().map(|x| x.exp()).collect();
        Ok(self.observed.mean_square(&self.program.seen(&values, self.protocol.frames.count)?))
    }

    fn descend(&self, at: Vec<f64>, frames: usize, shortest: f64, iterations: &mut usize) -> Result<Place> {
        let mut here = Place { misfit: self.evaluate(&at, frames)?, at };
        let least = LEAST[usize::from(self.halved.is_some())];
        let (bounds, mut lm) = (bounds(&self.protocol.unknowns), LevenbergMarquardt::default());
        while *iterations < self.most && lm.refused < REFUSALS {
            let normal = &here.misfit.normal;
            let Some(step) = within_trust(&lm, normal, &bounds, &here.at, TRUST)? else { break };
            let longest = step.change.iter().fold(0.0f64, |most, c| most.max(c.abs()));
            if longest < shortest || normal.fall(&step.change)? <= least * normal.cost {
                break;
            }
            *iterations += 1;
            let at: Vec<f64> = here.at.iter().zip(&step.change).map(|(x, c)| x + c).collect();
            match self.evaluate(&at, frames) {
                // Not `>=`: NaN is refused too.
                Ok(misfit) if misfit.normal.cost < normal.cost => {
                    here = Place { at, misfit };
                    lm.accept();
                }
                Ok(_) => lm.refuse(),
                Err(error) if error.is_of_the_motion() => lm.refuse(),
                Err(error) => return Err(error),
            }
        }
        Ok(here)
    }

    /// What is told of a place.
    pub(super) fn answer(&self, best: &Place, left: Option<&[f64]>, iterations: usize, starts: usize) -> Found {
        let values: Vec<f64> = best.at.iter().map(|x| x.exp()).collect();
        let (n, covariance) = (values.len(), best.misfit.normal.covariance());
        let interval = |(k, unknown): (usize, &Unknown)| match &covariance {
            Some(covariance) if covariance[k * n + k].is_finite() => {
                let by_steps = left.map_or(0.0, |left| left[k].abs());
                let factor = (SIGMAS * covariance[k * n + k].max(0.0).sqrt()).hypot(by_steps).exp();
                (values[k] / factor, values[k] * factor)
            }
            Some(_) | None => unknown.range,
        };
        let intervals: Vec<(f64, f64)> = self.protocol.unknowns.iter().enumerate().map(interval).collect();
        let tells = |(&(from, to), unknown): (&(f64, f64), &Unknown)| {
            let (low, high) = unknown.range;
            (to.min(high) / from.max(low)).ln() < TELLS * (high / low).ln()
        };
        let determined = intervals.iter().zip(&self.protocol.unknowns).map(tells).collect();
        let explained = self.observed.explained_by(&best.misfit);
        Found { values, intervals, determined, iterations, starts, explained, largest: best.misfit.largest }
    }
}

fn bounds(unknowns: &[Unknown]) -> Bounds {
    let end = |unknown: &Unknown, sign: f64| {
        let (low, high) = unknown.range;
        let (from, room) = (if sign < 0.0 { low } else { high }, BEYOND * (high / low).ln());
        from.ln() + sign * room
    };
    Bounds {
        low: unknowns.iter().map(|u| end(u, -1.0)).collect(),
        high: unknowns.iter().map(|u| end(u, 1.0)).collect(),
        // What the addition does not shorten is.
        trust: vec![2.0 * TRUST; unknowns.len()],
    }
}
