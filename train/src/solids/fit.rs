//! The search: least squares by Gauss and Newton, damped.

use super::observation::{Sought, Supervision};
use super::program::{Coordinates, Linear, Program, Seen};
use super::protocol::Trust;
use crate::error::Result;
use crate::experiments::within_trust;
use diffkern::prelude::*;
use diffkern_optim::dense::{Bounds, LevenbergMarquardt, NormalEquations};
use std::cell::Cell;

/// Most evaluations with derivatives.
const MOST: usize = 30;
/// Longest step of a logarithm; of a coordinate of a field in standard deviations.
const TRUST: [f64; 2] = [0.7, 1.5];
/// No step is taken that is shorter.
const SHORTEST: f64 = 1e-7;
/// Nor one that is to lower the cost by less than this part.
const LEAST: f64 = 1e-5;
/// Refused steps in a row that end a search.
const REFUSALS: usize = 4;
/// A search whose residuals are left above so many deviations has ended in another valley, and begins elsewhere.
const UNEXPLAINED: f64 = 5.0;
/// Standard deviation of the mean of a field, of logarithms, about the middle of the range: it may be anywhere.
const MEAN: f64 = 1.0;

/// Where a search has ended.
pub(super) struct Found {
    pub(super) at: Vec<f64>,
    pub(super) iterations: usize,
    /// Root of the mean square of the residuals that anything shows in.
    pub(super) residual: f64,
    pub(super) normal: NormalEquations,
}

/// A search under way.
pub(super) struct Search<'a, F: Float> {
    pub(super) program: &'a Program<F>,
    pub(super) coordinates: &'a Coordinates,
    pub(super) seen: &'a Seen,
    pub(super) sought: Sought,
    /// Standard deviation of a residual.
    pub(super) deviation: f64,
    /// Steps from frame to frame: as many as any place needed so far, so that the cost has few jumps.
    pub(super) steps: Cell<usize>,
}

impl Trust {
    /// Of a residual of what is observed so.
    pub(super) fn deviation(&self, supervision: Supervision) -> f64 {
        match supervision {
            Supervision::Image => self.image,
            Supervision::State => self.state,
        }
    }
}

impl<F: Float> Search<'_, F> {
    /// From the start of the coordinates, and from other ones while what is found does not explain what is seen.
    pub(super) fn run(&self) -> Result<Found> {
        let (first, others) = (self.coordinates.start(), self.coordinates.others());
        explained(first, others, UNEXPLAINED * self.deviation, |start| self.settle(start))
    }

    /// From one start; then once more with as many steps as the place needs where that ends, if others on the way have needed more.
    fn settle(&self, start: Vec<f64>) -> Result<Found> {
        let found = self.descend(start)?;
        let needed = self.program.steps(&self.coordinates.inputs(self.program, &found.at)?)?;
        if self.steps.replace(needed) <= needed {
            return Ok(found);
        }
        let again = self.descend(found.at)?;
        Ok(Found { iterations: found.iterations + again.iterations, ..again })
    }

    fn descend(&self, mut at: Vec<f64>) -> Result<Found> {
        let n = at.len();
        let (mut here, mut lm, mut iterations) = (self.evaluate(&at)?, LevenbergMarquardt::default(), 1);
        let trust = TRUST[usize::from(self.sought == Sought::Field)];
        // What an addition to the curvature does not shorten is.
        let bounds = Bounds { low: vec![f64::MIN; n], high: vec![f64::MAX; n], trust: vec![2.0 * trust; n] };
        while iterations < MOST && lm.refused < REFUSALS {
            let Some(step) = within_trust(&lm, &here, &bounds, &at, trust)? else { break };
            let longest = step.change.iter().fold(0.0f64, |most, c| most.max(c.abs()));
            if longest < SHORTEST || here.fall(&step.change)? <= LEAST * here.cost {
                break;
            }
            iterations += 1;
            let there: Vec<f64> = at.iter().zip(&step.change).map(|(x, c)| x + c).collect();
            match self.evaluate(&there) {
                // Not `>=`: NaN is refused too.
                Ok(found) if found.cost < here.cost => {
                    (at, here) = (there, found);
                    lm.accept();
                }
                Ok(_) => lm.refuse(),
                Err(error) if error.is_of_the_motion() => lm.refuse(),
                Err(error) => return Err(error),
            }
        }
        let residual = here.mean_square().sqrt() * self.deviation;
        Ok(Found { at, iterations, residual, normal: here })
    }

    fn evaluate(&self, at: &[f64]) -> Result<NormalEquations> {
        let inputs = self.coordinates.inputs(self.program, at)?;
        let directions = self.coordinates.directions(self.program, &inputs)?;
        self.steps.set(self.steps.get().max(self.program.steps(&inputs)?));
        self.normal(&self.program.linearise(&inputs, &directions, self.steps.get())?, at)
    }

    /// In units of the deviation of a residual; the frames are the blocks.
    fn normal(&self, linear: &Linear, at: &[f64]) -> Result<NormalEquations> {
        let mut normal = NormalEquations::new(linear.derivatives.len());
        for (frame, (model, seen)) in linear.seen.iter().zip(self.seen).enumerate() {
            // What neither differs nor depends on anything, as most pixels, says nothing.
            let tells = |&k: &usize| model[k] != seen[k] || linear.derivatives.iter().any(|d| d[frame][k] != 0.0);
            let places: Vec<usize> = (0..model.len()).filter(tells).collect();
            let residual: Vec<f64> = places.iter().map(|&k| (model[k] - seen[k]) / self.deviation).collect();
            let of = |d: &Seen| places.iter().map(|&k| d[frame][k] / self.deviation).collect();
            let derivatives: Vec<Vec<f64>> = linear.derivatives.iter().map(of).collect();
            normal.add(&residual, &derivatives)?;
        }
        if self.sought == Sought::Field {
            for (k, z) in at.iter().enumerate() {
                let mut unit = vec![0.0; at.len()];
                unit[k] = 1.0;
                normal.add_prior(*z, &unit, if k == 0 { 1.0 / (MEAN * MEAN) } else { 1.0 })?;
            }
        }
        Ok(normal)
    }
}

/// The first whose residual is at most `enough`, otherwise the one with the least; with the iterations of all. A start without a motion is passed over, unless no other has
/// one.
pub(super) fn explained(
    first: Vec<f64>,
    others: Vec<Vec<f64>>,
    enough: f64,
    mut settle: impl FnMut(Vec<f64>) -> Result<Found>,
) -> Result<Found> {
    let mut best = settle(first);
    for other in others {
        let explains = match &best {
            Ok(found) => found.residual <= enough,
            Err(error) => !error.is_of_the_motion(),
        };
        if explains {
            break;
        }
        best = match (best, settle(other)) {
            (Ok(a), Ok(b)) => {
                let iterations = a.iterations + b.iterations;
                Ok(Found { iterations, ..if b.residual < a.residual { b } else { a } })
            }
            (kept, Err(error)) if error.is_of_the_motion() => kept,
            (_, found) => found,
        };
    }
    best
}
