//! Restitution, friction, start, spin and camera from a film.

use super::balls::{ALL, Balls, FRICTION, MOTION, RESTITUTION, Seen};
use super::film::Film;
use crate::error::Result;
use crate::identify::SIGMAS;
use diffkern_optim::dense::{Bounds, LevenbergMarquardt, NormalEquations};
use serde::Serialize;

/// What a pixel of the calibration counts, by one of the film: its points were clicked by hand and are 8.7 px off in the mean, the film 1.7
/// with that camera.
const CLICKED: f64 = 0.2;
/// Most steps, and refused steps in a row.
const MOST: usize = 100;
const REFUSALS: usize = 8;
/// Part of the cost by which a step is to lower it.
const LEAST: f64 = 1e-7;

/// What was found with some unknowns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// What is unknown beside places, velocities, restitution and friction.
    pub name: String,
    /// Mean and largest distance from the centroids \[px\].
    pub error: [f64; 2],
    /// Mean distance of the points of the calibration from where they were clicked \[px\].
    pub clicked: f64,
    /// Coefficient of restitution, with a 95 % interval by the scatter over frames.
    pub restitution: [f64; 3],
    /// Coefficient of friction with the table, likewise.
    pub friction: [f64; 3],
    /// Velocities of both balls \[m/s\].
    pub velocity: [[f64; 2]; 2],
    /// Spins of both times their radius: velocities at which they would roll \[m/s\].
    pub roll: [[f64; 2]; 2],
    /// The camera: a turn \[rad\], a shift \[m\], and the logarithm of a factor of the focal length.
    pub camera: [f64; 7],
    /// Evaluations with derivatives.
    pub iterations: usize,
}

/// All that a table says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// Frames.
    pub frames: usize,
    /// Noise of a centroid: expected distance from a smooth path \[px\].
    pub noise: f64,
    /// One for each set of unknowns.
    pub found: Vec<Found>,
}

impl Study {
    /// Of a film.
    ///
    /// # Errors
    /// When a simulation fails.
    pub fn new(film: &Film) -> Result<Self> {
        let balls = Balls::new(film)?;
        let camera: Vec<usize> = (MOTION..ALL).collect();
        let plain: Vec<usize> = (0..8).chain([RESTITUTION, FRICTION]).collect();
        let spin: Vec<usize> = (0..MOTION).collect();
        let start = start(film);
        let without = descend(&balls, film, start, &plain)?;
        let spun = descend(&balls, film, start, &spin)?;
        let refined = descend(&balls, film, without.0, &[plain.clone(), camera.clone()].concat())?;
        let both = descend(&balls, film, spun.0, &[spin.clone(), camera.clone()].concat())?;
        let all = [
            ("none, camera as calibrated", without, plain.clone()),
            ("spins, camera as calibrated", spun, spin.clone()),
            ("camera", refined, [plain, camera.clone()].concat()),
            ("spins and camera", both, [spin, camera].concat()),
        ];
        let found =
            all.into_iter().map(|(name, end, by)| found(&balls, film, name, end, &by)).collect::<Result<_>>()?;
        Ok(Self { frames: film.pixels.len(), noise: noise(film), found })
    }
}

/// Places and velocities by the calibrated camera; the balls roll.
fn start(film: &Film) -> [f64; ALL] {
    let [now, next] = film.first;
    let mut x = [0.0; ALL];
    for b in 0..2 {
        for a in 0..2 {
            x[2 * b + a] = now[b][a];
            x[4 + 2 * b + a] = (next[b][a] - now[b][a]) / film.dt;
            x[8 + 2 * b + a] = x[4 + 2 * b + a];
        }
    }
    (x[RESTITUTION], x[FRICTION]) = (0.6, 0.2);
    x
}

/// For each frame, and each point of the calibration, what is off \[px\].
fn blocks(film: &Film, pixels: &[[f64; 2]]) -> Vec<Vec<f64>> {
    let (of_film, of_points) = pixels.split_at(2 * film.pixels.len());
    let frame = |(seen, there): (&[[f64; 2]; 2], &[[f64; 2]])| {
        (0..4).map(|k| there[k / 2][k % 2] - seen[k / 2][k % 2]).collect::<Vec<f64>>()
    };
    let point = |((_, clicked), there): (&(_, [f64; 2]), &[f64; 2])| {
        (0..2).map(|a| CLICKED * (there[a] - clicked[a])).collect::<Vec<f64>>()
    };
    let frames = film.pixels.iter().zip(of_film.chunks_exact(2)).map(frame);
    frames.chain(film.camera.points.iter().zip(of_points).map(point)).collect()
}

