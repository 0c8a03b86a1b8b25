//! Bodies that begin elsewhere than their scene says.
//!
//! They are cut into cells or particles where the scene has them, and moved whole: how a body is cut does not change with its place. Cells
//! of finite elements move with it; particles move over the grid.

use super::super::inputs::{placed, placed_poses};
use crate::scene::Scene;
use diffkern::prelude::*;
use diffkern_sim::collision::Pose;

/// Where the scene has the bodies of a take \[m\].
pub(super) struct Origin<F: Float> {
    /// None where a clamp holds the body in its place.
    from: Option<Array<F>>,
}

impl<F: Float> Origin<F> {
    pub(super) fn of(scene: &Scene, take: usize, device: &Device) -> diffkern::Result<Self> {
        if scene.clamp.is_some() {
            return Ok(Self { from: None });
        }
        let from = scene.bodies.iter().flat_map(|body| body.starts[take].position()).map(F::from_f64);
        Ok(Self { from: Some(device.array(&from.collect::<Vec<_>>())?) })
    }

    /// Points of the bodies when these are at `place`.
    pub(super) fn moved(
        &self,
        x: &Array<Vec3<F>>,
        body_of: &Array<u32>,
        place: &Array<F>,
    ) -> diffkern::Result<Array<Vec3<F>>> {
        let Some(from) = &self.from else { return Ok(x.clone()) };
        let out = x.device().uninit(x.len())?;
        placed(x.len(), x, body_of, from, place, &out)?;
        Ok(out)
    }

    /// Poses of rigid bodies when these are at `place`.
    pub(super) fn moved_poses(&self, poses: &Array<Pose<F>>, place: &Array<F>) -> diffkern::Result<Array<Pose<F>>> {
        let Some(from) = &self.from else { return Ok(poses.clone()) };
        let out = poses.device().uninit(poses.len())?;
        placed_poses(poses.len(), poses, from, place, &out)?;
        Ok(out)
    }
}
