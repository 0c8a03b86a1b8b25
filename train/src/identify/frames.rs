//! Which frames of a video are used, and how much each of them counts.

use super::misfit::Apart;
use crate::job::Simulator;
use crate::scene::Scene;

/// Part of a video in which the weight of its frames halves.
const HALVES: f64 = 0.4;
/// By so much the outlines of a frame may be off where two grids agree, as a part of the size of what is seen (the root of its mean area): as much as in the first frames after a contact in videos by
/// other programs.
const BESIDE_GRID: f64 = 0.005;
/// Frames some time after the first in which outlines are off by more than this part of the same size are not fitted: what they show beside the video is not in proportion to its cause.
pub(super) const FITTED: f64 = 0.03;
/// How many are all the same: so many, and as many as this part of those before.
const MORE: (usize, f64) = (2, 0.33);
/// Frames that show less of outlines than this part of the one that shows most say nothing of how far they are apart.
pub(super) const SHOWS: f64 = 0.1;

/// By finite elements and where no video counts all frames, else the first half of the video, but no fewer than eight frames if it has
/// them.
pub(super) fn frames_in_use(scene: &Scene, simulator: Simulator) -> usize {
    let all = scene.num_frames;
    match simulator == Simulator::Mpm && has_videos(scene) {
        true => all.div_ceil(2).max(8).min(all),
        false => all,
    }
}

/// How much each of them counts: small errors of what moves the bodies, and of what the scene says of it, add up.
pub(super) fn weights(scene: &Scene, simulator: Simulator) -> Vec<f64> {
    let frames = frames_in_use(scene, simulator);
    let fades = simulator == Simulator::Fem && has_videos(scene);
    let part = |frame: usize| frame as f64 / (frames.max(2) - 1) as f64;
    (0..frames).map(|frame| if fades { 0.5f64.powf(part(frame) / HALVES) } else { 1.0 }).collect()
}

/// How much each frame counts whose outlines are `off` by so much, and by part of what two grids are `apart`, if both were run: one over the square of all that, and never more than a frame before, since errors
/// add up; nothing after those that can be fitted. Weights are 1 in the mean; none where no silhouette shows.
pub(super) fn weights_by_errors(off: &[Apart], apart: Option<(&[Apart], f64)>) -> Option<Vec<f64>> {
    let areas = || off.iter().flat_map(|off| &off.areas);
    let area = areas().sum::<f64>() / areas().count() as f64;
    let (off, shows) = so_far(off);
    let near = off.iter().take_while(|off| **off <= FITTED * FITTED * area).count();
    let fitted = near + MORE.0 + (MORE.1 * near as f64) as usize;
    let left = apart.map(|(apart, part)| (so_far(apart).0, part * part));
    let of_grid = |frame: usize| left.as_ref().map_or(0.0, |(apart, part)| part * apart[frame]);
    let weight = |frame: usize| match frame < fitted {
        true => 1.0 / (BESIDE_GRID * BESIDE_GRID * area + off[frame] + of_grid(frame)),
        false => 0.0,
    };
    let weights: Vec<f64> = (0..off.len()).map(weight).collect();
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    (shows && mean.is_finite()).then(|| weights.iter().map(|weight| weight / mean).collect())
}

/// The most that outlines were off by up to each frame \[pixels squared\], and whether any show.
fn so_far(all: &[Apart]) -> (Vec<f64>, bool) {
    let shown = all.iter().fold(0.0, |most: f64, apart| most.max(apart.pixel));
    let mut most: f64 = 0.0;
    let next = |apart: &Apart| {
        most = if apart.pixel > SHOWS * shown { most.max(apart.square / apart.pixel) } else { most };
        most
    };
    (all.iter().map(next).collect(), shown > 0.0)
}

/// How many frames count by these weights: those after them do not.
pub(super) fn fitted(weights: &[f64]) -> usize {
    weights.iter().rposition(|weight| *weight > 0.0).map_or(0, |last| last + 1)
}

/// What of the difference between two grids is left on the finer one, whose cells are `ratio` times as small, by second order.
pub(super) fn left_by(ratio: f64) -> f64 {
    1.0 / (ratio * ratio - 1.0)
}

/// Whether frames count as far as they can be fitted: by finite elements, where silhouettes are compared.
pub(super) fn is_robust(scene: &Scene, simulator: Simulator) -> bool {
    simulator == Simulator::Fem && scene.films.iter().any(|film| film.weights[0] > 0.0)
}

fn has_videos(scene: &Scene) -> bool {
    scene.films.iter().any(|film| film.weights != [0.0; 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_count_by_what_they_may_be_off() {
        let of = |pixels: f64, pixel: f64| Apart { square: pixels * pixels * pixel, pixel, areas: vec![1600.0] };
        // Outlines are off by no pixel, by 0.6, by 0.3, by much of a sliver, not there at all, by 1.2.
        let nothing = Apart { square: 3.0, pixel: 0.0, areas: vec![1600.0] };
        let apart = [of(0.0, 5.0), of(0.6, 4.0), of(0.3, 3.0), of(25.0, 0.4), nothing, of(1.2, 2.0)];
        // Only the last frame is off what was observed.
        let off = [0.0, 0.0, 0.0, 0.0, 0.0, 0.3].map(|pixels| of(pixels, 5.0));
        let weights = weights_by_errors(&off, Some((&apart, left_by(2.0)))).unwrap_or_default();
        // A third of it is of the finer grid, beside a two-hundredth of 40 pixels.
        let expected = [0.0, 0.04, 0.04, 0.04, 0.04, 0.16 + 0.09].map(|off: f64| 1.0 / (0.04 + off));
        let mean = expected.iter().sum::<f64>() / 6.0;
        assert_eq!(weights.len(), 6);
        for (weight, expected) in weights.iter().zip(expected) {
            assert!((weight - expected / mean).abs() < 1e-12, "{weights:?}");
        }
        // Of 40 pixels 1.2 can be fitted: the frame with 1.3 and the next are the last that count, no more than it.
        let off = [0.0, 0.5, 1.3, 0.2, 0.2, 0.2].map(|pixels| of(pixels, 5.0));
        let weights = weights_by_errors(&off, None).unwrap_or_default();
        let expected = [0.0, 0.25, 1.69, 1.69].map(|off: f64| 1.0 / (0.04 + off));
        for (weight, expected) in weights.iter().zip(expected) {
            assert!((weight / weights[0] - expected / 25.0).abs() < 1e-12, "{weights:?}");
        }
        assert_eq!(weights[4..], [0.0, 0.0]);
        assert_eq!((fitted(&weights), fitted(&[0.0])), (4, 0));
        // Six, two more, and a third of six, rounded down.
        let many: Vec<Apart> = (0..12).map(|frame| of(if frame < 6 { 0.1 } else { 1.3 }, 5.0)).collect();
        let weights = weights_by_errors(&many, None).unwrap_or_default();
        assert_eq!(weights.iter().filter(|weight| **weight > 0.0).count(), 9);
        assert_eq!(weights_by_errors(&[Apart::default(), Apart::default()], None), None);
        assert_eq!(weights_by_errors(&off, Some((&apart, left_by(1.0)))), None);
    }
}