fn normal(film: &Film, seen: &Seen) -> Result<NormalEquations> {
    let mut normal = NormalEquations::new(seen.derivatives.len());
    // Derivatives are those of the residuals, but for what is observed.
    let still = blocks(film, &vec![[0.0; 2]; seen.pixels.len()]);
    let slopes: Vec<Vec<Vec<f64>>> = seen.derivatives.iter().map(|d| blocks(film, d)).collect();
    for (k, residual) in blocks(film, &seen.pixels).iter().enumerate() {
        let of = |slope: &Vec<Vec<f64>>| slope[k].iter().zip(&still[k]).map(|(a, b)| a - b).collect();
        normal.add(residual, &slopes.iter().map(of).collect::<Vec<Vec<f64>>>())?;
    }
    Ok(normal)
}

type End = ([f64; ALL], usize);

/// Levenberg-Marquardt with exact derivatives, in the unknowns `by`.
fn descend(balls: &Balls, film: &Film, start: [f64; ALL], by: &[usize]) -> Result<End> {
    let limit = |k: usize| match k {
        RESTITUTION => (0.0, 1.0, 0.2),
        FRICTION => (0.0, 2.0, 0.1),
        0..4 => (-10.0, 10.0, 0.05),
        4..12 => (-100.0, 100.0, 0.5),
        _ => (-1.0, 1.0, 0.1),
    };
    let limits: Vec<(f64, f64, f64)> = by.iter().map(|&k| limit(k)).collect();
    let bounds = Bounds {
        low: limits.iter().map(|l| l.0).collect(),
        high: limits.iter().map(|l| l.1).collect(),
        trust: limits.iter().map(|l| l.2).collect(),
    };
    let (mut x, mut rule, mut iterations) = (start, LevenbergMarquardt::default(), 1);
    let mut here = normal(film, &balls.seen(&x, by)?)?;
    while iterations < MOST && rule.refused < REFUSALS {
        let at: Vec<f64> = by.iter().map(|&k| x[k]).collect();
        let Some(step) = rule.propose(&here, &bounds, &at)? else { break };
        let mut next = x;
        by.iter().zip(&step.change).for_each(|(&k, change)| next[k] += change);
        let there = normal(film, &balls.seen(&next, by)?)?;
        iterations += 1;
        // Not `>=`: NaN is refused too.
        if there.cost < here.cost {
            let enough = here.cost - there.cost < LEAST * here.cost;
            (x, here) = (next, there);
            rule.accept();
            if enough {
                break;
            }
        } else {
            rule.refuse();
        }
    }
    Ok((x, iterations))
}

fn found(balls: &Balls, film: &Film, name: &str, (x, iterations): End, by: &[usize]) -> Result<Found> {
    let seen = balls.seen(&x, by)?;
    let normal = normal(film, &seen)?;
    let count = film.pixels.len();
    let off = blocks(film, &seen.pixels);
    let distance = |pair: &[f64]| pair[0].hypot(pair[1]);
    let each: Vec<f64> = off[..count].iter().flat_map(|row| row.chunks_exact(2).map(distance)).collect();
    let clicked: Vec<f64> = off[count..].iter().map(|row| distance(row) / CLICKED).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let covariance = normal.covariance();
    let interval = |k: usize| {
        let place = by.iter().position(|&own| own == k);
        let variance = covariance.as_ref().zip(place).map(|(c, p)| c[p * by.len() + p]);
        let wide = SIGMAS * variance.unwrap_or(f64::MAX).max(0.0).sqrt();
        [x[k], x[k] - wide, x[k] + wide]
    };
    let pair = |from: usize| [[x[from], x[from + 1]], [x[from + 2], x[from + 3]]];
    Ok(Found {
        name: name.into(),
        error: [mean(&each), each.iter().copied().fold(0.0, f64::max)],
        clicked: mean(&clicked),
        restitution: interval(RESTITUTION),
        friction: interval(FRICTION),
        velocity: pair(4),
        roll: pair(8),
        camera: std::array::from_fn(|k| x[MOTION + k]),
        iterations,
    })
}

/// What third differences of paths show that motion does not: of white noise their variance is twenty times as large. The median over all,
/// as an impact is in few; as the mean distance in the plane.
fn noise(film: &Film) -> f64 {
    let third = |w: &[[[f64; 2]; 2]], b: usize, a: usize| {
        let at = |k: usize| w[k][b][a];
        (at(3) - 3.0 * at(2) + 3.0 * at(1) - at(0)).abs()
    };
    let mut all: Vec<f64> = film.pixels.windows(4).flat_map(|w| (0..4).map(move |k| third(w, k / 2, k % 2))).collect();
    all.sort_by(f64::total_cmp);
    // The median of the size of a normal number is 0.6745 of its deviation; the mean distance in the plane sqrt(pi / 2) of it.
    let deviation = all[all.len() / 2] / 0.6745 / 20f64.sqrt();
    deviation * (0.5 * std::f64::consts::PI).sqrt()
}
