//! What of tosses shows without a simulation: how fast they fall, how high they rest, how fast sliding ends.

use super::cube::{GRAVITY, HALF};
use super::recording::Toss;
use super::search::mean;
use super::start::{fall, rotation};
use diffkern::prelude::*;
use serde::Serialize;

/// Cosine of the angle between a side and the table up to which a cube is flat, and height beyond that of rest \[m\].
const FLAT: f64 = 0.9995;
const LOW: f64 = 1e-3;
/// Speed of what slides \[m/s\], and the fewest frames of it.
const SLIDING: f64 = 0.15;
const FEWEST: usize = 8;
/// Frames to either side over which speeds are taken.
const ASIDE: usize = 2;

/// A median with the quartiles around it, and of how many it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Spread {
    /// How many values.
    pub count: usize,
    /// Their median.
    pub median: f64,
    /// The quartiles.
    pub quartiles: [f64; 2],
    /// Their mean, and its standard error.
    pub mean: [f64; 2],
}

impl Spread {
    /// Of values.
    pub(super) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let at = |part: f64| values.get((part * count as f64) as usize).or(values.last()).copied().unwrap_or(0.0);
        let middle = mean(&values);
        let square = values.iter().map(|x| (x - middle).powi(2)).sum::<f64>();
        let error = (square / (count.max(2) - 1) as f64 / count.max(1) as f64).sqrt();
        Self { count, median: at(0.5), quartiles: [at(0.25), at(0.75)], mean: [middle, error] }
    }
}

/// What tosses show by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Claims {
    /// Acceleration of flights in the lengths of the data \[m/s^2\].
    pub fall: Spread,
    /// What a parabola leaves of heights \[m\].
    pub left: Spread,
    /// Height of the centre at the end \[m\], of those that lie flat.
    pub rest: Spread,
    /// Deceleration of flat sliding by gravity, both in the lengths of the data.
    pub sliding: Spread,
}

impl Claims {
    /// Of tosses.
    pub(super) fn of(tosses: &[Toss]) -> Self {
        let falls: Vec<(f64, f64)> = tosses.iter().filter_map(|toss| fall(toss, HALF)).collect();
        let rest =
            tosses.iter().filter(|toss| is_flat(toss, toss.len() - 1)).map(|toss| toss.position[toss.len() - 1][2]);
        let falling = Spread::of(falls.iter().map(|f| f.0).collect());
        let rest = Spread::of(rest.collect());
        let gravity = if falling.count > 0 { falling.median } else { GRAVITY };
        let slides = tosses.iter().flat_map(|toss| slides(toss, rest.median)).map(|a| a / gravity);
        Self {
            fall: falling,
            left: Spread::of(falls.iter().map(|f| f.1).collect()),
            rest,
            sliding: Spread::of(slides.collect()),
        }
    }
}

/// Whether a side of the cube lies along the table.
fn is_flat(toss: &Toss, k: usize) -> bool {
    let up = rotation(toss, k).conjugate().rotate(Vec3::new(0.0, 0.0, 1.0));
    up.x.abs().max(up.y.abs()).max(up.z.abs()) > FLAT
}

/// Decelerations of the times that a cube slides flat \[m/s^2\].
fn slides(toss: &Toss, rest: f64) -> Vec<f64> {
    let speed = |k: usize| {
        let along = |a: usize| toss.position[k + ASIDE][a] - toss.position[k - ASIDE][a];
        along(0).hypot(along(1)) / (2.0 * ASIDE as f64 * toss.dt)
    };
    let lies = |k: usize| is_flat(toss, k) && (toss.position[k][2] - rest).abs() < LOW;
    let slides = |k: usize| (k - ASIDE..=k + ASIDE).all(lies) && speed(k) > SLIDING;
    let (mut found, mut run) = (Vec::new(), Vec::new());
    for k in ASIDE..toss.len() - ASIDE {
        if slides(k) {
            run.push(speed(k));
        }
        if !slides(k) || k + ASIDE + 1 == toss.len() {
            if run.len() >= FEWEST {
                found.push(-slope(&run) / toss.dt);
            }
            run.clear();
        }
    }
    found
}

fn slope(values: &[f64]) -> f64 {
    let middle = 0.5 * (values.len() as f64 - 1.0);
    let along: f64 = values.iter().enumerate().map(|(k, v)| (k as f64 - middle) * v).sum();
    along / values.iter().enumerate().map(|(k, _)| (k as f64 - middle).powi(2)).sum::<f64>()
}
