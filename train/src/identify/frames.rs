//! Which frames of a video are used, and how much each of them counts.

use super::misfit::Apart;
use crate::job::Simulator;
use crate::scene::Scene;

/// Part of a video in which the weight of its frames halves.
const HALVES: f64 = 0.4;
/// By so much the outlines of a frame may be off where two grids agree, as a part of the size of what is seen (the root of its mean area): as much as in the first frames after a contact in videos by
/// other programs.
const BESIDE_GRID: f64 = 0.005;
/// Frames that show less of outlines than this part of the one that shows most say nothing of how far they are apart.
const SHOWS: f64 = 0.1;

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

/// How much each frame counts where the next wider grid was run too, its spacing `ratio` times as wide: one over the square of what outlines may be off by, as the grid may
/// make it by second order, and never less than in a frame before, since errors add up. Weights are 1 in the mean; none where no silhouette shows.
pub(super) fn weights_by_grids(apart: &[Apart], ratio: f64) -> Option<Vec<f64>> {
    let areas = || apart.iter().flat_map(|apart| &apart.areas);
    let area = areas().sum::<f64>() / areas().count() as f64;
    let shown = apart.iter().fold(0.0, |most: f64, apart| most.max(apart.pixel));
    let mut most: f64 = 0.0;
    let weight = |apart: &Apart| {
        most = if apart.pixel > SHOWS * shown { most.max(apart.square / apart.pixel) } else { most };
        1.0 / (BESIDE_GRID * BESIDE_GRID * area + most / (ratio * ratio - 1.0).powi(2))
    };
    let weights: Vec<f64> = apart.iter().map(weight).collect();
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    (shown > 0.0 && mean.is_finite()).then(|| weights.iter().map(|weight| weight / mean).collect())
}

fn has_videos(scene: &Scene) -> bool {
    scene.films.iter().any(|film| film.weights != [0.0; 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_count_by_what_the_grid_may_make_of_them() {
        let of = |pixels: f64, pixel: f64| Apart { square: pixels * pixels * pixel, pixel, areas: vec![1600.0] };
        // Outlines are off by no pixel, by 0.6, by 0.3, by much of a sliver, not there at all, by 1.2.
        let nothing = Apart { square: 3.0, pixel: 0.0, areas: vec![1600.0] };
        let apart = [of(0.0, 5.0), of(0.6, 4.0), of(0.3, 3.0), of(25.0, 0.4), nothing, of(1.2, 2.0)];
        let weights = weights_by_grids(&apart, 2.0).unwrap_or_default();
        // A third of it is of the finer grid, beside a two-hundredth of 40 pixels.
        let expected = [0.0, 0.2, 0.2, 0.2, 0.2, 0.4].map(|off: f64| 1.0 / (0.04 + off * off));
        let mean = expected.iter().sum::<f64>() / 6.0;
        assert_eq!(weights.len(), 6);
        for (weight, expected) in weights.iter().zip(expected) {
            assert!((weight - expected / mean).abs() < 1e-12, "{weights:?}");
        }
        assert_eq!(weights_by_grids(&[Apart::default(), Apart::default()], 2.0), None);
        assert_eq!(weights_by_grids(&apart, 1.0), None);
    }
}
