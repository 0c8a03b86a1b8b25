//! What the films and tracks of a scene would tell of its unknowns, before they are made.

use super::cost::{Cost, Task};
use super::differences::differences;
use super::frames::weights;
use super::interval::{SIGMAS, TELLS};
use super::levels::JUDGED;
use super::misfit::Misfit;
use super::{device, resolution};
use crate::error::{Error, Result};
use crate::job::IdentifyOptions;
use crate::program::{
    Coverage, FINER, Failure, GridOptions, Linear, Outcome, Physics, Program, Seen, Shot, viscous_room,
};
use crate::scene::{Name, Scene, Target};
use crate::search::{Parametrisation, Tick};
use crate::video::Video;
use diffkern_optim::dense::NormalEquations;
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
    /// Of each film, then of each track, the information on the coordinates.
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

/// Parts of a film in each of which what a grid leaves hangs together.
const PARTS: usize = 8;
/// Part of what is known beforehand that keeps a film of which nothing shows from being divided by.
const LITTLE: f64 = 1e-6;

/// Cells across the thinnest side: of the grid that unknowns are seen on, and of the finer one that it is compared with. Where an answer is refined these are the grid of its search and its
/// own, whose difference is about what the grid leaves in the answer; else the coarse and the final grid of a search.
pub(super) fn grids(scene: &Scene, options: &IdentifyOptions) -> [usize; 2] {
    let resolution = resolution(scene, None, options.simulator, true);
    let [cells, finer] = match (options.cells, resolution.refined) {
        (Some(cells), _) => [cells, (cells as f64 * FINER).round() as usize],
        (None, Some(refined)) => [resolution.fine, refined],
        (None, None) => [resolution.coarse, resolution.fine],
    };
    [cells, finer.max(cells + 1)]
}

/// Runs on the first of them for so many coordinates: one that is seen, and one to both sides of each.
pub(super) fn runs(coordinates: usize) -> usize {
    1 + 2 * coordinates
}

