//! The constants that bring simulated tosses nearest to the measured ones.

use super::cube::{Constants, Cubes, Linear, Motion, Placed};
use super::misfit::{Windows, losses, normals};
use super::recording::Toss;
use super::start::{begin, flight};
use crate::error::Result;
use diffkern::prelude::*;
use diffkern_optim::dense::{Bounds, LevenbergMarquardt, NormalEquations};

/// Changes over which secants are taken.
pub(super) const SECANT: [f64; 3] = [0.02, 0.02, 0.004];
/// Least and largest values, and the longest steps.
const LOW: [f64; 3] = [0.0, 0.0, 0.9];
const HIGH: [f64; 3] = [1.0, 1.0, 1.1];
const TRUST: [f64; 3] = [0.05, 0.05, 0.01];
/// Parts of the changes of secants by which the constants are moved one by one in the end.
const COMPASS: [f64; 4] = [1.0, 0.5, 0.25, 0.125];
/// Most steps, and refused steps in a row, of a search.
const MOST: usize = 30;
const REFUSALS: usize = 5;

/// How motions are differentiated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slope {
    /// By forward mode.
    Tangent,
    /// By differences over finite changes.
    Secant,
}

/// Tosses that are simulated and compared.
pub(super) struct Sample<'a> {
    pub(super) tosses: &'a [Toss],
    cubes: Cubes,
    /// Frames until each touches.
    flights: Vec<usize>,
}

/// A place with what is known of it.
pub(super) struct Place {
    pub(super) at: Constants,
    pub(super) loss: f64,
    /// Of each toss.
    pub(super) normals: Vec<NormalEquations>,
}

impl<'a> Sample<'a> {
    /// Of tosses that are measured at equal distances in time; `fall` is how fast they fall in the lengths of the data \[m/s^2\].
    pub(super) fn new(tosses: &'a [Toss], fall: f64) -> Result<Self> {
        let half = super::cube::HALF;
        let starts: Vec<_> = tosses.iter().map(|toss| begin(toss, half, fall)).collect();
        let dt = tosses.first().map_or(1.0, |toss| toss.dt);
        let flights = tosses.iter().map(|toss| flight(toss, half)).collect();
        Ok(Self { tosses, cubes: Cubes::new(&starts, dt)?, flights })
    }

    /// Up to so many frames after each touches first; none for all.
    pub(super) fn windows(&self, horizon: Option<usize>) -> Windows {
        let end = |(toss, flight): (&Toss, &usize)| horizon.map_or(toss.len(), |h| toss.len().min(flight + h)).max(2);
        self.tosses.iter().zip(&self.flights).map(end).collect()
    }

    /// The motion over windows.
    pub(super) fn motion(&self, at: Constants, windows: &Windows) -> Result<Motion> {
        self.cubes.motion(at, frames(windows))
    }

    /// The mean of what tosses count.
    pub(super) fn loss(&self, at: Constants, windows: &Windows) -> Result<f64> {
        Ok(mean(&losses(self.tosses, windows, &self.motion(at, windows)?)))
    }

    /// The motion with its derivatives.
    pub(super) fn linearise(&self, at: Constants, windows: &Windows, slope: Slope) -> Result<Linear> {
        if slope == Slope::Tangent {
            return self.cubes.linearise(at, frames(windows));
        }
        let along = |k: usize| -> Result<Motion> {
            let shifted = |by: f64| {
                let mut x = at.to_array();
                x[k] = (x[k] + by).max(LOW[k]);
                (x[k], Constants::from_array(x))
            };
            let ((above, after), (below, before)) = (shifted(SECANT[k]), shifted(-SECANT[k]));
            let (after, before) = (self.motion(after, windows)?, self.motion(before, windows)?);
            let secant = |(a, b): (&Placed, &Placed)| between(a, b, 1.0 / (above - below));
            Ok(after.iter().zip(&before).map(|(a, b)| a.iter().zip(b).map(secant).collect()).collect())
        };
        Ok(Linear { motion: self.motion(at, windows)?, derivatives: [along(0)?, along(1)?, along(2)?] })
    }

    /// What is known of a place.
    pub(super) fn place(&self, at: Constants, windows: &Windows, slope: Slope) -> Result<Place> {
        let linear = self.linearise(at, windows, slope)?;
        let loss = mean(&losses(self.tosses, windows, &linear.motion));
        Ok(Place { at, loss, normals: normals(self.tosses, windows, &linear)? })
    }

    /// Levenberg-Marquardt from `start`, and one constant after the other from there, as the loss has jumps.
    pub(super) fn search(&self, start: Constants, windows: &Windows, slope: Slope) -> Result<Place> {
        let near = self.descend(start, windows, slope)?;
        let (mut at, mut loss) = (near.at, near.loss);
        for part in COMPASS {
            let mut moved = true;
            while moved {
                moved = false;
                for k in 0..6 {
                    let mut x = at.to_array();
                    let by = if k % 2 == 0 { part } else { -part };
                    x[k / 2] = (x[k / 2] + by * SECANT[k / 2]).clamp(LOW[k / 2], HIGH[k / 2]);
                    let there = Constants::from_array(x);
                    let found = self.loss(there, windows)?;
                    if found < loss {
                        (at, loss, moved) = (there, found, true);
                    }
                }
            }
        }
        if at == near.at { Ok(near) } else { self.place(at, windows, slope) }
    }

    fn descend(&self, start: Constants, windows: &Windows, slope: Slope) -> Result<Place> {
        let bounds = Bounds { low: LOW.into(), high: HIGH.into(), trust: TRUST.into() };
        let (mut here, mut rule) = (self.place(start, windows, slope)?, LevenbergMarquardt::default());
        for _ in 0..MOST {
            let x = here.at.to_array();
            let Some(step) = rule.propose(&whole(&here.normals)?, &bounds, &x)? else { break };
            if (0..3).all(|k| step.change[k].abs() < 1e-3 * TRUST[k]) || rule.refused >= REFUSALS {
                break;
            }
            let next = Constants::from_array(std::array::from_fn(|k| x[k] + step.change[k]));
            if self.loss(next, windows)? < here.loss {
                here = self.place(next, windows, slope)?;
                rule.accept();
            } else {
                rule.refuse();
            }
        }
        Ok(here)
    }
}

/// The sum over tosses.
pub(super) fn whole(normals: &[NormalEquations]) -> Result<NormalEquations> {
    let mut all = NormalEquations::new(3);
    normals.iter().try_for_each(|normal| all.append(normal))?;
    Ok(all)
}

fn frames(windows: &Windows) -> usize {
    windows.iter().copied().max().unwrap_or(1)
}

fn between(a: &Placed, b: &Placed, factor: f64) -> Placed {
    let (p, q) = (a.q, b.q);
    let q = Quat::new(p.w - q.w, p.x - q.x, p.y - q.y, p.z - q.z);
    Placed { x: (a.x - b.x) * factor, q: Quat::new(q.w * factor, q.x * factor, q.y * factor, q.z * factor) }
}

/// The mean; 0 of nothing.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
