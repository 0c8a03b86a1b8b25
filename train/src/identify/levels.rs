//! How a search looks at the videos, from the easiest to what counts.

use super::frames::frames_in_use;
use super::misfit::LevelOptions;
use crate::job::Simulator;
use crate::program::shots;
use crate::scene::Scene;

/// Levels of the two stages.
pub(super) const COARSE: [LevelOptions; 2] =
    [LevelOptions { blur: 4.0, frames: 1.0 }, LevelOptions { blur: 2.0, frames: 1.0 }];
pub(super) const FINE: [LevelOptions; 3] = [
    LevelOptions { blur: 2.0, frames: 0.6 },
    LevelOptions { blur: 1.0, frames: 0.8 },
    LevelOptions { blur: 0.0, frames: 1.0 },
];

/// How what an answer is judged by is looked at.
pub(super) const JUDGED: LevelOptions = LevelOptions { blur: 2.0, frames: 1.0 };

/// Levels of the final stage: all but the first are left to the refinement, if there is one.
pub(super) fn fine_levels(refined: bool) -> &'static [LevelOptions] {
    if refined { &FINE[..1] } else { &FINE }
}

/// Residuals and blocks of each level of both stages.
pub(super) fn sizes(scene: &Scene, simulator: Simulator, refined: bool) -> [Vec<[usize; 2]>; 2] {
    let frames = frames_in_use(scene, simulator);
    let of = |options: &LevelOptions| {
        let seen = options.seen(frames);
        let shots = shots(scene, seen);
        [shots.iter().map(|shot| shot.size(scene).0).sum(), shots.len()]
    };
    [COARSE.iter().map(of).collect(), fine_levels(refined).iter().map(of).collect()]
}