impl Information {
    /// At the values that `options` start from. Derivatives are differences over as much as an answer may well be off. Films on a finer grid say by how much an answer is off for
    /// the grid.
    ///
    /// # Errors
    /// When the simulation refuses the scene, or cannot get to its end.
    pub(crate) fn of(scene: &Scene, options: &IdentifyOptions, tick: &mut Tick<'_>) -> Outcome<Self> {
        let device = device(&options.device)?;
        let simulator = options.simulator;
        let [cells, finer] = grids(scene, options);
        let room = viscous_room(scene, &options.fixed, cells);
        let nodes = Cost::of(scene, Task::Plan(options), false, &device)?.node_limit(&options.limits);
        let grid = |cells| GridOptions { simulator, cells, room, fixed_steps: true, nodes };
        let program = Program::<f32>::new(scene, &options.fixed, grid(cells), &device)?;
        let filmed = Program::<f32>::new(scene, &options.fixed, grid(finer), &device)?;
        let parametrisation = Parametrisation::new(scene, options, room)?;
        let at = parametrisation.at(&parametrisation.initial(options));
        let values = parametrisation.values(&at);
        let weights = weights(scene, simulator);
        let frames = weights.len();
        let steps = parametrisation.doubt();
        // In runs on the first grid.
        let longer = (finer as f64 / cells as f64).powi(4);
        let (runs, mut done) = (longer + runs(steps.len()) as f64, 0);
        let shown = filmed.shown(&values, |part| tick(longer * part / runs), &mut None)?;
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
                tick((longer + (done - 1) as f64 + (frame - 1) as f64 / all) / runs)
            };
            program.coverage(&parametrisation.values(at), frames, &mut next)
        };
        let coverage = pictures(&at)?;
        let derivatives = differences(&parametrisation, &at, &steps, &mut pictures)?;
        let misfit = Misfit::new(scene, &videos, &weights, &[JUDGED])?;
        let films = scene.films.len();
        let seen = |shot: Shot| match shot.seen {
            Seen::Silhouette(film) | Seen::Depth(film) | Seen::Colour(film, _) => film,
            Seen::Track(track) => films + track,
        };
        let part = |shot: Shot| PARTS * seen(shot) + PARTS * shot.frame / frames.max(1);
        let count = PARTS * (films + scene.tracks.len());
        let normals = misfit.by(scene, frames, (count, &part), &Linear { coverage, derivatives })?;
        let least = LITTLE * known(&parametrisation);
        let of = |(k, normals): (usize, &[NormalEquations])| match k < films {
            true => told_by(normals, &least),
            // Of tracks nothing is filmed.
            false => Some(shown_by(normals)),
        };
        let parts = normals.chunks(PARTS).enumerate().map(of).collect::<Option<Vec<_>>>();
        let parts = parts.ok_or_else(|| Failure::Fatal(Error::Compute("what a film tells is not finite".into())))?;
        let unknown = |name: &Name| {
            let target = scene.target(name).map_err(|problem| Error::argument("unknowns", problem))?;
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
        let sum = parts.iter().fold(DMatrix::zeros(n, n), |sum, &part| sum + &self.parts[part]);
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

/// What parts of a film show: `J^T J` over the variance of a difference.
fn shown_by(parts: &[NormalEquations]) -> DMatrix<f64> {
    let n = parts.first().map_or(0, NormalEquations::parameters);
    let all =
        parts.iter().fold(DMatrix::zeros(n, n), |sum, part| sum + DMatrix::from_column_slice(n, n, &part.hessian));
    all / (NOISE * NOISE)
}

/// What parts of a film tell, `H (H + S)^-1 H` with `H` what they show: the inverse of the covariance `H^-1 + H^-1 S H^-1` of answers that the grid moves too. `S` sums
/// `g g^T` over the parts, `g = J^T d` of the differences `d` between the grids: `H^-1 g` is how far the one moves an answer from the other's.
fn told_by(parts: &[NormalEquations], least: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let shown = shown_by(parts);
    let n = shown.nrows();
    let moved = parts.iter().fold(DMatrix::zeros(n, n), |sum, part| {
        let g = DMatrix::from_column_slice(n, 1, &part.gradient) / (NOISE * NOISE);
        sum + &g * g.transpose()
    });
    let spread = (&shown + moved + least).cholesky()?;
    let told = &shown * spread.solve(&shown);
    told.iter().all(|x| x.is_finite()).then_some(told)
}

/// What is known beforehand: the ranges, with their standard deviations.
fn known(parametrisation: &Parametrisation) -> DMatrix<f64> {
    let bounds = parametrisation.bounds(true);
    let one = |(low, high): (&f64, &f64)| 12.0 / (high - low).powi(2).max(f64::MIN_POSITIVE);
    DMatrix::from_diagonal(&bounds.low.iter().zip(&bounds.high).map(one).collect::<Vec<_>>().into())
}

/// Covariance of the coordinates by their information; a range counts as what is known beforehand, with its standard deviation.
pub(super) fn posterior(parametrisation: &Parametrisation, information: DMatrix<f64>) -> Option<Vec<f64>> {
    Some((information + known(parametrisation)).cholesky()?.inverse().as_slice().to_vec())
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

#[cfg(test)]
mod tests {
    use super::*;
    type Tested<T> = std::result::Result<T, Box<dyn std::error::Error>>;

    fn part(derivatives: &[Vec<f64>], difference: &[f64]) -> Tested<NormalEquations> {
        let mut normal = NormalEquations::new(derivatives.len());
        normal.add(difference, derivatives)?;
        Ok(normal)
    }

    fn inverse(m: &DMatrix<f64>) -> Tested<DMatrix<f64>> {
        Ok(m.clone().try_inverse().ok_or("a regular matrix")?)
    }

    #[test]
    fn differences_of_grids_widen_what_a_film_tells() -> Tested<()> {
        let j = [vec![0.3, -0.2, 0.5, 0.1], vec![0.1, 0.4, -0.3, 0.2]];
        let none = DMatrix::zeros(2, 2);
        let parts = |size: f64| -> Tested<Vec<NormalEquations>> {
            Ok(vec![part(&j, &[0.02, 0.01, -0.03, 0.04].map(|d| size * d))?, part(&j, &[-0.01, 0.02, 0.0, 0.01])?])
        };
        // Grids that agree.
        let same = [part(&j, &[0.0; 4])?, part(&j, &[0.0; 4])?];
        assert!((told_by(&same, &none).ok_or("told")? - shown_by(&same)).abs().max() < 1e-9);
        // As the covariance is put together: the answers of both grids are `H^-1 g` apart in each part.
        let parts_1 = parts(1.0)?;
        let shown = shown_by(&parts_1);
        let mut covariance = inverse(&shown)?;
        for part in &parts_1 {
            let g = DMatrix::from_column_slice(2, 1, &part.gradient) / (NOISE * NOISE);
            let moved = inverse(&shown)? * g;
            covariance += &moved * moved.transpose();
        }
        let told = told_by(&parts_1, &none).ok_or("told")?;
        assert!((inverse(&told)? - &covariance).abs().max() < 1e-9 * covariance.abs().max(), "{told} {covariance}");
        // The more they differ the less it tells.
        let less = told_by(&parts(3.0)?, &none).ok_or("told")?;
        assert!(less.determinant() < 0.9 * told.determinant(), "{less} {told}");
        Ok(())
    }

    #[test]
    fn of_what_does_not_show_nothing_is_told() -> Tested<()> {
        let parts = [part(&[vec![0.3, 0.1], vec![0.0, 0.0]], &[0.1, 0.2])?];
        let told = told_by(&parts, &(LITTLE * DMatrix::identity(2, 2))).ok_or("told")?;
        assert!(told[(0, 0)] > 0.0 && told[(1, 1)] == 0.0 && told[(0, 1)] == 0.0, "{told}");
        Ok(())
    }
}
