//! What the films and tracks of a scene would tell of its unknowns, before they are made.

use super::cost::{Cost, Task};
use super::interval::{SIGMAS, TELLS};
use super::misfit::{LevelOptions, Misfit};
use super::problem::{BLUR, differences, weights};
use super::{device, resolution};
use crate::error::Result;
use crate::job::IdentifyOptions;
use crate::program::{Coverage, GridOptions, Linear, Outcome, Physics, Program, Seen, Shot, viscous_room};
use crate::scene::{Name, Scene, Target};
use crate::search::{Parametrisation, Tick};
use crate::video::Video;
use nalgebra::DMatrix;
use std::fmt;

/// Standard deviation that the difference of a pixel is taken to have, of white.
pub(crate) const NOISE: f64 = 0.05;
/// How much better a combination of two unknowns is told than each of them, that is worth to be said.
const BETTER: f64 = 0.25;
/// Powers of the second in a combination.
const POWERS: [f64; 6] = [-1.0, 1.0, -0.5, 0.5, -2.0, 2.0];

/// What each film and each track of a scene tells by itself.
pub(crate) struct Information {
    parametrisation: Parametrisation,
    values: Physics,
    unknowns: Vec<(Name, Target)>,
    /// Parts of the ranges (of their logarithms, where values differ by factors).
    ranges: Vec<f64>,
    /// Of each film, then of each track, `J^T J` of the coordinates.
    parts: Vec<DMatrix<f64>>,
}

/// How well an unknown is told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    /// Which.
    pub(crate) name: Name,
    /// Half of its 95 % interval: a part of its value, where values differ by factors.
    pub(crate) half: f64,
    /// Whether that is a part of the value.
    pub(crate) relative: bool,
    /// Whether its interval covers less than half of its range.
    pub(crate) tells: bool,
}

/// Two unknowns that are told together: the first times the second to a power.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Together {
    /// Which.
    pub(crate) names: [Name; 2],
    /// The power.
    pub(crate) power: f64,
    /// Half of its 95 % interval, as a part of its value.
    pub(crate) half: f64,
}

/// Cells across the thinnest side.
pub(super) fn coarse(scene: &Scene, options: &IdentifyOptions) -> usize {
    options.cells.unwrap_or(resolution(scene, None, options.simulator, false).coarse)
}

/// Runs for so many coordinates: one that is shown, one that is seen, and one to both sides of each.
pub(super) fn runs(coordinates: usize) -> usize {
    2 + 2 * coordinates
}

impl Information {
    /// At the values that `options` start from, on the coarse grid. Derivatives are differences over as much as an answer may well be off.
    ///
    /// # Errors
    /// When the simulation refuses the scene, or cannot get to its end.
    pub(crate) fn of(scene: &Scene, options: &IdentifyOptions, tick: &mut Tick<'_>) -> Outcome<Self> {
        let device = device(&options.device)?;
        let simulator = options.simulator;
        let cells = coarse(scene, options);
        let room = viscous_room(scene, &options.fixed, cells);
        let nodes = Cost::of(scene, Task::Plan(options), false, &device)?.node_limit(&options.limits);
        let grid = GridOptions { simulator, cells, room, fixed_steps: true, nodes };
        let program = Program::<f32>::new(scene, &options.fixed, grid, &device)?;
        let parametrisation = Parametrisation::new(scene, options, room)?;
        let at = parametrisation.at(&parametrisation.initial(options));
        let values = parametrisation.values(&at);
        let weights = weights(scene, simulator);
        let frames = weights.len();
        let steps = parametrisation.doubt();
        let (runs, mut done) = (runs(steps.len()), 0);
        let shown = program.shown(&values, |part| tick(part / runs as f64), &mut None)?;
        let video = |(frames, film): (Vec<_>, &crate::scene::Film)| {
            let camera = &scene.cameras[film.camera];
            Video { width: camera.width, height: camera.height, frames, masks: None }
        };
        let videos: Vec<Video> = shown.films.into_iter().zip(&scene.films).map(video).collect();
        let mut pictures = |at: &[f64]| -> Outcome<Coverage> {
            done += 1;
            let (all, mut frame) = ((frames * program.takes().count()).max(1) as f64, 0);
            let mut next = || {
                frame += 1;
                tick((done as f64 + (frame - 1) as f64 / all) / runs as f64)
            };
            program.coverage(&parametrisation.values(at), frames, &mut next)
        };
        let coverage = pictures(&at)?;
        let derivatives = differences(&parametrisation, &at, &steps, &mut pictures)?;
        let misfit = Misfit::new(scene, &videos, &weights, &[LevelOptions { blur: BLUR, frames: 1.0 }])?;
        let films = scene.films.len();
        let part = |shot: Shot| match shot.seen {
            Seen::Silhouette(film) | Seen::Depth(film) | Seen::Colour(film, _) => film,
            Seen::Track(track) => films + track,
        };
        let normals =
            misfit.by(scene, frames, (films + scene.tracks.len(), &part), &Linear { coverage, derivatives })?;
        let square = |n: usize, numbers: Vec<f64>| DMatrix::from_vec(n, n, numbers);
        let parts = normals.into_iter().map(|normal| square(normal.parameters(), normal.hessian)).collect();
        let unknown = |name: &Name| {
            let target = scene.target(name).map_err(|problem| crate::Error::argument("unknowns", problem))?;
            let range = scene.range(target).map_or(0.0, |range| match target.quantity.is_positive() {
                true => (range.max / range.min).ln(),
                false => range.max - range.min,
            });
            Ok(((name.clone(), target), range))
        };
        let unknowns = options.unknowns.iter().map(unknown).collect::<Result<Vec<_>>>()?;
        let (unknowns, ranges) = unknowns.into_iter().unzip();
        Ok(Self { parametrisation, values, unknowns, ranges, parts })
    }

