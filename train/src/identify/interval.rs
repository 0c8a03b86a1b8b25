//! How sure an answer is.
//!
//! Four things make it unsure, each with a covariance of the search's coordinates: noise of the pixels; what the model lacks, seen in how far parts of the
//! video contradict each other; what the search left; and what the grid leaves. `docs/answers.md` has the statistics.

use super::adequacy::TWO_GRIDS;
use super::problem::{ByFrame, VideoProblem};
use crate::search::{Priors, Problem as _};
use diffkern::Float;
use diffkern_optim::Result;
use diffkern_optim::dense::{Bounds, LevenbergMarquardt, NormalEquations};

/// Standard deviations to either side that hold 95 %.
pub(crate) const SIGMAS: f64 = 1.96;
/// An interval that covers more than this part of the range (of logarithms) tells nothing.
pub(crate) const TELLS: f64 = 0.5;
/// Parts that a video is cut into, one of which is left out at a time.
const PARTS: usize = 8;
/// The same quantile of Student's t with 1, 2, .. degrees of freedom.
const STUDENT: [f64; PARTS - 1] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365];
/// Standard deviations that a grid convergence index is (ASME V&V 20).
const INDEX_SIGMAS: f64 = 2.0;
/// Correlation of what a model lacks between any two parts: some of it is the same in all, which leaving parts out does not show. Chosen on `jelly_drop_a`, `jelly_drop_e` and `jelly_fric_g`.
const SHARED: f64 = 0.2;

/// Least part of what shows most that a coordinate shows of itself over its `doubt`, squared: of less, differences in single precision are rounding errors.
const SHOWS: f64 = 1e-8;

/// Whether differences over the `doubt` of each coordinate tell of all of them but those of which something is `known` beforehand.
pub(super) fn all_show(normal: &NormalEquations, doubt: &[f64], known: &[bool]) -> bool {
    let n = normal.parameters();
    let shown: Vec<f64> = (0..n).map(|k| normal.hessian[k * n + k] * doubt[k] * doubt[k]).collect();
    let most = shown.iter().copied().fold(0.0, f64::max);
    shown.iter().zip(known).all(|(own, known)| *known || *own > SHOWS * most)
}

/// How unsure the coordinates of an answer are.
pub(super) struct Covariances {
    /// By the noise of the pixels, were all else exact.
    pub(super) noise: Vec<f64>,
    /// By all that makes them unsure.
    pub(super) all: Vec<f64>,
}

/// The covariances of the first `free` coordinates at `at`, such that [`SIGMAS`] standard deviations hold 95 %; none where the residuals do not fix them.
pub(super) fn covariance<F: Float>(
    problem: &VideoProblem<'_, F>,
    (normal, ByFrame { frames, coarser, .. }): (&NormalEquations, &ByFrame),
    (at, free): (&[f64], usize),
) -> Result<Option<Covariances>> {
    let mut sums = NormalEquations::new(normal.parameters());
    // Frames that were not fitted are no witnesses.
    frames.iter().filter(|frame| frame.cost > 0.0).try_for_each(|frame| sums.append(frame))?;
    let sums = if frames.is_empty() { normal } else { &sums };
    let whole = Priors::known(problem.parametrisation(), sums).added(sums, at)?.first(free)?;
    let Some(noise) = whole.covariance() else { return Ok(None) };
    let mut covariance = noise.clone();
    let parts = parts(&whole, &frames.iter().map(|frame| frame.first(free)).collect::<Result<Vec<_>>>()?)?;
    if let Some(scatter) = whole.jackknife(&parts)? {
        let count = parts.len() as f64;
        let student = (STUDENT[(parts.len() - 2).min(STUDENT.len() - 1)] / SIGMAS).powi(2);
        let wider = student * (1.0 + (count - 1.0) * SHARED) / (1.0 - SHARED);
        let size = |m: &[f64]| (0..free).map(|k| m[k * free + k] * whole.hessian[k * free + k]).sum::<f64>();
        let scatter: Vec<f64> = scatter.iter().map(|x| wider * x).collect();
        if size(&scatter) > size(&covariance) {
            covariance = scatter;
        }
    }
    let ended = Priors::known(problem.parametrisation(), normal).added(normal, at)?.first(free)?;
    covariance = with(covariance, &left_by_search(&ended, problem.parametrisation().bounds(true), &at[..free])?);
    if let Some(coarser) = coarser {
        covariance = with(covariance, &left_by_grid(&whole, (sums, coarser), problem.ratio())?);
    }
    Ok(Some(Covariances { noise, all: covariance }))
}

/// A covariance with a change of all coordinates together, one standard deviation of it.
pub(super) fn with(mut covariance: Vec<f64>, change: &[f64]) -> Vec<f64> {
    let n = covariance.len().isqrt();
    if change.len() >= n {
        covariance.iter_mut().enumerate().for_each(|(k, c)| *c += change[k / n] * change[k % n]);
    }
    covariance
}

/// Frames, one after the other, as parts that tell as much each.
fn parts(whole: &NormalEquations, frames: &[NormalEquations]) -> Result<Vec<NormalEquations>> {
    let n = whole.parameters();
    let told = |frame: &NormalEquations| {
        (0..n).map(|k| frame.hessian[k * n + k] / whole.hessian[k * n + k].max(f64::MIN_POSITIVE)).sum::<f64>()
    };
    let all: f64 = frames.iter().map(told).sum();
    let (mut before, mut parts) = (0.0, Vec::<(usize, NormalEquations)>::new());
    for frame in frames {
        let own = told(frame);
        let part = (PARTS as f64 * (before + 0.5 * own) / all) as usize;
        before += own;
        match parts.last_mut().filter(|(last, _)| *last == part) {
            Some((_, sums)) => sums.append(frame)?,
            None => parts.push((part, frame.clone())),
        }
    }
    Ok(parts.into_iter().map(|(_, sums)| sums).collect())
}

