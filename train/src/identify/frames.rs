//! Which frames of a video are used, and how much each of them counts.

use crate::job::Simulator;
use crate::scene::Scene;

/// Part of a video in which the weight of its frames halves.
const HALVES: f64 = 0.4;

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

fn has_videos(scene: &Scene) -> bool {
    scene.films.iter().any(|film| film.weights != [0.0; 3])
}