    /// Covariance of the coordinates by these films and tracks, by their places.
    fn covariance(&self, parts: &[usize]) -> Option<Vec<f64>> {
        let n = self.parametrisation.kinds().len();
        let sum = parts.iter().fold(DMatrix::zeros(n, n), |sum, &part| sum + &self.parts[part] / (NOISE * NOISE));
        posterior(&self.parametrisation, sum)
    }

    /// How well these films and tracks, by their places, would tell each unknown; none where they show nothing finite.
    pub(crate) fn told(&self, films: &[usize]) -> Option<Vec<Told>> {
        let covariance = self.covariance(films)?;
        let one = |((name, target), range): (&(Name, Target), &f64)| {
            let half = SIGMAS * self.parametrisation.deviation(&self.values, &covariance, *target);
            let relative = target.quantity.is_positive();
            Told { name: name.clone(), half, relative, tells: 2.0 * half < TELLS * range }
        };
        Some(self.unknowns.iter().zip(&self.ranges).map(one).collect())
    }

    /// Pairs of which these films would tell the one times a power of the other much better than each.
    pub(crate) fn together(&self, films: &[usize]) -> Vec<Together> {
        let of = |covariance: Vec<f64>| together(&self.parametrisation, &self.values, &covariance, &self.unknowns);
        self.covariance(films).map(of).unwrap_or_default()
    }
}

/// Covariance of the coordinates by their information; a range counts as what is known beforehand, with its standard deviation.
pub(super) fn posterior(parametrisation: &Parametrisation, mut information: DMatrix<f64>) -> Option<Vec<f64>> {
    let bounds = parametrisation.bounds(true);
    for (k, (low, high)) in bounds.low.iter().zip(&bounds.high).enumerate() {
        information[(k, k)] += 12.0 / (high - low).powi(2).max(f64::MIN_POSITIVE);
    }
    Some(information.cholesky()?.inverse().as_slice().to_vec())
}

/// Pairs of unknowns of which the one times a power of the other is told much better than each.
pub(super) fn together(
    parametrisation: &Parametrisation,
    values: &Physics,
    covariance: &[f64],
    unknowns: &[(Name, Target)],
) -> Vec<Together> {
    let deviation = |sum: &[(Target, f64)]| SIGMAS * parametrisation.combined(values, covariance, sum);
    let positive: Vec<&(Name, Target)> = unknowns.iter().filter(|(_, target)| target.quantity.is_positive()).collect();
    let mut found = Vec::new();
    for (k, (first, a)) in positive.iter().enumerate() {
        for (second, b) in &positive[k + 1..] {
            let each = deviation(&[(*a, 1.0)]).min(deviation(&[(*b, 1.0)]));
            let of = |power: f64| (power, deviation(&[(*a, 1.0), (*b, power)]));
            let best = POWERS.map(of).into_iter().min_by(|x, y| x.1.total_cmp(&y.1));
            if let Some((power, half)) = best.filter(|(_, half)| *half < BETTER * each) {
                found.push(Together { names: [first.clone(), second.clone()], power, half });
            }
        }
    }
    found
}

impl fmt::Display for Together {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { names: [a, b], power, half } = self;
        match *power {
            1.0 => write!(f, "{a} times {b}")?,
            -1.0 => write!(f, "{a} over {b}")?,
            power => write!(f, "{a} times {b} to the power {power}")?,
        }
        write!(f, " to {:.2} %", 100.0 * half)
    }
}