/// What the search left of each coordinate: the step of Gauss and Newton, within the ranges, from where it `ended` but for a step too small
/// to be evaluated, which this one is then.
fn left_by_search(ended: &NormalEquations, mut bounds: Bounds, at: &[f64]) -> Result<Vec<f64>> {
    for column in [&mut bounds.low, &mut bounds.high, &mut bounds.trust] {
        column.truncate(at.len());
    }
    let step = LevenbergMarquardt { damping: 0.0, refused: 0 }.propose(ended, &bounds, at)?;
    Ok(step.map(|step| step.change).unwrap_or_default())
}

/// A standard deviation of what the grid of the answer is thought to leave of each coordinate: by how far the answer moves to that of a grid whose spacing is `ratio` times as wide, as
/// the error goes with the square of the spacing (Richardson 1911), with the factor of safety of two grids. Both grids show what they show at the same place; `whole` is what fixes the answer there.
fn left_by_grid(
    whole: &NormalEquations,
    (fine, coarse): (&NormalEquations, &NormalEquations),
    ratio: f64,
) -> Result<Vec<f64>> {
    let free = whole.parameters();
    let (fine, coarse) = (fine.first(free)?, coarse.first(free)?);
    let gradient = coarse.gradient.iter().zip(&fine.gradient).map(|(coarse, fine)| coarse - fine).collect();
    let apart = NormalEquations { gradient, ..whole.clone() }.minimum().unwrap_or_default();
    Ok(apart.iter().map(|apart| TWO_GRIDS / INDEX_SIGMAS * apart / (ratio * ratio - 1.0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A coordinate that no number depends on shows nowhere; that is no matter where something is known of it.
    #[test]
    fn what_is_known_beforehand_need_not_show() -> Result<()> {
        let mut normal = NormalEquations::new(2);
        normal.add(&[0.1, 0.2], &[vec![1.0, 2.0], vec![0.0; 2]])?;
        let all = |known: [bool; 2]| all_show(&normal, &[0.05; 2], &known);
        assert!(!all([false; 2]) && !all([true, false]) && all([false, true]));
        Ok(())
    }

    /// Residuals of a line whose slope a wider grid shows a tenth too high.
    #[test]
    fn a_grid_leaves_a_part_of_what_a_wider_one_is_off() -> Result<()> {
        let of = |slope: f64| -> Result<NormalEquations> {
            let mut normal = NormalEquations::new(2);
            let x = [0.3, 0.9, 1.7];
            normal.add(&x.map(|x| (slope - 1.0) * x + 0.2), &[x.to_vec(), vec![1.0; 3]])?;
            Ok(normal)
        };
        let (fine, coarse) = (of(1.0)?, of(1.1)?);
        let left = left_by_grid(&fine, (&fine, &coarse), 1.6)?;
        assert!((left[0] + 1.5 * 0.1 / (1.6 * 1.6 - 1.0)).abs() < 1e-12 && left[1].abs() < 1e-12, "{left:?}");
        Ok(())
    }

    /// Of two coordinates that the residuals fix, one of which cannot go as far as they ask.
    #[test]
    fn a_search_leaves_the_way_to_the_minimum_within_the_ranges() -> Result<()> {
        let mut normal = NormalEquations::new(2);
        normal.add(&[0.3, -0.2], &[vec![2.0, 0.0], vec![1.0, 0.5]])?;
        let unit = || Bounds { low: vec![-1.0; 2], high: vec![1.0; 2], trust: vec![1.0; 2] };
        let free = left_by_search(&normal, unit(), &[0.1, -0.2])?;
        assert!((free[0] + 0.35).abs() < 1e-12 && (free[1] - 0.4).abs() < 1e-12, "{free:?}");
        // The second goes to the end of its range; the first is what is best there.
        let held = left_by_search(&normal, unit(), &[0.1, 0.8])?;
        assert!((held[0] + 0.25).abs() < 1e-12 && (held[1] - 0.2).abs() < 1e-12, "{held:?}");
        Ok(())
    }

    /// Frames of which some tell nothing and one tells a third of all.
    #[test]
    fn parts_tell_as_much_each() -> Result<()> {
        let told = [0.0, 0.0, 1.0, 2.0, 1.0, 9.0, 1.0, 1.0, 2.0, 3.0, 1.0, 1.0, 2.0, 0.0, 1.0, 2.0];
        let mut whole = NormalEquations::new(1);
        let mut frames = Vec::new();
        for (k, told) in told.into_iter().enumerate() {
            let mut frame = NormalEquations::new(1);
            frame.add(&[0.1 * k as f64], &[vec![f64::sqrt(told)]])?;
            whole.append(&frame)?;
            frames.push(frame);
        }
        let parts = parts(&whole, &frames)?;
        let share: Vec<f64> = parts.iter().map(|part| part.hessian[0] / whole.hessian[0]).collect();
        assert!(parts.len() > 4 && parts.len() <= PARTS, "{share:?}");
        assert!((share.iter().sum::<f64>() - 1.0).abs() < 1e-12 && share.iter().all(|s| *s < 0.45), "{share:?}");
        assert_eq!(parts.iter().map(|part| part.blocks).sum::<usize>(), frames.len());
        Ok(())
    }
}
