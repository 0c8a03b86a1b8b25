//! Constants, and starts of all swings, by which simulated angles are nearest to the measured ones.

use super::arms::{ALL, Arms, Constants, Linear, Motion, START};
use super::projected::Projected;
use super::recording::Segment;
use crate::error::{Error, Result};
use diffkern_optim::dense::{Bounds, LevenbergMarquardt, NormalEquations};

/// Most evaluations, and refused steps in a row.
const MOST: usize = 40;
const REFUSALS: usize = 6;
/// Part of the cost by which a step is to lower it.
const LEAST: f64 = 1e-6;
/// Steps of Gauss and Newton of starts alone.
const STEPS: usize = 6;
/// Least and largest values of constants, and the longest steps.
pub(super) const LOW: [f64; ALL] = [0.05, 0.01, 1e-6, 1e-6, 0.0, 0.0, 0.0, 0.0];
const HIGH: [f64; ALL] = [1.0, 0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1];
const TRUST: [f64; ALL] = [0.02, 0.02, 5e-4, 5e-4, 5e-4, 5e-4, 5e-4, 5e-4];

/// Where a search is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub(super) at: Constants,
    pub(super) starts: Vec<[f64; START]>,
    /// Sum of squared residuals \[rad^2\].
    pub(super) cost: f64,
    /// Of each swing, its start at its best.
    pub(super) normals: Vec<NormalEquations>,
    /// Evaluations with derivatives.
    pub(super) evaluations: usize,
}

/// Swings with what simulates them.
pub(super) struct Swings<'a> {
    pub(super) segments: &'a [Segment],
    pub(super) arms: Arms,
}

impl<'a> Swings<'a> {
    /// The first `samples` samples of swings of one length, with `finer` times as many steps as are needed.
    pub(super) fn new(segments: &'a [Segment], samples: usize, dt: f64, finer: usize) -> Result<Self> {
        let samples = segments.iter().map(Vec::len).min().unwrap_or(0).min(samples);
        Ok(Self { segments, arms: Arms::new(segments.len(), samples, dt, finer)? })
    }

    /// The first samples as they were measured.
    pub(super) fn measured(&self) -> Vec<[f64; START]> {
        self.segments.iter().map(|segment| segment[0]).collect()
    }

    /// Residuals of a swing, sample by sample, both angles.
    fn residual(&self, s: usize, motion: &Motion) -> Vec<f64> {
        let off = |(there, seen): (&Vec<[f64; 2]>, &[f64; 4])| [there[s][0] - seen[0], there[s][1] - seen[1]];
        motion.iter().zip(&self.segments[s]).flat_map(off).collect()
    }

    /// Root of the mean square of both angles over all samples, of each swing \[rad\].
    pub(super) fn errors(&self, motion: &Motion) -> Vec<f64> {
        let of = |s: usize| {
            let residual = self.residual(s, motion);
            (residual.iter().map(|r| r * r).sum::<f64>() / residual.len() as f64).sqrt()
        };
        (0..self.segments.len()).map(of).collect()
    }

    fn projected(&self, linear: &Linear, by: usize) -> Result<Vec<Projected>> {
        let of = |s: usize| {
            let column = |k: usize| -> Vec<f64> { linear.derivatives[k].iter().flat_map(|sample| sample[s]).collect() };
            let residual = self.residual(s, &linear.motion);
            let starts = std::array::from_fn(|k| column(by + k));
            let projected = Projected::new(residual, (0..by).map(column).collect(), starts);
            projected.ok_or_else(|| Error::Compute(format!("swing {s} does not show how it begins")))
        };
        (0..self.segments.len()).map(of).collect()
    }

    fn cost(&self, motion: &Motion) -> f64 {
        (0..self.segments.len()).flat_map(|s| self.residual(s, motion)).map(|r| r * r).sum()
    }

    /// The starts that are best with these constants.
    pub(super) fn starts(&self, at: Constants, mut starts: Vec<[f64; START]>) -> Result<Vec<[f64; START]>> {
        let mut cost = f64::INFINITY;
        for _ in 0..STEPS {
            let linear = self.arms.linearise(at, &starts, &[])?;
            let here = self.cost(&linear.motion);
            if here > (1.0 - LEAST) * cost {
                break;
            }
            cost = here;
            for (start, projected) in starts.iter_mut().zip(self.projected(&linear, 0)?) {
                add(start, projected.start(&[]));
            }
        }
        Ok(starts)
    }

    /// Levenberg-Marquardt in the constants of these numbers; for each of its steps starts take the one that is best with it.
    pub(super) fn search(
        &self,
        at: Constants,
        starts: Vec<[f64; START]>,
        by: &[usize],
        tell: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Place> {
        let pick = |all: [f64; ALL]| by.iter().map(|&k| all[k]).collect::<Vec<f64>>();
        let bounds = Bounds { low: pick(LOW), high: pick(HIGH), trust: pick(TRUST) };
        let mut rule = LevenbergMarquardt::default();
        let mut place = Place { at, starts, cost: 0.0, normals: Vec::new(), evaluations: 1 };
        let mut linear = self.arms.linearise(place.at, &place.starts, by)?;
        place.cost = self.cost(&linear.motion);
        loop {
            let projected = self.projected(&linear, by.len())?;
            place.normals = projected.iter().map(normal).collect::<Result<_>>()?;
            let all = whole(&place.normals)?;
            let better = loop {
                tell()?;
                let x = pick(place.at.to_array());
                let proposed = if place.evaluations < MOST { rule.propose(&all, &bounds, &x)? } else { None };
                let Some(step) = proposed.filter(|_| rule.refused < REFUSALS) else { return Ok(place) };
                let mut constants = place.at.to_array();
                by.iter().zip(&step.change).for_each(|(&k, change)| constants[k] += change);
                let mut starts = place.starts.clone();
                starts.iter_mut().zip(&projected).for_each(|(s, own)| add(s, own.start(&step.change)));
                let next = Constants::from_array(constants);
                let there = self.arms.linearise(next, &starts, by)?;
                let cost = self.cost(&there.motion);
                place.evaluations += 1;
                if cost < place.cost {
                    break (next, starts, there, cost);
                }
                rule.refuse();
            };
            let enough = place.cost - better.3 < LEAST * place.cost;
            (place.at, place.starts, linear, place.cost) = better;
            rule.accept();
            if enough {
                let projected = self.projected(&linear, by.len())?;
                place.normals = projected.iter().map(normal).collect::<Result<_>>()?;
                return Ok(place);
            }
        }
    }
}

fn add(start: &mut [f64; START], change: [f64; START]) {
    start.iter_mut().zip(change).for_each(|(x, change)| *x += change);
}

fn normal(projected: &Projected) -> Result<NormalEquations> {
    let mut normal = NormalEquations::new(projected.derivatives.len());
    normal.add(&projected.residual, &projected.derivatives)?;
    Ok(normal)
}

/// The sum over all swings.
pub(super) fn whole(normals: &[NormalEquations]) -> Result<NormalEquations> {
    let mut all = NormalEquations::new(normals.first().map_or(0, NormalEquations::parameters));
    normals.iter().try_for_each(|normal| all.append(normal))?;
    Ok(all)
}
